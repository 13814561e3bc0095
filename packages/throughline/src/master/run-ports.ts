import type { MasterPorts, RunStore } from './ports.ts';

/** A Participant stays who it is: a run asks for each once. */
export function knowingParties(ports: MasterPorts): MasterPorts {
  const known = new Map<string, Promise<string>>();
  return {
    ...ports,
    participant: (party) => {
      const key = JSON.stringify(party);
      const asked = known.get(key) ?? ports.participant(party);
      known.set(key, asked);
      asked.catch(() => known.delete(key));
      return asked;
    },
  };
}

/** The hub's ports with the runs kept elsewhere. */
export const withRuns = (ports: MasterPorts, runs: RunStore): MasterPorts => ({
  newId: (kind) => ports.newId(kind),
  participant: (party) => ports.participant(party),
  assert: (drafts) => ports.assert(drafts),
  locate: (taskId) => ports.locate(taskId),
  putContent: (content) => ports.putContent(content),
  getContent: (uri, token) => ports.getContent(uri, token),
  readToken: (request) => ports.readToken(request),
  callToken: (request) => ports.callToken(request),
  saveHandover: (handover, texts) => ports.saveHandover(handover, texts),
  saveRun: (run) => runs.saveRun(run),
  loadRun: (id) => runs.loadRun(id),
  openRuns: () => runs.openRuns(),
});
