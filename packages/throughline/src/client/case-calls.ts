import {
  saidSchema,
  splitSchema,
  type Caused,
  type Correction,
  type Labelling,
  type Merging,
  type Said,
  type Split,
  type Splitting,
  type Undoing,
} from '../model/case-work.ts';
import { segment, type Caller } from './call.ts';

/** What an owner or an operator does with one case by hand. Each gives the assertions that say it. */
export interface CaseCalls {
  close(given?: Caused): Promise<Said>;
  reopen(given?: Caused): Promise<Said>;
  label(given: Labelling): Promise<Said>;
  merge(given: Merging): Promise<Said>;
  split(given?: Splitting): Promise<Split>;
  correct(given: Correction): Promise<Said>;
  undo(given: Undoing): Promise<Said>;
  /** Destroys for good what people wrote in it. */
  erase(given?: Caused): Promise<Said>;
}

export function caseCalls(hub: Caller, id: string): CaseCalls {
  const path = `/cases/${segment(id)}`;
  const post = (what: string, json: unknown): Promise<Said> =>
    hub.json({ method: 'POST', path: `${path}/${what}`, json }, saidSchema);
  return {
    close: (given = {}) => post('close', given),
    reopen: (given = {}) => post('reopen', given),
    label: (given) => post('labels', given),
    merge: (given) => post('merge', given),
    split: (given = {}) =>
      hub.json({ method: 'POST', path: `${path}/split`, json: given }, splitSchema),
    correct: (given) => post('corrections', given),
    undo: (given) => post('undo', given),
    erase: (query = {}) => hub.json({ method: 'DELETE', path, query: { ...query } }, saidSchema),
  };
}
