import { describe, expect, it } from 'vitest';
import { idOf, summaryOf } from '../../test/made-case.ts';
import { allOf, reaches, withNewest, withOlder } from './known-cases.ts';
import { findCases, inOrder } from './order.ts';

const names = (cases: readonly { contextId?: string | undefined }[]) =>
  cases.map(({ contextId }) => contextId);

describe('the order of cases', () => {
  it('puts stuck ones first, then the latest change', () => {
    const cases = [
      summaryOf(1),
      summaryOf(2, { stuck: 1 }),
      summaryOf(3),
      summaryOf(4, { stuck: 9 }),
    ];
    expect(names(inOrder(cases))).toEqual(['ctx-4', 'ctx-2', 'ctx-3', 'ctx-1']);
  });
});

describe('finding cases', () => {
  const cases = [
    summaryOf(1, { objective: 'My cash back looks wrong', owner: 'priya' }),
    summaryOf(2, {
      objective: 'Raise my limit',
      owner: 'bob',
      stuck: 1,
      whose: [{ participant: idOf('participant', 1), name: 'Support desk' }],
      labels: { ticket: '4711' },
    }),
    summaryOf(3, { closed: true }),
  ];

  it.each([
    ['CASH wrong', ['ctx-1']],
    ['bob', ['ctx-2']],
    ['desk', ['ctx-2']],
    ['ticket=4711', ['ctx-2']],
    ['ctx-3', ['ctx-3']],
    [cases[1]?.activity ?? '', ['ctx-2']],
    ['cash bob', []],
    ['  ', ['ctx-1', 'ctx-2', 'ctx-3']],
  ])('looks for %j in what it is about, ids and owner', (words, expected) => {
    expect(names(findCases(cases, words))).toEqual(expected);
  });

  it.each([
    ['stuck', ['ctx-2']],
    ['open', ['ctx-1', 'ctx-2']],
    ['closed', ['ctx-3']],
  ] as const)('keeps %s ones', (filter, expected) => {
    expect(names(findCases(cases, '', filter))).toEqual(expected);
  });
});

describe('what is known of the list', () => {
  const known = { cases: [summaryOf(5), summaryOf(4), summaryOf(3)], cursor: 'older' };

  it('puts older ones below, each once', () => {
    const more = withOlder(known, { cases: [summaryOf(3), summaryOf(2)] });
    expect(names(more.cases)).toEqual(['ctx-5', 'ctx-4', 'ctx-3', 'ctx-2']);
    expect(more.cursor).toBeUndefined();
  });

  it('takes what changed and what is new, and keeps what lies further down', () => {
    const page = { cases: [summaryOf(6), summaryOf(5)], cursor: 'after 5' };
    expect(withNewest(known, page)).toEqual({
      cases: [summaryOf(6), summaryOf(5), summaryOf(4), summaryOf(3)],
      cursor: 'older',
    });
  });

  it('holds stuck ones from further down, each once, whatever is read of the rest', () => {
    const stuck = { cases: [summaryOf(4, { stuck: 1 }), summaryOf(1, { stuck: 1 })], isCut: false };
    const all = { ...known, stuck };
    expect(names(allOf(all))).toEqual(['ctx-5', 'ctx-4', 'ctx-3', 'ctx-1']);
    expect(withOlder(all, { cases: [summaryOf(2)] }).stuck).toBe(stuck);
    expect(withNewest(all, { cases: [summaryOf(6)], cursor: 'after 6' }).stuck).toBe(stuck);
    expect(names(inOrder(allOf(all)))).toEqual(['ctx-4', 'ctx-1', 'ctx-5', 'ctx-3']);
  });

  it('drops a case that is gone from the part that was read', () => {
    const page = { cases: [summaryOf(6), summaryOf(4)], cursor: 'after 4' };
    expect(names(withNewest(known, page).cases)).toEqual(['ctx-6', 'ctx-4', 'ctx-3']);
    expect(names(withNewest(known, { cases: [summaryOf(3)] }).cases)).toEqual(['ctx-3']);
  });

  it('sees a gap between the newest part and what was known', () => {
    expect(reaches(known, { cases: [summaryOf(6), summaryOf(5)], cursor: 'c' })).toBe(true);
    expect(reaches(known, { cases: [summaryOf(9), summaryOf(8)], cursor: 'c' })).toBe(false);
    expect(reaches(known, { cases: [summaryOf(9)] })).toBe(true);
  });
});
