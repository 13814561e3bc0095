import { metrics, type Counter, type Histogram, type UpDownCounter } from '@opentelemetry/api';
import { scope } from './scope.ts';

/** Seconds, as the semantic conventions bound them. */
const seconds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

interface Instrument {
  /** A sum, a sum that also falls, or a distribution. */
  readonly kind: 'counter' | 'level' | 'histogram';
  /** UCUM. */
  readonly unit: string;
  readonly description: string;
  readonly buckets?: readonly number[];
}

/** All that is measured. Labels have few values: no ids, no tenants, nothing that a person wrote. */
const instruments = {
  'http.server.active_requests': {
    kind: 'level',
    unit: '{request}',
    description: 'Requests under way, streams and readers of the feed among them',
  },
  'http.server.request.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time until an answer was out',
    buckets: seconds,
  },
  'throughline.admissions': {
    kind: 'counter',
    unit: '{message}',
    description: 'Messages let in, known already or refused',
  },
  'throughline.assertions': {
    kind: 'counter',
    unit: '{assertion}',
    description: 'Assertions recorded durably',
  },
  'throughline.erasures': {
    kind: 'counter',
    unit: '{case}',
    description: 'Cases whose content was destroyed',
  },
  'throughline.handover.tokens': {
    kind: 'counter',
    unit: '{token}',
    description:
      'Tokens of hand-overs by type: sent, full_history, returned; before_compression, after_compression, model_input, model_output as agents say',
  },
  'throughline.push.attempts': {
    kind: 'counter',
    unit: '{attempt}',
    description: 'Push notifications tried: delivered, to be tried again or given up',
  },
  'throughline.quota.refusals': {
    kind: 'counter',
    unit: '{refusal}',
    description: 'Calls refused since a quota was used up',
  },
  'throughline.store.commit.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time of one transaction, its sync included',
    buckets: seconds,
  },
  'throughline.store.commit.writes': {
    kind: 'histogram',
    unit: '{write}',
    description: 'Writes that shared one transaction',
    buckets: sizes,
  },
  'throughline.store.refusals': {
    kind: 'counter',
    unit: '{call}',
    description: 'Calls refused since too many waited already',
  },
  'throughline.store.waiting': {
    kind: 'level',
    unit: '{write}',
    description: 'Writes that wait for the store',
  },
  'throughline.swept': {
    kind: 'counter',
    unit: '{record}',
    description: 'What was ended since its time was over',
  },
  'throughline.tasks.saved': {
    kind: 'counter',
    unit: '{task}',
    description: 'States that tasks were stored in',
  },
  'throughline.tasks.working': {
    kind: 'level',
    unit: '{task}',
    description: 'Tasks at work in this process',
  },
} as const satisfies Readonly<Record<string, Instrument>>;

export type InstrumentName = keyof typeof instruments;
type Labels = Readonly<Record<string, string | number>>;
type Measure = (value: number, labels?: Labels) => void;

const made = new Map<InstrumentName, Measure>();
let madeBy: unknown;

/**
 * Adds to a counter or a level, or records one value of a distribution. Does nothing where the process
 * has no OpenTelemetry SDK.
 */
export function measure(name: InstrumentName, value = 1, labels?: Labels): void {
  const provider = metrics.getMeterProvider();
  // Instruments of before an SDK was set up would stay without effect.
  if (provider !== madeBy) made.clear();
  madeBy = provider;
  const known = made.get(name) ?? make(name);
  known(value, labels);
}

function make(name: InstrumentName): Measure {
  const { kind, buckets, ...options }: Instrument = instruments[name];
  const meter = metrics.getMeter(scope);
  const advice = buckets && { advice: { explicitBucketBoundaries: [...buckets] } };
  const makers = {
    counter: () => adding(meter.createCounter(name, options)),
    level: () => adding(meter.createUpDownCounter(name, options)),
    histogram: () => recording(meter.createHistogram(name, { ...options, ...advice })),
  } as const;
  const instrument = makers[kind]();
  made.set(name, instrument);
  return instrument;
}

const adding = (each: Counter | UpDownCounter): Measure => each.add.bind(each);
const recording = (each: Histogram): Measure => each.record.bind(each);
