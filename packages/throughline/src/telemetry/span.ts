import { context, SpanKind, SpanStatusCode, trace, type Span } from '@opentelemetry/api';
import { ThroughlineError } from '../errors.ts';
import { scope } from './scope.ts';

export interface SpanOptions {
  /** Whether it answers a request from outside or makes one. Default: neither. */
  readonly kind?: 'server' | 'client';
  /** Ids of ours, states, numbers; nothing that a person wrote. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** A span under the one under way. Does nothing where the process has no OpenTelemetry SDK. */
export function startSpan(name: string, { kind, attributes = {} }: SpanOptions = {}): Span {
  const spanKind = kind === undefined ? SpanKind.INTERNAL : kinds[kind];
  return trace.getTracer(scope).startSpan(name, { kind: spanKind, attributes: { ...attributes } });
}

/** Runs work under a span. */
export const underSpan = <T>(span: Span, work: () => T): T =>
  context.with(trace.setSpan(context.active(), span), work);

/** Runs work in a span of its own, which ends with it. Of an error only its code is told. */
export async function inSpan<T>(
  name: string,
  work: () => Promise<T>,
  options?: SpanOptions,
): Promise<T> {
  const span = startSpan(name, options);
  try {
    return await underSpan(span, work);
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Adds to the span under way what came out of it: numbers and states, nothing that a person wrote. */
export function note(attributes: NonNullable<SpanOptions['attributes']>): void {
  trace.getActiveSpan()?.setAttributes({ ...attributes });
}

/** An error’s words may be a person’s, so that only its code stands in the span. */
export function markFailed(span: Span, error: unknown): void {
  const name = error instanceof Error ? error.name : 'unknown';
  const code = error instanceof ThroughlineError ? error.code : name;
  span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', code);
}
