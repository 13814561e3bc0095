import { expect, it } from 'vitest';
import { makeAgentContext } from '../handover/agent-context.ts';
import type { ContextItem } from '../model/agent-context.ts';
import { decodeText } from './decode-text.ts';
import { readMaterials } from './materials.ts';

async function read(bytes: Uint8Array, given: Partial<ContextItem>) {
  const item = {
    ContextID: 'letter',
    ContextType: 'document' as const,
    MediaType: 'text/plain',
    ContextURI: 'https://hub.example/content/letter',
    Description: 'The letter',
    Priority: 'compressible' as const,
    ...given,
  };
  const fetch = () => Promise.resolve({ item, mediaType: item.MediaType, bytes, text: () => '' });
  const context = makeAgentContext({
    agent: { id: 'reader', name: 'Reader' },
    subtask: { id: 'read', name: 'Read the letter' },
    dependencies: [],
    items: [item],
    todo: [{ id: 'one', description: 'Read' }],
    criteria: [],
    confidence: 0.5,
  });
  const { items, report } = await readMaterials(context, {
    fetch,
    signal: AbortSignal.timeout(10_000),
    fault: () => undefined,
  });
  return { text: items[0]?.text, report: report.items[0] };
}

const marked = Uint8Array.of(0xef, 0xbb, 0xbf, 0x48, 0x69);
const latin = Buffer.from(`${'Dear all, we meet. '.repeat(9)}It is in Zürich on Monday.`, 'latin1');

it('keeps each byte of what must be preserved, its byte order mark, too', async () => {
  expect((await read(marked, { Priority: 'must_preserve' })).text).toBe('\uFEFFHi');
  expect((await read(marked, {})).text).toBe('Hi');
});

it('says of bytes that are not of the charset that they are replaced', async () => {
  const { text, report } = await read(latin, {});
  expect(text).toContain('in Z\uFFFDrich on');
  expect(report?.notes).toEqual(['Bytes that are no utf-8 stand as \uFFFD.']);
  const named = await read(latin, { MediaType: 'text/plain; charset=iso-8859-1' });
  expect(named.text).toContain('in Zürich on');
  expect(named.report?.notes).toEqual([]);
});

it.each([
  ['must be preserved', { Priority: 'must_preserve' as const }],
  ['are of a charset that nobody knows', { MediaType: 'text/plain; charset=x-none' }],
])('reads no bytes that %s and are none of it, and says so', async (_what, given) => {
  const { text, report } = await read(latin, given);
  expect(text).toBeUndefined();
  expect(report?.unread).toMatch(/^197 bytes that are no text/);
});

it.each([
  ['text/plain; charset=windows-1252', 'in Zürich on'],
  ['text/plain', 'in Z\uFFFDrich on'],
  ['text/plain; charset=x-none', undefined],
])('decodes %s by the charset that it names', (mediaType, found) => {
  const text = decodeText(latin, mediaType);
  expect(text?.includes(found ?? '')).toBe(found && true);
});
