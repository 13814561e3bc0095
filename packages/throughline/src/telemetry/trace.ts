import { AsyncLocalStorage } from 'node:async_hooks';
import { context, isSpanContextValid, trace as tracing, type Context } from '@opentelemetry/api';
import { z } from 'zod';

const traceparent = z
  .string()
  .regex(/^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/);
const tracestate = z.string().max(512);

/** W3C Trace Context, by the names of its headers; its trace id is never minted anew. */
export interface Trace {
  readonly traceparent: string;
  readonly tracestate?: string;
}

const storage = new AsyncLocalStorage<Trace | undefined>();

/** Undefined when the header is absent or not a traceparent: then there is nothing to carry on. */
export function traceFrom(headers: { get(name: string): string | null }): Trace | undefined {
  const parent = traceparent.safeParse(headers.get('traceparent'));
  if (!parent.success) return undefined;
  const state = tracestate.safeParse(headers.get('tracestate'));
  return { traceparent: parent.data, ...(state.success ? { tracestate: state.data } : {}) };
}

/** Runs work so that every outgoing call in it carries the trace on. */
export const withTrace = <T>(trace: Trace | undefined, work: () => T): T =>
  storage.run(trace, () => context.with(continued(trace), work));

/** That which came with the call worked on, whatever spans are made here. */
export const carriedTrace = (): Trace | undefined => storage.getStore();

/** Its trace id, in 32 hexadecimal digits. */
export const traceIdOf = (trace: Trace | undefined): string | undefined =>
  trace?.traceparent.split('-')[1];

/** What outgoing calls carry: of the span under way where spans are made, else as it came in. */
export function currentTrace(): Trace | undefined {
  const carried = storage.getStore();
  const span = tracing.getSpanContext(context.active());
  if (span === undefined || !isSpanContextValid(span)) return carried;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  return {
    ...(carried?.traceparent.includes(span.traceId) === true ? carried : {}),
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
  };
}

/** Where spans go on: under the one under way if it is of this trace, else under the caller's. */
function continued(trace: Trace | undefined): Context {
  const active = context.active();
  const [, traceId = '', spanId = '', flags = ''] = trace?.traceparent.split('-') ?? [];
  if (trace === undefined || tracing.getSpanContext(active)?.traceId === traceId) return active;
  const traceFlags = Number.parseInt(flags, 16);
  return tracing.setSpanContext(active, { traceId, spanId, traceFlags, isRemote: true });
}
