/**
 * An agent of an example, for `throughline agent`: takes its time at each step, so that it can be killed
 * in it, and notes what it does and is given.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentHandler } from 'throughline/agent';
import { Notes } from './notes.ts';
import { partSchema, playNamed } from './plays.ts';

/** Milliseconds of waiting at each step. */
const pauseMs = 150;

const { CHAOS_PLAY: name, CHAOS_PART: agent, CHAOS_NOTES: file } = partSchema.parse(process.env);
const part = (await playNamed(name, process.env)).cast[agent];
if (part === undefined) throw new Error(`There is no ${agent} in ${name}`);
const notes = new Notes(file);

export const card = { name: agent.replaceAll('-', ' '), description: part.description };

export const handler: AgentHandler = async (context, io) => {
  const { taskId, resumed, signal } = io;
  const given = (kind: 'context' | 'content', text = ''): void =>
    notes.given({ kind, agent, taskId, text });
  const slowly = async <T>(work: Promise<T>): Promise<T> => {
    await sleep(pauseMs, undefined, { signal });
    return work;
  };
  notes.note({ kind: 'begins', agent, taskId, resumed });
  given('context', JSON.stringify(context));
  const result = await part.handler(context, {
    ...io,
    fetch: async (contextId) => {
      const content = await io.fetch(contextId);
      given('content', content.text());
      return content;
    },
    materials: async (asked) => {
      const materials = await io.materials(asked);
      for (const { text } of materials.items) given('content', text);
      return materials;
    },
    output: async (...output) => slowly(io.output(...output)),
    itemDone: async (...item) => slowly(io.itemDone(...item)),
  });
  await sleep(pauseMs, undefined, { signal });
  notes.note({ kind: 'ends', agent, taskId });
  return result;
};
