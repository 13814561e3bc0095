import { dialogStates, statementSchema, taskStates } from 'throughline/model';
import { describe, expect, it } from 'vitest';
import { idOf, MadeCase, spokenOf } from '../../test/made-case.ts';
import { CaseIndex } from '../case/case-index.ts';
import { formatRoute, parseRoute } from '../frame/route.ts';
import { bytes, count } from './numbers.ts';
import { reading } from './relations.ts';
import { dialogWords, taskWords } from './states.ts';
import { phraseOf, subjectOf } from './statements.ts';
import { ago } from './time.ts';

describe('states in words', () => {
  const task = { id: idOf('task', 1), dialog: idOf('dialog', 1), activity: idOf('activity', 1) };

  it('tells any two states of a task apart by more than colour', () => {
    const seen = taskStates.map((state) => taskWords({ ...task, state }));
    expect(new Set(seen.map(({ text }) => text)).size).toBe(taskStates.length);
    const shapes = new Map(seen.map(({ shape, tone }) => [shape, tone]));
    for (const { shape, tone } of seen.filter(
      (each) => each.tone === 'bad' || each.tone === 'done',
    )) {
      expect(shapes.get(shape)).toBe(tone);
    }
  });

  it('shows what a task waits for, and an outcome that nobody knows', () => {
    expect(taskWords({ ...task, state: 'awaiting', awaiting: 'input' }).text).toBe(
      'waiting for input',
    );
    expect(taskWords({ ...task, state: 'completed', unresolved: true })).toEqual({
      tone: 'wait',
      shape: 'question',
      text: 'completed, outcome unknown',
    });
  });

  it('says how a dialog ended, when it did not just complete', () => {
    const dialog = {
      id: idOf('dialog', 1),
      activity: idOf('activity', 1),
      participants: [],
      local: [],
    };
    const words = dialogStates.map(
      (state) => dialogWords({ ...dialog, managed: 'ours', state }).text,
    );
    expect(words).toEqual(['opening', 'active', 'interrupted', 'suspended', 'ended']);
    const ended = { ...dialog, managed: 'ours', state: 'terminated' } as const;
    expect(dialogWords({ ...ended, reason: 'failed', endInferred: true })).toEqual({
      tone: 'bad',
      shape: 'cross',
      text: 'ended: failed, inferred',
    });
  });
});

describe('statements in words', () => {
  const made = new MadeCase();
  const desk = made.participant('Desk');
  const dialog = made.dialog([desk]);
  const task = made.task(dialog, 'awaiting', { objective: 'write' });
  const terms = made.resource('terms');
  const edge = made.edge('input-to', terms, task);
  const index = new CaseIndex(made.view());

  it('tells a relationship from where it starts, also when it is revoked', () => {
    const said = statementSchema.parse({
      says: 'relationship.asserted',
      type: 'input-to',
      from: terms,
      to: task,
      role: 'the rule',
    });
    const asserted = { ...spokenOf(edge, 1), statement: said };
    expect(phraseOf(asserted, index)).toBe('given to write as “the rule”');
    expect(subjectOf(asserted, index)).toBe(terms);
    const revoked = { ...spokenOf(edge, 2), statement: { says: 'relationship.revoked' } } as const;
    expect(subjectOf(revoked, index)).toBe(terms);
  });

  it('keeps the name of a relationship that is somebody else’s', () => {
    expect(reading('com.example.audits', 'forward')).toBe('com.example.audits');
    expect(reading('delegated-from', 'backward')).toBe('delegated to');
  });
});

describe('figures in words', () => {
  it('keeps a decimal of small shares, and the unit of sizes', () => {
    expect([bytes(0), bytes(912), bytes(2_048)]).toEqual(['0 B', '912 B', '2.0 KiB']);
    expect([count(1, 'task'), count(2_000, 'activity', 'activities')]).toEqual([
      '1 task',
      '2,000 activities',
    ]);
  });

  it('says how long ago in the largest unit, and never a time ahead', () => {
    const now = Date.parse('2031-05-04T12:00:00Z');
    const before = (seconds: number) => ago(new Date(now - seconds * 1_000).toISOString(), now);
    expect([
      before(-60),
      before(2),
      before(59),
      before(61),
      before(7_200),
      before(200_000),
    ]).toEqual(['just now', 'just now', '59 s ago', '1 min ago', '2 h ago', '2 d ago']);
  });
});

describe('addresses of the page', () => {
  it('come back as they were, whatever an id holds', () => {
    const route = { page: 'case', id: 'a b%/ü#?', tab: 'timeline', selected: 'tsk_1' } as const;
    expect(parseRoute(formatRoute(route))).toEqual(route);
    expect(parseRoute(formatRoute({ page: 'cases' }))).toEqual({ page: 'cases' });
  });

  it.each(['', '#', '#/', '#/nowhere', '#/case', '#/case/', '#/case/%E0%A4%A'])(
    'that name no place (%j) are the list',
    (hash) => expect(parseRoute(hash)).toEqual({ page: 'cases' }),
  );

  it('fall back to the tree for a view that does not exist', () => {
    expect(parseRoute('#/case/ctx-1/map')).toEqual({ page: 'case', id: 'ctx-1', tab: 'tree' });
  });
});
