/** Reads the items of an AgentContext by what the desk calls them. */
import { appendFileSync } from 'node:fs';
import type { AgentContext, ContextItem } from 'throughline/model';
import type { HandlerIo } from 'throughline/agent';

/** Where all that this agent is given is noted, when somebody looks for leaks. */
const captureFile = process.env['SUPPORT_DESK_CAPTURE'];

function capture(what: unknown): void {
  if (captureFile !== undefined) appendFileSync(captureFile, `${JSON.stringify(what)}\n`);
}

export interface ItemsReader {
  has(name: string): boolean;
  text(name: string): Promise<string>;
  json(name: string): Promise<unknown>;
}

/**
 * An item's Description says its name first, which is what an agent knows it by. Items of equal bytes
 * are handed over as one, with one description after the other.
 */
export function reader(context: AgentContext, io: HandlerIo): ItemsReader {
  const { ContextItems } = context;
  capture({ context });
  const find = (name: string): ContextItem | undefined =>
    ContextItems.find(({ Description }) =>
      Description.split('; ').some((each) => each.startsWith(`${name}:`)),
    );
  const text = async (name: string): Promise<string> => {
    const item = find(name);
    if (item === undefined) throw new Error(`The AgentContext holds no item “${name}”.`);
    const content = (await io.fetch(item.ContextID)).text();
    capture({ name, content });
    return content;
  };
  return {
    has: (name) => find(name) !== undefined,
    text,
    json: async (name) => JSON.parse(await text(name)) as unknown,
  };
}
