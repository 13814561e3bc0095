import type { CaseIndex, Relationship, Resource } from './case-index.ts';

/** One use of a Resource: who got it, in which Dialog and Task, as what. */
export interface DocumentUse {
  readonly key: string;
  readonly resource: Resource;
  readonly edge: Relationship;
  /** Label of the one that got it; undefined when it was given to the case as a whole. */
  readonly who: string | undefined;
  /** Task, Dialog or Activity that it was given to. */
  readonly target: string;
}

/** Who got which document: one line for each use, those of one document together, in order of the case. */
export function documentUses(index: CaseIndex): DocumentUse[] {
  return index.view.resources.flatMap((resource) => usesOf(index, resource));
}

/** A recipient, and what it got, each document once. */
export interface Recipient {
  /** Undefined: the case as a whole. */
  readonly who: string | undefined;
  readonly documents: readonly string[];
}

/** Who got documents, in the order in which they first did. */
export function recipients(index: CaseIndex): Recipient[] {
  const got = Map.groupBy(documentUses(index), ({ who }) => who);
  return [...got].map(([who, uses]) => ({
    who,
    documents: [...new Set(uses.map(({ resource }) => index.label(resource.id)))],
  }));
}

/** Where one Resource went. */
export function usesOf(index: CaseIndex, resource: Resource): DocumentUse[] {
  return index.out(resource.id).flatMap((edge) => {
    const isUse = edge.type === 'input-to' || edge.type === 'used-in';
    if (!isUse || edge.status !== 'active') return [];
    return [{ key: edge.id, resource, edge, who: holder(index, edge.to), target: edge.to }];
  });
}

function holder(index: CaseIndex, target: string): string | undefined {
  const dialog = index.dialog(index.task(target)?.dialog ?? target);
  const worker = dialog === undefined ? undefined : index.worker(dialog);
  return worker === undefined ? undefined : index.label(worker);
}
