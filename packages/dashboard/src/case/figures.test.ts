import { describe, expect, it } from 'vitest';
import { MadeCase } from '../../test/made-case.ts';
import { CaseIndex, plain, shortId } from './case-index.ts';
import { documentUses } from './documents.ts';
import { factsOf, linksOf } from './facts.ts';
import { comesFrom, ledTo } from './lineage.ts';
import { recipient, tokenFigures } from './tokens.ts';

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
  made.handover(read, { sent: 100, fullHistory: 400, returned: 10, withheld: ['birth date'] });
  made.handover(check, { sent: 60, fullHistory: 600, withheld: ['card code', 'birth date'] });
  return { made, index: new CaseIndex(made.view()), read, check, terms, excerpt, finding, table };
}

describe('what the hand-overs saved', () => {
  it('sums tokens and names everything withheld once', () => {
    const { index } = story();
    expect(tokenFigures(index.view.handovers)).toEqual({
      handovers: 2,
      sent: 160,
      fullHistory: 1_000,
      saved: 840,
      share: 0.16,
      returned: 10,
      withheld: ['birth date', 'card code'],
    });
    expect(index.view.handovers.map((each) => recipient(index, each))).toEqual([
      'Reader',
      'Checker',
    ]);
  });

  it('says nothing of a share where there was no history', () => {
    expect(tokenFigures([])).toMatchObject({ saved: 0, share: undefined });
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
      'Correlation: by this protocol',
    ]);
  });

  it('takes control characters out of what people wrote, and shortens ids', () => {
    expect(plain('red \u001B[31m\nalert\u0000')).toBe('red  [31m alert');
    expect(shortId(story().terms)).toMatch(/^res_.{6}…$/);
    expect(shortId('ctx-of-somebody-else')).toBe('ctx-of-somebody-else');
  });
});
