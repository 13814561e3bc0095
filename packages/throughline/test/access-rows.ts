/** Who may do what over the API, one row a route. */
import type { Sample } from '../src/server/conformance.ts';
import {
  cancelSeen,
  contentUri,
  digest,
  handover,
  handoverTexts,
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
  /** May read it otherwise, and may be told that it is there. */
  readonly knows?: readonly Known[];
  /** Names nothing of others: everybody gets an answer, and only these find the case in it. */
  readonly lists?: true;
}

export interface ApiRow extends Row {
  readonly sample: (ids: Ids) => Sample;
  /** Whose credential opens it, handed on by the desk's own process. */
  readonly handedOn?: readonly Known[];
}

export const manage: readonly Known[] = ['owner', 'operator'];
export const read: readonly Known[] = ['owner', 'get', 'operator'];
export const part: readonly Known[] = ['owner', 'agent'];
export const self: readonly Known[] = ['agent'];
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
export const held = 'a statement is held against what the graph knows of its object';
export const bytes = new Uint8Array([1]);
export const newResource = `res_${'1'.repeat(26)}`;
const cutting = (ids: Ids) => ({
  uri: contentUri(ids),
  selector: { conformsTo: 'http://tools.ietf.org/rfc/rfc9110', value: 'bytes=0-0' },
  resource: newResource,
});
const narrowing = (ids: Ids) => ({
  token: 'no.to.ken',
  uris: [contentUri(ids)],
  seconds: 60,
  thumbprint: 'x'.repeat(43),
});
export const newTask = `tsk_${'1'.repeat(26)}`;
export const admission = ({ context }: Ids) => ({
  agent: people.agent.id,
  messageId: 'new',
  referenceTaskIds: [],
  payload: digest,
  contextId: context,
});
export const reply = ({ message, open }: Ids) => ({
  agent: people.agent.id,
  messageId: message,
  contextId: open,
  reply: 'yes',
});
export const replySeen = ({ message, open }: Ids) =>
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
  subtask: '',
  subDialog: '',
};
const push = ({ task }: Ids): Sample => ({ params: { id: task, config: 'push-1' } });
export const correction = ({ publicTask }: Ids) => ({
  corrections: [{ about: publicTask, statement: { says: 'task.unresolved' as const } }],
});
export const knowing = ({ activity }: Ids) => ({
  about: newResource,
  statement: { says: 'resource.known' as const, activity, name: 'rows' },
});
export const run = ({ activity }: Ids, id: string) => ({
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
  'put /workers/{worker}': {
    allowed: 'anyone',
    sample: () => ({ params: { worker: 'w-1' }, json: {} }),
  },
  'delete /workers/{worker}': { allowed: 'anyone', sample: () => ({ params: { worker: 'w-1' } }) },
  'post /workers/{worker}/takings': {
    allowed: [],
    lists: true,
    sample: () => ({ params: { worker: 'w-1' }, json: { taking: 't-1' } }),
  },
  'post /push-deliveries': { allowed: [], handedOn: [], lists: true, sample: () => ({}) },
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
    sample: (ids) => ({ json: { drafts: [knowing(ids)] } }),
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
    sample: (ids) => ({ json: { uris: [contentUri(ids)], audience: 'x', seconds: 60 } }),
  },
  // By holding a token, and by nothing else.
  'post /content-tokens/renew': { allowed: [], sample: () => ({ json: { token: 'no.to.ken' } }) },
  'post /content-tokens/narrow': { allowed: [], sample: (ids) => ({ json: narrowing(ids) }) },
  'post /content-tokens/revoke': {
    allowed: ['owner', 'agent', 'operator'],
    sample: ({ activity }) => ({ json: { case: activity } }),
  },
  'post /content-cuts': {
    allowed: part,
    sample: (ids) => ({ json: cutting(ids) }),
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
  'get /left-runs': { allowed: self, lists: true, sample: () => ({}) },
  'post /handovers': {
    allowed: self,
    readsDiffer: held,
    sample: ({ subtask, subDialog }) => ({
      json: { handover: handover(subtask, subDialog), texts: handoverTexts },
    }),
  },
  'get /cases': { allowed: read, lists: true, sample: () => ({}) },
  'get /cases/{id}': { allowed: read, sample: ({ context }) => inPath(context) },
  'get /cases/{id}/timeline': { allowed: read, sample: ({ context }) => inPath(context) },
  'get /feed': {
    allowed: read,
    lists: true,
    sample: () => ({ query: { after: '0', follow: 'false' } }),
  },
  'get /cases/{id}/feed': {
    allowed: read,
    sample: ({ context }) => ({ ...inPath(context), query: { follow: 'false' } }),
  },
  'get /export': { allowed: ['operator', 'outsider'], sample: () => ({}) },
  'get /cases/{id}/export': { allowed: manage, sample: ({ context }) => inPath(context) },
  'get /cases/{id}/handovers/{taskId}/texts': {
    readsDiffer: held,
    allowed: ['agent', 'operator'],
    sample: ({ activity, subtask }) => ({ params: { id: activity, taskId: subtask } }),
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
