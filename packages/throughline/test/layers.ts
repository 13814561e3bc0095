import { posix } from 'node:path';
import { type Import, importsOf, type Source } from './source.ts';

/** From the inside out: a layer may import the rings before its own, and nothing beside or after. */
const rings = [
  ['errors'],
  ['model'],
  ['graph', 'handover', 'telemetry'],
  ['store', 'content', 'transports', 'bindings', 'exports', 'models'],
  ['hub'],
  ['master', 'agent', 'gateway'],
  ['server'],
  ['cli'],
] as const;

const ringed: readonly string[] = rings.flat();

/** Which layers each layer may import besides itself. */
const layers: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...rings.flatMap((ring, at) =>
    ring.map((name) => [name, rings.slice(0, at).flat()] satisfies [string, string[]]),
  ),
  ['client', ['errors', 'model']],
  ['cli', [...ringed.filter((name) => name !== 'cli'), 'client']],
  ['index', [...ringed.filter((name) => name !== 'cli'), 'client']],
]);

/** Layers that run anywhere, with the packages they may use; Node's own modules are out of bounds. */
const portable: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  model: ['zod'],
  graph: [],
  handover: ['@toon-format/toon', 'ajv', 'gpt-tokenizer', 'htmlparser2', 're2js', 'sbd'],
  client: ['zod'],
  index: [],
};

/** Packages that stay in one layer: wire names in bindings, databases in store, arguments in cli. */
const homes: Readonly<Record<string, string>> = {
  '@a2a-js/sdk': 'bindings',
  '@grpc/grpc-js': 'bindings',
  '@modelcontextprotocol/client': 'bindings',
  '@modelcontextprotocol/server': 'bindings',
  '@dbos-inc/dbos-sdk': 'master',
  'better-sqlite3': 'store',
  kysely: 'store',
  pg: 'store',
  aws4fetch: 'content',
  s3mini: 'content',
  systeminformation: 'master',
  '@ai-sdk/openai-compatible': 'models',
  'web-tree-sitter': 'agent',
  ai: 'models',
  commander: 'cli',
  pino: 'cli',
  '@opentelemetry/context-async-hooks': 'cli',
  '@opentelemetry/exporter-prometheus': 'cli',
  '@opentelemetry/exporter-trace-otlp-http': 'cli',
  '@opentelemetry/resources': 'cli',
  '@opentelemetry/sdk-metrics': 'cli',
  '@opentelemetry/sdk-trace': 'cli',
};

/** Layers whose subfolders are drivers of one port and know nothing of each other. */
const layersOfDrivers = ['store', 'content', 'transports', 'bindings', 'exports'];

/** The one place that loads files of other people, which no rule here is about. */
const loadsModules = 'cli/agent-module.ts';

/** Tests and suites for drivers may read files and use test tools, but point inward all the same. */
const isForTests = (path: string): boolean => /(\.test|(^|\/)conformance)\.ts$/.test(path);

const layerOf = (path: string): string => path.split('/')[0]?.replace(/\.ts$/, '') ?? '';
const driverOf = (path: string): string | undefined => path.split('/').slice(1, -1)[0];

/** One sentence for each import in `sources` (paths relative to src) that the table does not allow. */
export function breaches(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const layer = layerOf(source.path);
    if (!layers.has(layer)) return [`${source.path}: “${layer}” is not in the table of layers`];
    return importsOf(source).flatMap((each) => {
      const problem = problemOf(source.path, each);
      return problem === undefined ? [] : [`${each.place}: ${problem}`];
    });
  });
}

function problemOf(path: string, { specifier }: Import): string | undefined {
  if (specifier === undefined) {
    return path === loadsModules
      ? undefined
      : 'a computed import can’t be checked: name the module';
  }
  return specifier.startsWith('.')
    ? problemWithFile(path, posix.join(posix.dirname(path), specifier))
    : problemWithPackage(path, specifier);
}

function problemWithFile(path: string, target: string): string | undefined {
  const [from, to] = [layerOf(path), layerOf(target)];
  if (to === '..') {
    const helps = isForTests(path) && target.startsWith('../test/');
    return helps ? undefined : 'imports a file outside src';
  }
  if (from !== to) {
    return layers.get(from)?.includes(to) ? undefined : `${from} must not import ${to}`;
  }
  const [driver, other] = [driverOf(path), driverOf(target)];
  const isBeside = driver !== undefined && other !== undefined && driver !== other;
  return isBeside && layersOfDrivers.includes(from)
    ? `${from}/${driver} must not import its sibling ${from}/${other}`
    : undefined;
}

function problemWithPackage(path: string, specifier: string): string | undefined {
  const layer = layerOf(path);
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  if (name === 'throughline') return 'imports the package by its own name';
  if (isForTests(path)) return undefined;
  const home = homes[name];
  if (home !== undefined && home !== layer) return `${name} belongs in ${home}, not in ${layer}`;
  const allowed = portable[layer];
  return allowed === undefined || allowed.includes(name)
    ? undefined
    : `${layer} must not import ${name}`;
}

/** The part of the table that the linter can enforce while one types, as its configuration. */
export function lintOverrides(): unknown[] {
  const all = [...layers.keys()].filter((name) => name !== 'errors' && name !== 'index');
  return all.map((layer) => {
    const allowed = layers.get(layer) ?? [];
    const outward = all.filter((name) => name !== layer && !allowed.includes(name));
    const own = Object.keys(homes).filter((name) => homes[name] === layer);
    const strangers = Object.keys(homes).filter((name) => homes[name] !== layer);
    const patterns = [
      {
        // A package's own folders may be called like layers.
        group: [...outward.map((name) => `**/${name}/**`), ...own.map((name) => `!${name}/**`)],
        message: `${layer} may import only what lies further in: ${allowed.join(', ')}.`,
      },
      {
        group: strangers.flatMap((name) => [name, `${name}/**`]),
        message: 'This package belongs in one layer, and it is not this one.',
      },
      {
        group: portable[layer] ? ['node:*', 'node:*/**'] : [],
        message: `${layer} runs anywhere: no Node modules.`,
      },
    ];
    return {
      files: [`packages/throughline/src/${layer}/**`],
      rules: {
        'no-restricted-imports': [
          'error',
          { patterns: patterns.filter(({ group }) => group.length > 0) },
        ],
      },
    };
  });
}
