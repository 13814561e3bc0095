/** Who may do what, one row an operation: over the API, and in the hub's own process. */
import type { Hub } from '../src/hub/index.ts';
import type { Principal } from '../src/model/index.ts';
import type { Sample } from '../src/server/conformance.ts';
import {
  cancelSeen,
  contentUri,
  digest,
  handover,
  observations,
  people,
  pushConfig,
  recordOf,
  type Ids,
  type Known,
} from './access-world.ts';

export interface Row {
  /** Who may, calling for themselves. */
  readonly allowed: readonly Known[] | 'anyone';
  /** A refusal may read more where the object is there, and why; elsewhere it reads as often. */
  readonly readsDiffer?: string;
  /** Names nothing of others: everybody gets an answer, and only these find the case in it. */
  readonly lists?: true;
}

export interface ApiRow extends Row {
  readonly sample: (ids: Ids) => Sample;
  /** Whose credential opens it, handed on by the desk's own process. */
  readonly handedOn?: readonly Known[];
}

const manage: readonly Known[] = ['owner', 'operator'];
const read: readonly Known[] = ['owner', 'get', 'operator'];
const part: readonly Known[] = ['owner', 'agent'];
const self: readonly Known[] = ['agent'];
/** An agent writes its own work, whoever's credential it presents. */
const itsOwn: readonly Known[] = [
  'owner',
  'get',
  'list',
  'send',
  'cancel',
  'subscribe',
  'push',
  'stranger',
  'operator',
  'otherAgent',
];

const inPath = (id: string): Sample => ({ params: { id } });
const held = 'a statement is held against what the graph knows of its object';
const bytes = new Uint8Array([1]);
const newResource = `res_${'1'.repeat(26)}`;
const newTask = `tsk_${'1'.repeat(26)}`;
const admission = ({ context }: Ids) => ({
  agent: people.agent.id,
  messageId: 'new',
  referenceTaskIds: [],
  payload: digest,
  contextId: context,
});
const reply = ({ message, open }: Ids) => ({
  agent: people.agent.id,
  messageId: message,
  contextId: open,
  reply: 'yes',
});
const replySeen = ({ message, open }: Ids) =>
  observations({ ...recordOf({ ...blank, context: open }), id: 'reply-1', messageId: message });
const blank: Ids = {
  context: '',
  task: '',
  publicTask: '',
  activity: '',
  dialog: '',
  resource: '',
  grant: '',
  key: '',
  run: '',
  into: '',
  assertion: '',
  message: '',
  open: '',
};
const push = ({ task }: Ids): Sample => ({ params: { id: task, config: 'push-1' } });
const correction = ({ publicTask }: Ids) => ({
  corrections: [{ about: publicTask, statement: { says: 'task.unresolved' as const } }],
});
const closing = ({ activity }: Ids) => ({
  about: activity,
  statement: { says: 'activity.closed' as const },
});
const run = ({ activity }: Ids, id: string) => ({
  id,
  activity,
  done: false,
  state: {},
  expected: 0,
});

/** By `method path`; a route without a row fails. */
export const apiRows: Readonly<Record<string, ApiRow>> = {
  'post /authenticate': { allowed: 'anyone', sample: () => ({}) },
  'post /admissions': {
    allowed: [],
    handedOn: ['owner', 'send'],
    sample: (ids) => ({ json: admission(ids) }),
  },
  'post /replies': {
    allowed: self,
    handedOn: itsOwn,
    sample: (ids) => ({ json: { ...reply(ids), observations: replySeen(ids) } }),
  },
  'get /tasks/{id}': {
    allowed: [...read, 'agent'],
    handedOn: read,
    sample: ({ task }) => inPath(task),
  },
  'put /tasks/{id}': {
    allowed: self,
    handedOn: itsOwn,
    sample: (ids) => ({
      ...inPath(ids.task),
      json: { record: recordOf(ids), observations: [] },
    }),
  },
  'get /tasks': {
    allowed: ['owner', 'list', 'operator', 'agent'],
    handedOn: ['owner', 'list', 'operator'],
    lists: true,
    sample: ({ context }) => ({ query: { contextId: context } }),
  },
  'put /tasks/{id}/push-configs/{config}': {
    allowed: [],
    handedOn: ['owner', 'push'],
    sample: (ids) => {
      const { taskId: _task, id: _id, ...json } = pushConfig(ids.task);
      return { ...push(ids), json };
    },
  },
  'get /tasks/{id}/push-configs': {
    allowed: self,
    handedOn: ['owner', 'push'],
    sample: ({ task }) => inPath(task),
  },
  'delete /tasks/{id}/push-configs/{config}': {
    allowed: [],
    handedOn: ['owner', 'push'],
    sample: push,
  },
  'post /tasks/{id}/push-configs/{config}/settlement': {
    allowed: self,
    handedOn: itsOwn,
    sample: (ids) => ({ ...push(ids), json: { owner: people.owner.id } }),
  },
  'get /push-configs': { allowed: [], handedOn: [], lists: true, sample: () => ({}) },
  'post /observations': {
    allowed: self,
    handedOn: ['owner', 'cancel', 'operator'],
    sample: (ids) => ({ json: { observations: [cancelSeen(ids)] } }),
  },
  'post /outputs': {
    allowed: self,
    sample: ({ task }) => ({ query: { taskId: task, name: 'x', mediaType: 'text/plain' }, bytes }),
  },
  'post /assertions': {
    allowed: part,
    readsDiffer: held,
    sample: (ids) => ({ json: { drafts: [closing(ids)] } }),
  },
  'post /participants': {
    allowed: 'anyone',
    sample: () => ({ json: { kind: 'tool', url: 'https://tool.example/' } }),
  },
  'get /locations/{taskId}': {
    allowed: ['owner', 'agent', 'operator'],
    sample: ({ task }) => ({ params: { taskId: task } }),
  },
  'post /content': {
    allowed: part,
    sample: ({ activity }) => ({
      query: { activity, resource: newResource, mediaType: 'text/plain' },
      bytes,
    }),
  },
  'get /content/{id}': { allowed: part, sample: ({ resource }) => inPath(resource) },
  'post /content-tokens': {
    allowed: part,
    sample: (ids) => ({ json: { uri: contentUri(ids), audience: 'x', seconds: 60 } }),
  },
  'post /call-tokens': {
    allowed: 'anyone',
    sample: () => ({ json: { audience: people.agent.id, seconds: 60 } }),
  },
  'get /runs/{id}': { allowed: self, sample: (ids) => inPath(ids.run) },
  'put /runs/{id}': {
    allowed: part,
    sample: (ids) => {
      const { id: _id, ...json } = run(ids, newTask);
      return { ...inPath(newTask), json };
    },
  },
  'get /runs': { allowed: self, lists: true, sample: () => ({ query: { open: 'true' } }) },
  'post /handovers': {
    allowed: part,
    sample: ({ publicTask, dialog }) => ({
      json: { handover: handover(publicTask, dialog), texts: { sent: 'a', fullHistory: 'b' } },
    }),
  },
  'get /cases': { allowed: read, lists: true, sample: () => ({}) },
  'get /cases/{id}': { allowed: read, sample: ({ context }) => inPath(context) },
  'get /cases/{id}/timeline': { allowed: read, sample: ({ context }) => inPath(context) },
  'get /cases/{id}/handovers/{taskId}/texts': {
    allowed: read,
    sample: ({ context, publicTask }) => ({ params: { id: context, taskId: publicTask } }),
  },
  'get /explain': { allowed: read, sample: ({ task }) => ({ query: { a: task } }) },
  'post /contexts/{id}/grants': {
    allowed: manage,
    sample: ({ context }) => ({
      ...inPath(context),
      json: { grantee: 'x', operations: ['get'] },
    }),
  },
  'get /contexts/{id}/grants': { allowed: manage, sample: ({ context }) => inPath(context) },
  'delete /grants/{id}': { allowed: manage, sample: ({ grant }) => inPath(grant) },
  'post /keys': {
    allowed: ['operator'],
    sample: () => ({ json: { principal: people.stranger } }),
  },
  'get /keys': { allowed: ['operator', 'outsider'], sample: () => ({}) },
  'delete /keys/{id}': { allowed: ['operator'], sample: ({ key }) => inPath(key) },
  'post /sessions/codes': { allowed: 'anyone', sample: () => ({}) },
  'get /terms': { allowed: 'anyone', sample: () => ({}) },
  'get /quotas': { allowed: ['operator', 'outsider'], sample: () => ({}) },
  'put /quotas': {
    allowed: ['operator', 'outsider'],
    sample: () => ({ json: { tenant: {}, principal: {} } }),
  },
  'post /cases/{id}/close': {
    allowed: manage,
    sample: ({ context }) => ({ ...inPath(context), json: {} }),
  },
  'post /cases/{id}/reopen': {
    allowed: manage,
    sample: ({ context }) => ({ ...inPath(context), json: {} }),
  },
  'post /cases/{id}/labels': {
    allowed: manage,
    sample: ({ context }) => ({ ...inPath(context), json: { label: { name: 'a', value: 'b' } } }),
  },
  'post /cases/{id}/merge': {
    allowed: manage,
    sample: ({ context, into }) => ({ ...inPath(context), json: { into } }),
  },
  'post /cases/{id}/split': {
    allowed: manage,
    sample: ({ context }) => ({ ...inPath(context), json: {} }),
  },
  'post /cases/{id}/corrections': {
    allowed: manage,
    sample: (ids) => ({ ...inPath(ids.context), json: correction(ids) }),
  },
  'post /cases/{id}/undo': {
    allowed: manage,
    sample: ({ context, assertion }) => ({ ...inPath(context), json: { assertion } }),
  },
  'delete /cases/{id}': { allowed: manage, sample: ({ context }) => inPath(context) },
};

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
    allowed: read,
    call: (hub, principal, ids) => hub.handoverTexts(principal, ids.activity, ids.publicTask),
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
    call: (hub, principal, ids) => hub.master(principal).assert([closing(ids)]),
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
      hub.master(principal).readToken({ uri: contentUri(ids), audience: 'x', seconds: 60 }),
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
  'master.saveHandover': {
    allowed: part,
    call: (hub, principal, { publicTask, dialog }) =>
      hub
        .master(principal)
        .saveHandover(handover(publicTask, dialog), { sent: 'a', fullHistory: 'b' }),
  },
  'agent.getContent': {
    // Without a token made for the reader, only those it belongs to.
    allowed: part,
    call: (hub, principal, ids) => hub.agent(principal).getContent(contentUri(ids), 'no.to.ken'),
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
