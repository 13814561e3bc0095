import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentHandler } from '../../agent/index.ts';
import { withTrace } from '../../bindings/a2a/index.ts';
import type { RunReport } from '../../master/index.ts';
import { Handing, reading } from './conformance.ts';

let world: Handing;
beforeEach(async () => {
  world = await Handing.open();
});
afterEach(async () => {
  await world.close();
  trace.disable();
  context.disable();
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
const plan = reading({
  needs: [],
  criteria: [{ id: 'done', description: 'It is done' }],
  evaluation: 'strict',
});

const stateSchema = z.looseObject({
  subtasks: z.looseObject({
    read: z.looseObject({
      attempts: z.array(
        z.looseObject({
          dropped: z.array(z.string()),
          returned: z.looseObject({
            EvaluationResult: z.looseObject({
              CriterionResults: z.array(z.looseObject({ TraceRefs: z.array(z.string()) })),
            }),
          }),
        }),
      ),
    }),
  }),
});

/** What the Master keeps of the traces that an agent names, in a run with or without a trace. */
async function kept(handler: AgentHandler, isTraced = true, isBehind = true) {
  await world.serve(handler);
  const credential = `Bearer ${await world.keyOf('desk')}`;
  const strangers = world.agents.map(({ id, name, url }) => ({ id, name, url, credential }));
  const agents = isBehind ? world.agents : strangers;
  const work = (): Promise<RunReport> => world.run(plan, [], { agents });
  const { runId, status } = await withTrace(isTraced ? { traceparent } : undefined, work);
  const desk = await world.clientOf('desk');
  const run = await desk.master().loadRun(runId);
  const [attempt] = stateSchema.parse(run?.state).subtasks.read.attempts;
  const [criterion] = attempt?.returned.EvaluationResult.CriterionResults ?? [];
  return { status, traces: criterion?.TraceRefs, dropped: attempt?.dropped };
}

/** Puts out a trace of its own making, and names these. */
const naming =
  (...traces: string[]): AgentHandler =>
  async (_context, io) => {
    await io.output('steps.json', 'application/json', '[]');
    await io.itemDone('one', 'Did it');
    if (traces.length === 0) return {};
    return { criteria: [{ id: 'done', passed: true, evidence: ['steps.json'], traces }] };
  };

describe('TraceRefs of what an agent returned', () => {
  it('name the trace that the Master called under, by themselves', async () => {
    expect(await kept(naming())).toEqual({ status: 'completed', traces: [traceId], dropped: [] });
  });

  it('name none where the Master carried none to it, whatever spans the agent makes', async () => {
    trace.setGlobalTracerProvider(new TracerProvider());
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const own: (string | undefined)[] = [];
    const handler: AgentHandler = (given, io) => {
      own.push(trace.getActiveSpan()?.spanContext().traceId);
      return naming()(given, io);
    };
    expect(await kept(handler, true, false)).toMatchObject({ status: 'completed', traces: [] });
    expect(own).toEqual([expect.stringMatching(/^(?!0{32})[0-9a-f]{32}$/)]);
  });

  it('may name an output that holds one', async () => {
    const { traces } = await kept(naming('steps.json', traceId));
    expect(traces).toEqual(['steps.json', traceId]);
  });

  it('that the Master may not see are left out, and that is on record', async () => {
    const { status, traces, dropped } = await kept(naming(traceId, 'f'.repeat(32)));
    expect(status).toBe('completed');
    expect(traces).toEqual([traceId]);
    expect(dropped).toEqual(['EvaluationResult.CriterionResults[0].TraceRefs[1]']);
  });

  it('of another run count no more than any', async () => {
    const { traces } = await kept(naming(traceId), false);
    expect(traces).toEqual([]);
  });
});
