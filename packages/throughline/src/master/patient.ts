import { sortedJson } from '../bindings/a2a/digest.ts';
import { hubAway, retrying, retryingWrite, type Backoff } from '../bindings/a2a/retry.ts';
import type { MasterPorts, RunStore } from './ports.ts';

/**
 * Ports, with the runs where they are kept, that wait for a hub which is away, for as long as `backoff`
 * says or until the signal. All of them may be called twice; of `saveRun`, when it may have been carried
 * out before, the stored run says whether it was.
 */
export function patient(
  ports: MasterPorts,
  runs: RunStore,
  signal?: AbortSignal,
  backoff: Backoff = hubAway,
): MasterPorts {
  const options = { keepsAlive: true, ...(signal && { signal }) };
  const wait = <T>(call: () => Promise<T>): Promise<T> => retrying(backoff, call, options);
  return {
    newId: (kind) => ports.newId(kind),
    participant: (party) => wait(() => ports.participant(party)),
    assert: (drafts) => wait(() => ports.assert(drafts)),
    locate: (taskId) => wait(() => ports.locate(taskId)),
    putContent: (content) => wait(() => ports.putContent(content)),
    getContent: (uri, token) => wait(() => ports.getContent(uri, token)),
    readToken: (request) => wait(() => ports.readToken(request)),
    callToken: (request) => wait(() => ports.callToken(request)),
    saveRun: (run) =>
      retryingWrite(
        backoff,
        () => runs.saveRun(run),
        async () => {
          const stored = await runs.loadRun(run.id);
          const isOurs =
            stored?.version === run.expected + 1 &&
            sortedJson(stored.state) === sortedJson(run.state);
          return isOurs ? stored : undefined;
        },
        options,
      ),
    loadRun: (id) => wait(() => runs.loadRun(id)),
    openRuns: () => wait(() => runs.openRuns()),
    saveHandover: (handover, texts) => wait(() => ports.saveHandover(handover, texts)),
  };
}
