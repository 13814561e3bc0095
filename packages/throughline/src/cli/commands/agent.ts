import type { Command } from 'commander';
import { z } from 'zod';
import { foreignId } from '../../model/ids.ts';
import { command, hubOf, outputOf, parseOptions, withHub, type Surroundings } from '../command.ts';
import { DataFolder } from '../data-folder.ts';
import { signalled } from '../signalled.ts';

const agentSchema = z.object({
  data: z.string(),
  id: foreignId.exactOptional(),
  port: z.coerce.number().int().min(0).max(65_535),
  host: z.string(),
  publicUrl: z.url().exactOptional(),
});

/** `throughline agent`: serves one file as an agent until SIGINT or SIGTERM. */
export const agentCommand = (surroundings: Surroundings): Command =>
  withHub(
    command('agent', 'Serves a JavaScript or TypeScript file as an agent until Ctrl-C', [
      'agent finder.ts',
      'agent finder.ts --id finder --port 4702',
      'agent finder.ts --key-file finder.key --hub https://hub.example',
    ]),
  )
    .argument('<module>', 'file that exports handler(context, io) or onMessage(message, io)')
    .option('--id <id>', 'principal id of the agent (default: the file’s name)')
    .option('--port <n>', 'port to listen on; 0 for any free one', '0')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--public-url <url>', 'where it is reached from outside (default: the address)')
    .action(async (path: string, options: unknown) => {
      const { data, id, ...where } = parseOptions(agentSchema, options);
      const out = outputOf(surroundings, options);
      const hub = hubOf(options);
      // Only here: everybody else's commands start without what serves.
      const { loadAgentModule, serveModule } = await import('../agent-module.ts');
      const { agentKey } = await import('../agent-key.ts');
      const module = await loadAgentModule(path);
      const { key, principal } = await agentKey(hub, new DataFolder(data), id ?? module.card.name);
      const agent = await serveModule(module, {
        ...where,
        hubUrl: hub.url,
        key,
        principal,
        onFault: (error) =>
          out.note(error instanceof Error ? (error.stack ?? error.message) : String(error)),
      });
      const does = [
        ...(module.handler === undefined ? [] : ['does subtasks']),
        ...(module.onMessage === undefined ? [] : ['answers messages']),
      ].join(' and ');
      out.result({ id: principal.id, url: agent.url, hub: hub.url }, () => [
        `${principal.id} up at ${out.terminal.paint('bold', agent.url)}: ${does}`,
        `Behind the hub at ${hub.url}`,
        out.terminal.paint('dim', 'Ctrl-C ends it.'),
      ]);
      await signalled();
      if (!out.json) out.note('Closing: tasks under way are taken up at the next start …');
      await agent.close();
    });
