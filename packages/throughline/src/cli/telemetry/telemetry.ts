import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { ThroughlineError } from '../../errors.ts';
import { packageVersion } from '../package-version.ts';
import { startMetrics } from './metrics.ts';

/** The figures and spans of this process. */
export interface Telemetry {
  /** The figures as Prometheus reads them; absent where the application has an SDK of its own. */
  readonly prometheus: (() => Promise<string>) | undefined;
  /** Sends the spans that wait. Never throws, and waits for a collector 2 seconds at most. */
  readonly flush: () => Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const flushMs = 2_000;
let started: Promise<Telemetry> | undefined;

/**
 * Sets up figures and, where OTEL_EXPORTER_OTLP_ENDPOINT (or …_TRACES_ENDPOINT) names a collector, spans:
 * once for a process, however often it is called, and not where the application has set up an SDK itself
 * or OTEL_SDK_DISABLED is true. `service`: a name unless OTEL_SERVICE_NAME says another. Throws
 * `unsupported` when a collector is named and the packages for it are missing.
 */
export function startTelemetry(
  service: string,
  env: Environment = process.env,
): Promise<Telemetry> {
  started ??= start(service, env);
  return started;
}

/** Whether spans go to a collector from here. */
export const sendsSpans = (env: Environment = process.env): boolean =>
  env['OTEL_SDK_DISABLED'] !== 'true' &&
  env['OTEL_TRACES_EXPORTER'] !== 'none' &&
  [env['OTEL_EXPORTER_OTLP_ENDPOINT'], env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']].some(
    (each) => each !== undefined && each !== '',
  );

async function start(service: string, env: Environment): Promise<Telemetry> {
  const nothing = { prometheus: undefined, flush: () => Promise.resolve() };
  if (env['OTEL_SDK_DISABLED'] === 'true') return nothing;
  const resource = resourceFromAttributes({
    'service.name': env['OTEL_SERVICE_NAME'] ?? service,
    'service.version': packageVersion(),
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
  });
  const flush = sendsSpans(env) ? await startSpans(resource) : undefined;
  return {
    prometheus: startMetrics(resource),
    flush: async () => {
      const late = AbortSignal.timeout(flushMs);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      late.addEventListener('abort', () => resolve(undefined), { once: true });
      await Promise.race([flush?.().catch(() => undefined), promise]);
    },
  };
}

/** Only here, so that whoever sends no spans needs no packages for it. */
async function startSpans(resource: Resource): Promise<(() => Promise<void>) | undefined> {
  let traces;
  try {
    traces = await import('./traces.ts');
  } catch (cause) {
    const names =
      '@opentelemetry/sdk-trace @opentelemetry/exporter-trace-otlp-http @opentelemetry/context-async-hooks';
    throw new ThroughlineError(
      'unsupported',
      `OTEL_EXPORTER_OTLP_ENDPOINT: sending spans needs packages beside this one; run: npm install ${names}`,
      { cause },
    );
  }
  return traces.startTraces(resource);
}
