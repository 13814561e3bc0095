import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { foreignId } from '../../model/ids.ts';
import { command, outputOf, parseOptions, withData, type Surroundings } from '../command.ts';
import { DataFolder } from '../data-folder.ts';
import { contentOptionsSchema, contentSettingsOf, withContent } from './content-options.ts';
import { pageUrl } from '../../model/session.ts';
import type { Output } from '../output.ts';
import { duration } from '../duration.ts';
import { signalled } from '../signalled.ts';
import type { RunningHub, StartHubOptions } from '../wire.ts';
import { logLevels, openLog, type Log, type LogLevel } from '../telemetry/log.ts';

const defaultPort = 4680;

const serveSchema = z.object({
  data: z.string(),
  port: z.coerce.number().int().min(0).max(65_535),
  host: z.string(),
  origin: z.url().exactOptional(),
  store: z.string().exactOptional(),
  domainKeyFile: z.string().exactOptional(),
  allowPlainHttp: z.boolean().default(false),
  ...contentOptionsSchema.shape,
  contextPolicy: z.enum(['refuse', 'adopt']).default('refuse'),
  contextTtl: duration.exactOptional(),
  taskTtl: duration.exactOptional(),
  historyTtl: duration.exactOptional(),
  sweepEvery: duration.exactOptional(),
  logLevel: z.enum(logLevels).exactOptional(),
  metricsPort: z.coerce.number().int().min(0).max(65_535).exactOptional(),
  workerLease: duration.exactOptional(),
  workerPatience: duration.exactOptional(),
  jwtIssuer: z.string().exactOptional(),
  jwtAudience: z.string().exactOptional(),
  jwksUrl: z.string().exactOptional(),
  jwksFile: z.string().exactOptional(),
  jwtTenant: foreignId.exactOptional(),
  jwtTenantClaim: z.string().exactOptional(),
  jwtRoleClaim: z.string().exactOptional(),
});
type Serving = z.output<typeof serveSchema>;

const withJwt = (serve: Command): Command =>
  serve
    .option('--jwt-issuer <iss>', 'takes tokens of this issuer, too')
    .option('--jwt-audience <aud>', 'that are meant for this hub')
    .option('--jwks-url <url>', 'where the issuer publishes its keys')
    .option('--jwks-file <file>', 'a file with the issuer’s keys')
    .option('--jwt-tenant <id>', 'tenant of tokens that name none')
    .option('--jwt-tenant-claim <name>', 'claim with the tenant (default: tenant)')
    .option('--jwt-role-claim <name>', 'claim with the role or scopes (default: role)');

/** `throughline serve`: a hub until SIGINT or SIGTERM. */
export const serveCommand = (surroundings: Surroundings): Command => {
  const serve = withData(
    command('serve', 'Runs a hub until Ctrl-C', [
      'serve',
      'serve --port 4000 --data ./data',
      'serve --content s3://my-bucket/hub/?region=eu-central-1',
      'serve --host 0.0.0.0 --allow-plain-http --origin https://hub.example.com',
    ]),
  )
    .option('--port <n>', 'port to listen on; 0 for any free one', String(defaultPort))
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--origin <url>', 'where it is reached from outside (default: the address)')
    .addOption(
      new Option('--store <where>', 'SQLite file or postgres:// URL (default: in the folder)').env(
        'THROUGHLINE_STORE',
      ),
    )
    .addOption(
      new Option('--domain-key-file <file>', 'key of the domain (default: in the folder)').env(
        'THROUGHLINE_DOMAIN_KEY_FILE',
      ),
    )
    .addOption(
      new Option('--context-policy <policy>', 'contextIds that clients bring: refused or adopted')
        .choices(['refuse', 'adopt'])
        .default('refuse'),
    )
    .option('--context-ttl <time>', 'a context that no message used so long is over', '30d')
    .option('--task-ttl <time>', 'records of tasks go so long after they are over (default: never)')
    .option(
      '--history-ttl <time>',
      'cases are erased so long after their last change (default: never)',
    )
    .option('--sweep-every <time>', 'how often that is looked after', '1m')
    .option('--worker-lease <time>', 'an agent’s process is gone when silent so long', '15s')
    .option('--worker-patience <time>', 'then its tasks are unresolved if none takes them up', '2m')
    .addOption(
      new Option('--log-level <level>', 'what is logged (default: info, on a terminal error)')
        .choices(logLevels)
        .env('THROUGHLINE_LOG_LEVEL'),
    )
    .option('--metrics-port <n>', 'figures for Prometheus on this port of loopback, without a key');
  return withJwt(withContent(serve))
    .option('--allow-plain-http', 'plain HTTP on an address that other machines reach')
    .action(async (options: unknown) => {
      const serving = parseOptions(serveSchema, options);
      const { data } = serving;
      const out = outputOf(surroundings, options);
      const { stdout } = surroundings;
      const log = logOf(surroundings, serving.logLevel);
      // Only here: everybody else's commands start without a hub and its database.
      const { startHub } = await import('../wire.ts');
      const running = await startHub({
        ...settingsOf(serving),
        onSwept: ({ more: _more, ...swept }) => {
          const { contexts, tasks, replies, cases, contents } = swept;
          const words = `Time is over for ${contexts} contexts, ${tasks} tasks, ${replies} replies, ${cases} cases, ${contents} contents`;
          if (stdout.isTTY === true) out.note(words);
          else log.note('swept', swept);
        },
        // Not its path, which names things by their ids.
        onFailure: ({ path: _path, ...failure }) => log.failed(failure),
        onAnswer: (answered) => log.answered(answered),
      });
      announce(out, running, new DataFolder(data), await pageAddress(running, serving.origin));
      await signalled();
      if (stdout.isTTY === true) out.note('Closing: requests under way may end …');
      else log.note('closing');
      await running.close();
    });
};

function settingsOf(serving: Serving): StartHubOptions {
  const { data, port, host, origin, store, domainKeyFile, allowPlainHttp } = serving;
  const { contextPolicy, contextTtl, taskTtl, historyTtl, sweepEvery, metricsPort } = serving;
  const { workerLease: leaseMs, workerPatience: patienceMs } = serving;
  const jwt = jwtSettingsOf(serving);
  return {
    dataDir: data,
    port,
    host,
    allowPlainHttp,
    contextPolicy,
    content: contentSettingsOf(serving),
    ...(origin === undefined ? {} : { origin }),
    ...(store === undefined ? {} : { store }),
    ...(domainKeyFile === undefined ? {} : { domainKeyFile }),
    ...(contextTtl === undefined ? {} : { contextTtlMs: contextTtl }),
    ...(taskTtl === undefined ? {} : { taskTtlMs: taskTtl }),
    ...(historyTtl === undefined ? {} : { historyTtlMs: historyTtl }),
    ...(sweepEvery === undefined ? {} : { sweepEveryMs: sweepEvery }),
    ...(metricsPort === undefined ? {} : { metricsPort }),
    workers: {
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(patienceMs === undefined ? {} : { patienceMs }),
    },
    ...(jwt === undefined ? {} : { jwt }),
  };
}

/** JSON lines, or plain ones on a terminal, where only what failed is told unless more is asked for. */
function logOf({ stderr, stdout }: Surroundings, level?: LogLevel): Log {
  const plain = stdout.isTTY === true;
  return openLog({
    level: level ?? (plain ? 'error' : 'info'),
    plain,
    write: (line) => void stderr.write(line),
  });
}

function jwtSettingsOf(serving: Serving): StartHubOptions['jwt'] {
  const { jwtIssuer, jwtAudience, jwksUrl, jwksFile } = serving;
  const { jwtTenant, jwtTenantClaim, jwtRoleClaim } = serving;
  const named = [jwtIssuer, jwtAudience, jwksUrl ?? jwksFile];
  if (named.every((each) => each === undefined)) return undefined;
  if (jwtIssuer === undefined || jwtAudience === undefined || named.includes(undefined)) {
    throw new ThroughlineError(
      'invalid',
      '--jwt-issuer: tokens need --jwt-issuer, --jwt-audience and one of --jwks-url, --jwks-file',
    );
  }
  return {
    issuer: jwtIssuer,
    audience: jwtAudience,
    ...(jwksUrl === undefined ? {} : { jwksUrl }),
    ...(jwksFile === undefined ? {} : { jwksFile }),
    ...(jwtTenant === undefined ? {} : { defaultTenant: jwtTenant }),
    ...(jwtTenantClaim === undefined ? {} : { tenantClaim: jwtTenantClaim }),
    ...(jwtRoleClaim === undefined ? {} : { roleClaim: jwtRoleClaim }),
  };
}

async function pageAddress(running: RunningHub, origin = running.url): Promise<string | undefined> {
  if (!running.hasPage) return undefined;
  const { code } = await running.hub.pageCode(`Bearer ${running.localKey}`);
  return pageUrl(origin, code);
}

function announce(
  out: Output,
  { url, metricsUrl }: RunningHub,
  folder: DataFolder,
  page: string | undefined,
): void {
  const { paint } = out.terminal;
  const at = folder.path.endsWith('/.throughline') ? '' : ` --data ${folder.path}`;
  const figures = metricsUrl === undefined ? {} : { metrics: metricsUrl };
  const result = { url, data: folder.path, keyFile: folder.localKeyFile, ...figures };
  out.result(page === undefined ? result : { ...result, page }, () => [
    `Hub up at ${paint('bold', url)}`,
    `Data and keys in ${folder.path}`,
    ...(metricsUrl === undefined ? [] : [`Figures for Prometheus at ${metricsUrl}`]),
    ...(page === undefined
      ? []
      : [
          `The page: ${page}`,
          paint('dim', '(counts once, within a minute; another: throughline page)'),
        ]),
    '',
    'Next, in another terminal:',
    `  throughline case list${at}`,
    `  throughline page${at}`,
    `  throughline key create my-agent --role agent${at}`,
    '',
    paint('dim', 'Ctrl-C ends it.'),
  ]);
}
