import type { Resource, ResourceNote } from '../model/index.ts';
import type { Notes } from './interpret-notes.ts';
import type { Place } from './interpret-place.ts';
import { hasSay, isUnused } from './standing.ts';

/** A message's own words are no Resource; what it carries or points at is. */
function isContent({ id, name, mediaType, digest, locator }: ResourceNote): boolean {
  if (id !== undefined || locator !== undefined) return true;
  return digest !== undefined && (name !== undefined || mediaType !== 'text/plain');
}

/** What a request carries goes into its Task, or into the Dialog when it makes none. */
export function takeInputs(
  notes: Notes,
  place: Place,
  into: string,
  resources: readonly ResourceNote[],
): void {
  const met = new Map<string, string>();
  for (const note of resources.filter(isContent)) {
    const same = note.digest === undefined ? undefined : met.get(note.digest);
    const id =
      same ??
      named(notes, place, note, notes.resolved.client) ??
      twin(notes, place, note)?.id ??
      make(notes, place, note);
    if (note.digest !== undefined) met.set(note.digest, id);
    notes.relate('input-to', id, into);
  }
}

/** What a Task put out. The same bytes from another Task are another Resource: one producer each. */
export function takeOutput(notes: Notes, place: Place, task: string, note: ResourceNote): void {
  const id =
    named(notes, place, note, notes.resolved.server) ??
    twin(notes, place, note, (each) => isOutput(notes, each.id, task))?.id ??
    twin(notes, place, note, (each) => notes.graph.out(each.id).length === 0)?.id ??
    make(notes, place, note);
  notes.relate('output-of', id, task);
}

/** The Resource that the sender names, if it is one of this Activity that the sender has a say about. */
function named(
  { graph }: Notes,
  place: Place,
  { id }: ResourceNote,
  sender: string | undefined,
): string | undefined {
  if (id === undefined || sender === undefined) return undefined;
  const isInside = graph.resource(id)?.activity === place.activity;
  return isInside && (isUnused(graph, id) || hasSay(graph, sender, id)) ? id : undefined;
}

/** A Resource of this Activity with the same bytes, or at the same place where bytes aren't known. */
function twin(
  { graph }: Notes,
  place: Place,
  { digest, locator }: ResourceNote,
  fits: (resource: Resource) => boolean = () => true,
): Resource | undefined {
  if (digest === undefined && locator === undefined) return undefined;
  for (const id of graph.members(place.activity)) {
    const resource = graph.resource(id);
    if (resource === undefined) continue;
    const same = digest === undefined ? resource.locator === locator : resource.digest === digest;
    if (same && fits(resource)) return resource;
  }
  return undefined;
}

function isOutput({ graph }: Notes, id: string, task: string): boolean {
  return graph.out(id, ['output-of']).some((edge) => edge.to === task);
}

function make(notes: Notes, place: Place, { id: _foreign, ...what }: ResourceNote): string {
  const id = notes.makeId('resource');
  notes.say(id, { says: 'resource.known', activity: place.activity, ...what });
  return id;
}
