import { describe, expect, it } from 'vitest';
import { measureSent } from './beside.ts';
import { readChains, readPapers } from './data.ts';
import { ofChain, ofPaper } from './delegations.ts';
import { catchOurs } from './ours.ts';

const conversations = [
  ...readChains().slice(1, 2).map(ofChain),
  ...readPapers().slice(1, 2).map(ofPaper),
];

describe('what reaches a sub-agent of a Master', () => {
  it('has what its question needs, and nothing of what was said in confidence', async () => {
    const sent = measureSent(conversations, await catchOurs(conversations, 0.25));
    expect(sent).toMatchObject({ kept: 1, leaked: 0 });
    expect(sent.tokens).toBeLessThan(0.5);
  });

  it('is seen to have it when a selector hands everything over', async () => {
    const caught = await catchOurs(conversations, 0.25, (_, all) => all.map(({ name }) => name));
    expect(measureSent(conversations, caught).leaked).toBe(1);
  });

  it('is measured on all of its conversation', () => {
    const [conversation] = conversations;
    const whole = (conversation?.texts ?? []).map(({ text }) => text).join('\n');
    const caught = (conversation?.delegations ?? []).map(() => ({ prompt: whole }));
    expect(measureSent(conversations.slice(0, 1), caught)).toMatchObject({ kept: 1, leaked: 0 });
    const none = caught.map(() => ({ prompt: '' }));
    expect(measureSent(conversations.slice(0, 1), none)).toEqual({ tokens: 0, kept: 0, leaked: 0 });
  });
});
