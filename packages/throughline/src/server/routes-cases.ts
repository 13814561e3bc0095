import { z } from 'zod';
import {
  causedSchema,
  correctionSchema,
  labellingSchema,
  mergingSchema,
  saidSchema,
  splitSchema,
  splittingSchema,
  undoingSchema,
} from '../model/case-work.ts';
import { foreignId } from '../model/ids.ts';
import { empty, route, type Route } from './route.ts';

const params = z.strictObject({ id: foreignId });
/** A change of a case by hand, by its owner or an operator; gives the assertions that say it. */
const change = { ...empty, params, method: 'post', gives: saidSchema } as const;

/** What people do with a case. */
export const caseRoutes: readonly Route[] = [
  route({
    ...change,
    path: '/cases/{id}/close',
    summary: 'Closes a case; what is under way in it goes on',
    body: causedSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.closeCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/reopen',
    summary: 'Opens a closed case again',
    body: causedSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.reopenCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/labels',
    summary: 'Files a case under a label such as a ticket number; without a value takes it off',
    body: labellingSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.labelCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/merge',
    summary: 'Ends a case in another: it is closed, and shown with that one',
    body: mergingSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.mergeCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/split',
    summary: 'Opens a case that goes on from this one, under a context of its own',
    body: splittingSchema.strict(),
    gives: splitSchema,
    handle: (hub, { principal, params: { id }, body }) => hub.splitCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/corrections',
    summary: 'States by hand what is so; an executor’s own word is not overruled, it stands beside',
    body: correctionSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.correctCase(principal, id, body),
  }),
  route({
    ...change,
    path: '/cases/{id}/undo',
    summary: 'Takes back what was stated by hand, by stating the contrary',
    body: undoingSchema.strict(),
    handle: (hub, { principal, params: { id }, body }) => hub.undoInCase(principal, id, body),
  }),
  route({
    ...change,
    method: 'delete',
    path: '/cases/{id}',
    summary: 'Destroys for good what people wrote in a case; its shape stays',
    query: causedSchema.strict(),
    body: z.undefined(),
    handle: (hub, { principal, params: { id }, query }) => hub.eraseCase(principal, id, query),
  }),
];
