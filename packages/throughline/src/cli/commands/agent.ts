import { basename, extname } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { ThroughlineError } from '../../errors.ts';
import { foreignId } from '../../model/ids.ts';
import { command, hubOf, outputOf, parseOptions, withHub, type Surroundings } from '../command.ts';
import type { Served, ServeModuleOptions } from '../agent-module.ts';
import { DataFolder } from '../data-folder.ts';
import type { ServeWorkflowOptions } from '../run/serve-workflow.ts';
import { signalled } from '../signalled.ts';

const agentSchema = z.object({
  data: z.string(),
  id: foreignId.exactOptional(),
  port: z.coerce.number().int().min(0).max(65_535),
  host: z.string(),
  publicUrl: z.url().exactOptional(),
  agents: z.string().exactOptional(),
  storeHosts: z.array(z.string()).exactOptional(),
  parallel: z.coerce.number().int().min(1).max(64).exactOptional(),
});
type Given = z.output<typeof agentSchema>;

/** `throughline agent`: serves one file, or a workflow, as an agent until SIGINT or SIGTERM. */
export const agentCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('agent', 'Serves a file of code, or a workflow, as an agent until Ctrl-C', [
      'agent finder.ts',
      'agent finder.ts --id finder --port 4702',
      'agent finder.ts --key-file finder.key --hub https://hub.example',
      'agent answer.yaml --agents agents.yaml --id desk --port 4701',
    ]),
  )
    .argument(
      '<file>',
      'JavaScript or TypeScript that exports handler(context, io) or onMessage(message, io), or a workflow in YAML: each message to it begins a run',
    )
    .option('--agents <file>', 'for a workflow: which agents there are, and where')
    .option('--parallel <n>', 'for a workflow: subtasks of a run at work at once (default: 4)')
    .option('--id <id>', 'principal id of the agent (default: the file’s name)')
    .option('--port <n>', 'port to listen on; 0 for any free one', '0')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--public-url <url>', 'where it is reached from outside (default: the address)')
    .option('--store-hosts <host...>', 'other stores that it may read from: store.example')
    .action(async (path: string, options: unknown) => {
      const given = parseOptions(agentSchema, options);
      const out = outputOf(surroundings, options);
      const hub = hubOf(options);
      const onFault = (error: unknown): void => out.note(faultText(error));
      // Of a handler that forgot it. It would end all other work, and be taken up to do so again.
      process.on('unhandledRejection', onFault);
      const isWorkflow = /\.ya?ml$/i.test(path);
      const serve = isWorkflow ? await workflowAgent(path, given) : await moduleAgent(path, given);
      const { agentKey } = await import('../agent-key.ts');
      const folder = new DataFolder(given.data);
      const own = await agentKey(hub, folder, given.id ?? serve.id);
      const { port, host, publicUrl } = given;
      const where = { port, host, publicUrl, onFault, hubUrl: hub.url, ...own };
      const agent = await serve.serve({ ...where, hub, folder });
      const { id } = own.principal;
      out.result({ id, url: agent.url, hub: hub.url }, () => [
        `${id} up at ${out.terminal.paint('bold', agent.url)}: ${serve.does}`,
        `Behind the hub at ${hub.url}`,
        out.terminal.paint('dim', 'Ctrl-C ends it.'),
      ]);
      await signalled();
      if (!out.json) out.note('Closing: tasks under way are taken up at the next start …');
      await agent.close();
      process.off('unhandledRejection', onFault);
    });

interface Agent {
  /** Default of its principal id. */
  readonly id: string;
  readonly does: string;
  readonly serve: (
    options: ServeModuleOptions & Pick<ServeWorkflowOptions, 'hub' | 'folder'>,
  ) => Promise<Served>;
}

// Modules are loaded only here: everybody else's commands start without what serves.
async function moduleAgent(path: string, { agents, storeHosts: hosts }: Given): Promise<Agent> {
  if (agents !== undefined) {
    throw new ThroughlineError('invalid', `--agents: belongs to a workflow, and ${path} is none`);
  }
  const { loadAgentModule, serveModule } = await import('../agent-module.ts');
  const { createForeignContent } = await import('../../agent/index.ts');
  const foreign = hosts && { foreign: createForeignContent({ hosts }) };
  const module = await loadAgentModule(path);
  const does = [
    ...(module.handler === undefined ? [] : ['does subtasks']),
    ...(module.onMessage === undefined ? [] : ['answers messages']),
  ];
  const serve: Agent['serve'] = (options) => serveModule(module, { ...options, ...foreign });
  return { id: module.card.name, does: does.join(' and '), serve };
}

async function workflowAgent(path: string, given: Given): Promise<Agent> {
  const { agents: file, parallel, storeHosts } = given;
  if (storeHosts !== undefined) {
    throw new ThroughlineError(
      'invalid',
      '--store-hosts: a workflow has stores in its agents file',
    );
  }
  if (file === undefined) {
    throw new ThroughlineError('invalid', `--agents: name the file of the agents for ${path}`);
  }
  const { readAgentsFile, readWorkflow } = await import('../run/files.ts');
  const { serveWorkflow } = await import('../run/serve-workflow.ts');
  const plan = { workflow: readWorkflow(path), agents: readAgentsFile(file), parallel };
  return {
    id: basename(path, extname(path)),
    does: `runs ${plan.workflow.name} for each message`,
    serve: (options) => serveWorkflow({ ...options, ...plan }),
  };
}

/** What callers are told needs no stack; a fault of the code does. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isTold = error instanceof ThroughlineError && error.code !== 'internal';
  return isTold ? error.message : (error.stack ?? error.message);
}
