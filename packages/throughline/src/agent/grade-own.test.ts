import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentContext } from '../model/agent-context.ts';
import { contentAccessKey, type ContentAccess } from '../model/content.ts';
import { returnedBy, World } from './conformance.ts';
import type { AgentHandler, HandlerResult } from './handler.ts';

let world: World;
beforeEach(async () => {
  world = await World.open();
});
afterEach(() => world.close());

/** Quotes these words of what it was given, and leaves its criteria open unless it found something. */
const quoting =
  (quote: string, found?: HandlerResult): AgentHandler =>
  async (context, io) => {
    const [item] = context.ContextItems;
    const citations = [{ contextId: item?.ContextID, quote }];
    await io.output('answer', 'application/json', JSON.stringify({ quote, citations }));
    await io.itemDone('one', quote);
    return found;
  };

async function evaluated(
  handler: AgentHandler,
  grader: unknown,
  faults: unknown[] = [],
): Promise<AgentContext['EvaluationResult'] | undefined> {
  const { url } = await world.serve({
    handler,
    onMessage: () => ({ text: 'hello' }),
    onFault: (error) => faults.push(error),
  });
  const { parts, metadata } = await world.handOver(url, 'The ward opened in 1963.');
  const access = { ...Object(metadata[contentAccessKey]), graders: { read: grader } };
  const task = await world.send(url, parts, { metadata: { [contentAccessKey]: access } });
  return returnedBy(task)?.EvaluationResult;
}

const output = { output: 'answer' };

describe('an agent whose criterion came with its grader', () => {
  it.each([
    ['citations', { by: 'citations', of: output }, 'opened in 1963', 'opened in 1964'],
    ['a pattern', { by: 'pattern', of: { item: 'one' }, pattern: '19\\d\\d' }, '1963', 'long ago'],
    [
      'a schema',
      { by: 'schema', of: output, schema: { properties: { quote: { maxLength: 5 } } } },
      '1963',
      'in 1963',
    ],
  ])(
    'finds by %s what holds and what does not, before it returns',
    async (_, grader, good, bad) => {
      expect(await evaluated(quoting(good), grader)).toMatchObject({
        Status: 'passed',
        CriterionResults: [{ CriterionID: 'read', Status: 'passed' }],
      });
      expect(await evaluated(quoting(bad), grader)).toMatchObject({
        Status: 'failed',
        CriterionResults: [{ CriterionID: 'read', Status: 'failed' }],
        FailureReason: expect.stringMatching(/^criterion read: ./),
      });
    },
  );

  it('shows what the grader looked at as evidence', async () => {
    const result = await evaluated(quoting('1963'), { by: 'citations', of: output });
    expect(result?.CriterionResults[0]?.EvidenceRefs).toEqual(['answer', expect.any(String)]);
  });

  it('goes by what its handler found where that found something', async () => {
    const found = { criteria: [{ id: 'read', passed: true, evidence: ['answer'] }] };
    const grader = { by: 'pattern', of: output, pattern: 'nowhere' };
    expect(await evaluated(quoting('1963', found), grader)).toMatchObject({ Status: 'passed' });
  });

  it.each([
    ['a model', { by: 'model' }],
    ['a function', { by: 'function', name: 'mine' }],
  ])('leaves %s to the Master', async (_, grader) => {
    expect(await evaluated(quoting('1963'), grader)).toMatchObject({ Status: 'passed' });
  });

  it('leaves to the Master what can not be graded here, and tells its operator', async () => {
    const faults: unknown[] = [];
    const grader = { by: 'pattern', of: output, pattern: '(' };
    const result = await evaluated(quoting('1963'), grader, faults);
    expect(result).toMatchObject({ Status: 'passed' });
    expect(faults).toMatchObject([{ code: 'invalid' }]);
  });

  it('refuses graders that are none', async () => {
    const { url } = await world.serve({
      handler: quoting('1963'),
      onMessage: () => ({ text: 'hello' }),
    });
    const { parts, metadata } = await world.handOver(url, 'The ward opened in 1963.');
    const own: ContentAccess = Object(metadata[contentAccessKey]);
    const access = { ...own, graders: { read: { by: 'magic' } } };
    const task = await world.send(url, parts, { metadata: { [contentAccessKey]: access } });
    expect(task.status.state).toBe('TASK_STATE_REJECTED');
  });
});
