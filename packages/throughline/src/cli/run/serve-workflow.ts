import { ThroughlineError } from '../../errors.ts';
import {
  checkPlan,
  inputsOf,
  localEngine,
  masterAgent,
  offerMessage,
  offerSurroundings,
  type MasterAgentOptions,
  type OfferedContent,
  type Workflow,
} from '../../master/index.ts';
import { criteriaGrader } from '../../models/grade-criteria.ts';
import { serveBehind, type Served, type ServeModuleOptions } from '../agent-module.ts';
import type { DataFolder } from '../data-folder.ts';
import { connectAgent } from '../wire.ts';
import type { AgentsFile } from './files.ts';
import { openMaster } from './open-master.ts';

export interface ServeWorkflowOptions extends ServeModuleOptions {
  /** The hub with the key that may make keys for agents that are files. */
  readonly hub: { readonly url: string; readonly key: string };
  readonly folder: DataFolder;
  readonly workflow: Workflow;
  readonly agents: AgentsFile;
  readonly parallel: number | undefined;
}

/**
 * Serves a workflow as an agent: each task that a message begins is one run of it.
 *
 * @throws ThroughlineError `invalid` with everything that is wrong with the plan, by name.
 */
export async function serveWorkflow(options: ServeWorkflowOptions): Promise<Served> {
  const { hub, folder, workflow, agents, parallel, hubUrl, key, ...where } = options;
  const { principal, onFault } = where;
  const inputs = inputsOf(workflow);
  const known = agents.agents.map(({ id }) => id);
  checkPlan(workflow, { agents: known, offered: inputs, checkGrader: criteriaGrader().check });
  const connection = await connectAgent({ hubUrl, key });
  const own = { ports: connection.master, a2a: connection.a2a, principal };
  // Any number of processes may serve it: a run is driven by one of them that is alive.
  const engine = localEngine(connection.master);
  const opened = await openMaster({ ...own, engine, hub, folder, agents, parallel, onFault });
  const request: MasterAgentOptions['request'] = async (message) => {
    const given = offerMessage(workflow, message);
    const offered = [...given, ...(await offerSurroundings(workflow, { offered: given }))];
    refuseLacking(inputs, offered);
    return { workflow, offered };
  };
  const needs = inputs.length === 0 ? '' : ` It needs: ${inputs.join(', ')}.`;
  const description = `${workflow.description || workflow.name}.`.replace(/\.\.$/, '.');
  const served = await serveBehind(connection, {
    ...where,
    ...masterAgent({ master: opened.master, ports: connection.master, request }),
    card: { name: workflow.name, description: `${description}${needs}`, version: '1.0.0' },
  });
  return {
    url: served.url,
    close: async () => {
      await served.close();
      await opened.close();
    },
  };
}

/** Tells whoever asks what else to send; nothing of who would get it. */
function refuseLacking(inputs: readonly string[], offered: readonly OfferedContent[]): void {
  const lacking = inputs.filter((name) => !offered.some((each) => each.name === name));
  if (lacking.length === 0) return;
  throw new ThroughlineError(
    'invalid',
    `This takes ${lacking.join(', ')}, too: send each as a part with that as its filename.`,
  );
}
