import { plainMessage } from '../handover/plain.ts';
import type { AgentContext } from '../model/agent-context.ts';
import type { RunContext } from './context.ts';
import type { Attempt } from './run-state.ts';

/**
 * What handing over the whole history would have been at that moment: the user's query, everything
 * offered with its content, what was asked of and answered by every agent before, and what is asked
 * now. Each thing stands in it once.
 */
export async function fullHistory(run: RunContext, attempt: Attempt): Promise<string> {
  const { state } = run.journal;
  const contents = run.contents.forCounting;
  const before = Object.values(state.subtasks)
    .flatMap(({ attempts }) => attempts)
    .filter(({ task }) => attempt.before.includes(task));
  const offered = state.items.filter(({ producedBy }) => producedBy === undefined);
  const turns: unknown[] = [{ from: 'user', text: state.query }];
  for (const { name, item, ref } of offered) {
    turns.push({
      context: name,
      description: item.Description,
      content: await contents.text(ref),
    });
  }
  for (const { context, returned, outputs } of before) {
    turns.push({ to: context.AgentName, text: instructionsOf(context) });
    turns.push({
      from: context.AgentName,
      items: returned?.KeyInformation,
      evaluation: returned?.EvaluationResult,
    });
    for (const { name, ref } of outputs) {
      turns.push({
        from: context.AgentName,
        output: name,
        content: await contents.text(ref),
      });
    }
  }
  turns.push({ to: attempt.context.AgentName, text: instructionsOf(attempt.context) });
  return turns.map((turn) => JSON.stringify(turn)).join('\n');
}

function instructionsOf(context: AgentContext): string {
  const [first] = plainMessage({ ...context, ContextItems: [] }, []);
  return first?.kind === 'text' ? first.text : '';
}
