import { cpuUsage, memoryUsage, uptime } from 'node:process';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { metrics, type Meter } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { Resource } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { ThroughlineError } from '../../errors.ts';

type Delay = ReturnType<typeof monitorEventLoopDelay>;

/** Label values of one instrument, at most; what is beyond is counted together. */
const mostSeries = 500;
const perSecond = 1e9;

/** Sets up this process’s figures; gives their text as Prometheus reads it, or undefined beside another SDK. */
export function startMetrics(resource: Resource): (() => Promise<string>) | undefined {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const provider = new MeterProvider({
    resource,
    readers: [exporter],
    views: [{ instrumentName: '*', aggregationCardinalityLimit: mostSeries }],
  });
  if (!metrics.setGlobalMeterProvider(provider)) return undefined;
  const delay = watchProcess(provider.getMeter('throughline/process'));
  const serializer = new PrometheusSerializer();
  return async () => {
    const { resourceMetrics, errors } = await exporter.collect();
    // The next look begins anew.
    delay.reset();
    if (errors.length === 0) return serializer.serialize(resourceMetrics);
    throw new ThroughlineError('internal', 'the figures could not be read', { cause: errors[0] });
  };
}

/** The process itself, by the names of the semantic conventions. */
function watchProcess(meter: Meter): Delay {
  const gauge = (name: string, unit: string, description: string, read: () => number): void =>
    meter
      .createObservableGauge(name, { unit, description })
      .addCallback((result) => result.observe(read()));
  gauge('process.memory.usage', 'By', 'Resident memory', () => memoryUsage.rss());
  gauge('v8js.memory.heap.used', 'By', 'Memory of JavaScript in use', () => memoryUsage().heapUsed);
  gauge('process.uptime', 's', 'Time since the start', () => uptime());
  gauge(
    'nodejs.eventloop.utilization',
    '1',
    'Share of the time that was not idle',
    () => performance.eventLoopUtilization().utilization,
  );
  meter
    .createObservableCounter('process.cpu.time', { unit: 's', description: 'Processor time' })
    .addCallback((result) => {
      const { user, system } = cpuUsage();
      result.observe(user / 1e6, { 'cpu.mode': 'user' });
      result.observe(system / 1e6, { 'cpu.mode': 'system' });
    });
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const delays = {
    mean: ({ mean }) => mean,
    p99: (each) => each.percentile(99),
    max: ({ max }) => max,
  } satisfies Record<string, (histogram: Delay) => number>;
  for (const [name, read] of Object.entries(delays)) {
    const description = `Delay of the event loop since the last look, ${name}`;
    gauge(`nodejs.eventloop.delay.${name}`, 's', description, () => {
      const value = read(delay) / perSecond;
      return Number.isFinite(value) ? value : 0;
    });
  }
  return delay;
}
