import type { Party, Principal } from '../model/index.ts';
import type { Participants } from './participants.ts';
import type { Recorder } from './recorder.ts';

/** What a principal is, as far as authentication tells. */
export const ownParty = ({ id, role }: Principal): Party =>
  role === 'agent' ? { kind: 'agent', principal: id } : { kind: 'user', principal: id, name: id };

/**
 * Makes a party known, in the word of one principal. What a principal of the domain is and how it is
 * called is its own word, the first of which stays; until then others' word only lets it be named.
 * Outsiders speak for themselves nowhere, so whoever meets them first tells.
 */
export async function meet(
  recorder: Recorder,
  participants: Participants,
  by: { readonly tenant: string; readonly id: string },
  party: Party,
): Promise<string> {
  const { writer } = recorder;
  const { principal, kind } = party;
  if (principal === by.id) {
    const { id, isFirst } = await participants.settle(writer, by.tenant, party);
    await recorder.introduce(id, party, { source: id, isFirst });
    return id;
  }
  const id = await participants.identify(writer, by.tenant, party);
  const source = await participants.identify(writer, by.tenant, { kind, principal: by.id });
  if (principal === undefined) {
    await recorder.introduce(id, party, { source });
    return id;
  }
  const named: Party = kind === 'user' ? { kind, name: principal } : { kind: 'agent' };
  await recorder.introduce(id, named, { source });
  return id;
}
