/** Who may do what in the hub's own process, one row a method. */
import type { Hub } from '../src/hub/index.ts';
import type { Principal } from '../src/model/index.ts';
import {
  admission,
  bytes,
  correction,
  held,
  knowing,
  manage,
  newResource,
  newTask,
  part,
  read,
  reply,
  replySeen,
  run,
  self,
  type Row,
} from './access-rows.ts';
import {
  cancelSeen,
  contentUri,
  handover,
  handoverTexts,
  people,
  pushConfig,
  recordOf,
  type Ids,
} from './access-world.ts';

export interface HubRow extends Row {
  readonly call: (hub: Hub, principal: Principal, ids: Ids) => Promise<unknown>;
}

/** Methods that ask in nobody's name: they are for whoever runs the hub. */
export const withoutPrincipal: readonly string[] = [
  'authenticate',
  'bootstrapKey',
  'close',
  'constructor',
  'endPageSession',
  'health',
  'openPageSession',
  'pageCode',
  'pageSession',
  'sweep',
  'terms',
  'via',
];

/** By method; a method without a row fails. `master.` and `agent.` are the desks of those. */
export const hubRows: Readonly<Record<string, HubRow>> = {
  admit: {
    allowed: ['owner', 'send'],
    call: (hub, principal, ids) => hub.admit({ principal }, admission(ids)),
  },
  saveReply: {
    allowed: ['owner', 'agent'],
    call: (hub, principal, ids) => hub.saveReply({ principal }, reply(ids), replySeen(ids)),
  },
  loadTask: {
    allowed: [...read, 'agent'],
    call: (hub, principal, { task }) => found(hub.loadTask({ principal }, task)),
  },
  saveTask: {
    allowed: ['owner', 'send', 'agent'],
    call: (hub, principal, ids) => hub.saveTask({ principal }, recordOf(ids), []),
  },
  listTasks: {
    allowed: ['owner', 'list', 'operator', 'agent'],
    lists: true,
    call: (hub, principal, { context }) => hub.listTasks({ principal }, { contextId: context }),
  },
  observe: {
    allowed: ['owner', 'cancel', 'operator', 'agent'],
    call: (hub, principal, ids) => hub.observe({ principal }, [cancelSeen(ids)]),
  },
  savePushConfig: {
    allowed: ['owner', 'push'],
    call: (hub, principal, { task }) => hub.savePushConfig({ principal }, pushConfig(task)),
  },
  loadPushConfigs: {
    allowed: ['owner', 'push', 'agent'],
    call: (hub, principal, { task }) => hub.loadPushConfigs({ principal }, { taskId: task }),
  },
  deletePushConfig: {
    allowed: ['owner', 'push'],
    call: (hub, principal, { task }) => hub.deletePushConfig({ principal }, task, 'push-1'),
  },
  settlePushConfig: {
    allowed: self,
    call: (hub, principal, { task }) => {
      const config = { taskId: task, id: 'push-1', owner: people.owner.id };
      return hub.settlePushConfig({ principal }, config);
    },
  },
  'workers.beat': {
    allowed: 'anyone',
    call: (hub, principal) => hub.workers.beat(principal, { worker: 'w-1' }),
  },
  'workers.leave': {
    allowed: 'anyone',
    call: (hub, principal) => hub.workers.leave(principal, { worker: 'w-1' }),
  },
  'workers.takeUp': {
    allowed: [],
    lists: true,
    call: (hub, principal) => hub.workers.takeUp(principal, { worker: 'w-1', taking: 't-1' }),
  },
  cases: { allowed: read, lists: true, call: (hub, principal) => hub.cases(principal) },
  caseView: {
    allowed: read,
    call: (hub, principal, { activity }) => hub.caseView(principal, activity),
  },
  timeline: {
    allowed: read,
    call: (hub, principal, { task }) => hub.timeline(principal, task),
  },
  explain: {
    allowed: read,
    call: (hub, principal, { dialog }) => hub.explain(principal, dialog),
  },
  handoverTexts: {
    readsDiffer: held,
    allowed: ['agent', 'operator'],
    call: (hub, principal, ids) => hub.handoverTexts(principal, ids.activity, ids.subtask),
  },
  closeCase: {
    allowed: manage,
    call: (hub, principal, { activity }) => hub.closeCase(principal, activity),
  },
  reopenCase: {
    allowed: manage,
    call: (hub, principal, { activity }) => hub.reopenCase(principal, activity),
  },
  labelCase: {
    allowed: manage,
    call: (hub, principal, { activity }) =>
      hub.labelCase(principal, activity, { label: { name: 'a', value: 'b' } }),
  },
  mergeCase: {
    allowed: manage,
    call: (hub, principal, { activity, into }) => hub.mergeCase(principal, activity, { into }),
  },
  splitCase: {
    allowed: manage,
    call: (hub, principal, { activity }) => hub.splitCase(principal, activity),
  },
  correctCase: {
    allowed: manage,
    call: (hub, principal, ids) => hub.correctCase(principal, ids.activity, correction(ids)),
  },
  undoInCase: {
    allowed: manage,
    call: (hub, principal, { activity, assertion }) =>
      hub.undoInCase(principal, activity, { assertion }),
  },
  eraseCase: {
    allowed: manage,
    call: (hub, principal, { activity }) => hub.eraseCase(principal, activity),
  },
  grant: {
    allowed: manage,
    call: (hub, principal, { context }) =>
      hub.grant(principal, context, { grantee: 'x', operations: ['get'] }),
  },
  grants: {
    allowed: manage,
    call: (hub, principal, { context }) => hub.grants(principal, context),
  },
  revokeGrant: {
    allowed: manage,
    call: (hub, principal, { grant }) => hub.revokeGrant(principal, grant),
  },
  createKey: {
    allowed: ['operator'],
    call: (hub, principal) => hub.createKey(principal, { principal: people.stranger }),
  },
  keys: { allowed: ['operator', 'outsider'], call: (hub, principal) => hub.keys(principal) },
  revokeKey: {
    allowed: ['operator'],
    call: (hub, principal, { key }) => hub.revokeKey(principal, key),
  },
  quotaReport: {
    allowed: ['operator', 'outsider'],
    call: (hub, principal) => hub.quotaReport(principal),
  },
  setQuotas: {
    allowed: ['operator', 'outsider'],
    call: (hub, principal) => hub.setQuotas(principal, { tenant: {}, principal: {} }),
  },
  'master.newId': {
    allowed: 'anyone',
    call: async (hub, principal) => hub.master(principal).newId('task'),
  },
  'master.participant': {
    allowed: 'anyone',
    call: (hub, principal) =>
      hub.master(principal).participant({ kind: 'tool', url: 'https://tool.example/' }),
  },
  'master.assert': {
    allowed: part,
    readsDiffer: held,
    call: (hub, principal, ids) => hub.master(principal).assert([knowing(ids)]),
  },
  'master.locate': {
    allowed: ['owner', 'agent', 'operator'],
    call: (hub, principal, { task }) => hub.master(principal).locate(task),
  },
  'master.putContent': {
    allowed: part,
    call: (hub, principal, { activity }) =>
      hub.master(principal).putContent({
        activity,
        resource: newResource,
        mediaType: 'text/plain',
        bytes,
      }),
  },
  'master.getContent': {
    allowed: part,
    call: (hub, principal, ids) => hub.master(principal).getContent(contentUri(ids)),
  },
  'master.readToken': {
    allowed: part,
    call: (hub, principal, ids) =>
      hub.master(principal).readToken({ uris: [contentUri(ids)], audience: 'x', seconds: 60 }),
  },
  'master.callToken': {
    allowed: 'anyone',
    call: (hub, principal) =>
      hub.master(principal).callToken({ audience: people.agent.id, seconds: 60 }),
  },
  'master.saveRun': {
    allowed: part,
    call: (hub, principal, ids) => hub.master(principal).saveRun(run(ids, newTask)),
  },
  'master.loadRun': {
    allowed: self,
    call: (hub, principal, ids) => found(hub.master(principal).loadRun(ids.run)),
  },
  'master.openRuns': {
    allowed: self,
    lists: true,
    call: (hub, principal) => hub.master(principal).openRuns(),
  },
  'master.leftRuns': {
    allowed: self,
    lists: true,
    call: (hub, principal) => hub.master(principal).leftRuns(),
  },
  'master.beat': {
    allowed: 'anyone',
    call: (hub, principal) => hub.master(principal).beat({ worker: 'w-1' }),
  },
  'master.leave': {
    allowed: 'anyone',
    call: (hub, principal) => hub.master(principal).leave({ worker: 'w-1' }),
  },
  'master.saveHandover': {
    readsDiffer: held,
    allowed: self,
    call: (hub, principal, { subtask, subDialog }) =>
      hub.master(principal).saveHandover(handover(subtask, subDialog), handoverTexts),
  },
  'agent.getContent': {
    // By a token made for the reader, and by no right of its own.
    allowed: [],
    call: (hub, principal, ids) => hub.agent(principal).getContent(contentUri(ids), 'no.to.ken'),
  },
  'agent.renewToken': {
    // By holding a token, and by nothing else.
    allowed: [],
    call: (hub, principal) => hub.agent(principal).renewToken('no.to.ken'),
  },
  'agent.putOutput': {
    allowed: self,
    call: (hub, principal, { task }) =>
      hub.agent(principal).putOutput({ taskId: task, name: 'x', mediaType: 'text/plain', bytes }),
  },
};

class Missing extends Error {
  readonly code = 'not-found';
}

/** What a port says by giving nothing. */
async function found<T>(answer: Promise<T | undefined>): Promise<T> {
  const value = await answer;
  if (value === undefined) throw new Missing('there is none');
  return value;
}
