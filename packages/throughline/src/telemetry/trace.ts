import { AsyncLocalStorage } from 'node:async_hooks';
import { z } from 'zod';

const traceparent = z
  .string()
  .regex(/^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/);
const tracestate = z.string().max(512);

/** W3C Trace Context as it came in; carried on unchanged, never minted anew. */
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

/** Runs work so that every outgoing call of this binding in it carries the trace on. */
export const withTrace = <T>(trace: Trace | undefined, work: () => T): T =>
  storage.run(trace, work);

export const currentTrace = (): Trace | undefined => storage.getStore();
