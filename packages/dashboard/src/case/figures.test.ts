import { describeCost } from 'throughline/model';
import { describe, expect, it } from 'vitest';
import { MadeCase } from '../../test/made-case.ts';
import { CaseIndex, plain, shortId } from './case-index.ts';
import { documentUses } from './documents.ts';
import { factsOf, linksOf } from './facts.ts';
import { comesFrom, ledTo } from './lineage.ts';
import { recipient, spendingRows, spentInCase, withheldFrom, type Grouping } from './tokens.ts';

function story() {
  const made = new MadeCase();
  const [desk, reader, checker] = [
    made.participant('Desk'),
    made.participant('Reader'),
    made.participant('Checker'),
  ] as const;
  const reading = made.dialog([desk, reader]);
  const read = made.task(reading, 'completed', { objective: 'read' });
  const checking = made.dialog([desk, checker]);
  const check = made.task(checking, 'in-progress', { objective: 'check' });
  const terms = made.resource('terms');
  const excerpt = made.resource('excerpt');
  const finding = made.resource('finding');
  const table = made.resource('table');
  made.edge('derived-from', excerpt, terms);
  made.edge('input-to', excerpt, read, { role: 'source' });
  made.edge('output-of', finding, read);
  made.edge('input-to', finding, check, { role: 'the rule' });
  made.edge('used-in', finding, checking);
  made.edge('input-to', terms, check, { status: 'revoked' });
  made.edge('output-of', table, check);
  made.handover(read, {
    sent: 100,
    fullHistory: 400,
    returned: 10,
    withheld: ['birth date'],
    usage: [{ model: 'm', inputTokens: 150, outputTokens: 5, money: 0.5 }],
    compression: { tokenizer: 'o200k_base', before: 90, after: 30 },
  });
  made.handover(check, { sent: 60, fullHistory: 600, withheld: ['card code', 'birth date'] });
  const run = made.task(made.dialog([made.participant('Priya', 'user'), desk]), 'completed');
  made.ownUsage(run, [{ model: 'planner', inputTokens: 7, outputTokens: 2 }]);
  return { made, index: new CaseIndex(made.view()), read, check, terms, excerpt, finding, table };
}

describe('what the hand-overs and models came to', () => {
  it('is summed over the case, and everything withheld is named once', () => {
    const { index } = story();
    expect(spentInCase(index)).toMatchObject({
      handovers: 2,
      sent: 160,
      fullHistory: 1_000,
      returned: 10,
      compressed: { before: 90, after: 30 },
      inputTokens: 157,
      money: 0.5,
      unpriced: 9,
    });
    expect(withheldFrom(index.view.handovers)).toEqual(['birth date', 'card code']);
    expect(index.view.handovers.map((each) => recipient(index, each))).toEqual([
      'Reader',
      'Checker',
    ]);
  });

  it('stands one by one, and last what the Master used itself', () => {
    const { index } = story();
    const rows = spendingRows(index, 'each').map(({ who, what, spent }) => [
      who,
      what,
      spent.sent,
      describeCost(spent),
    ]);
    expect(rows).toEqual([
      ['Reader', 'read', 100, '0.5'],
      ['Checker', 'check', 60, '–'],
      ['Desk, itself', 'planning and grading', 0, 'no price'],
    ]);
  });

  it('is summed by agent, and by subtask over attempts that go on from each other', () => {
    const { made, read } = story();
    const again = made.dialog([made.participant('Second reader')]);
    const retry = made.task(again, 'completed', { objective: 'read again' });
    made.edge('replaces', retry, read);
    made.handover(retry, { agent: 'second', sent: 5, fullHistory: 500 });
    const index = new CaseIndex(made.view());
    const sent = (by: Grouping) =>
      spendingRows(index, by).map(({ who, spent }) => [who, spent.sent]);
    expect(sent('agent')).toEqual([
      ['Reader', 100],
      ['Checker', 60],
      ['second', 5],
      ['Desk, itself', 0],
    ]);
    expect(sent('subtask')).toEqual([
      ['Reader, second', 105],
      ['Checker', 60],
      ['Desk, itself', 0],
    ]);
  });

  it('ends where attempts replace each other in a circle', () => {
    const { made, read, check } = story();
    made.edge('replaces', read, check);
    made.edge('replaces', check, read);
    expect(spendingRows(new CaseIndex(made.view()), 'subtask')).toHaveLength(2 + 1);
  });
});

describe('who got which document', () => {
  it('lists each use with who, as what and for what, and no revoked one', () => {
    const { index, read, check } = story();
    const uses = documentUses(index).map(({ resource, who, edge, target }) => [
      resource.name,
      who,
      edge.role,
      index.task(target)?.id,
    ]);
    expect(uses).toEqual([
      ['excerpt', 'Reader', 'source', read],
      ['finding', 'Checker', 'the rule', check],
      ['finding', 'Checker', undefined, undefined],
    ]);
  });
});

describe('what came from what', () => {
  it('goes from a document over the task that put it out to what that task was given', () => {
    const { index, table } = story();
    const names = comesFrom(index, table).map(({ id, depth }) => `${depth} ${index.label(id)}`);
    expect(names).toEqual(['1 check', '2 finding', '3 read', '4 excerpt', '5 terms']);
  });

  it('goes forward to what was made of it', () => {
    const { index, excerpt } = story();
    const names = ledTo(index, excerpt).map(({ id }) => index.label(id));
    expect(names).toEqual(['read', 'finding', 'check', 'table']);
  });

  it('ends where relationships go in a circle', () => {
    const made = new MadeCase();
    const [a, b] = [made.resource('a'), made.resource('b')];
    made.edge('derived-from', a, b);
    made.edge('derived-from', b, a);
    expect(comesFrom(new CaseIndex(made.view()), a)).toHaveLength(1);
  });
});

describe('details of an object', () => {
  it('lists relationships from both ends, revoked ones last', () => {
    const { index, terms } = story();
    expect(linksOf(index, terms).map(({ edge, direction }) => [edge.type, direction])).toEqual([
      ['derived-from', 'backward'],
      ['input-to', 'forward'],
    ]);
  });

  it('says who asks and who takes part in a dialog', () => {
    const { index } = story();
    const [dialog] = index.view.dialogs;
    if (dialog === undefined) throw new Error('the story has dialogs');
    const facts = factsOf(index, { kind: 'dialog', value: dialog });
    expect(facts.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      'Asks: Desk',
      'Takes part: Reader',
      'Kept together: each side says so in its messages',
    ]);
  });

  it('takes control characters out of what people wrote, and shortens ids', () => {
    expect(plain('red \u001B[31m\nalert\u0000')).toBe('red  [31m alert');
    expect(shortId(story().terms)).toMatch(/^res_.{6}…$/);
    expect(shortId('ctx-of-somebody-else')).toBe('ctx-of-somebody-else');
  });
});
