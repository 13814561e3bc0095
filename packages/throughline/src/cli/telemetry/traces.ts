import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

/**
 * Sends this process’s spans by OTLP over HTTP to where the OTEL_ variables say. Gives what sends all
 * that waits, or undefined beside another SDK.
 */
export function startTraces(resource: Resource): (() => Promise<void>) | undefined {
  const provider = new TracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  if (!trace.setGlobalTracerProvider(provider)) return undefined;
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return () => provider.forceFlush();
}
