import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { aiModel } from './ai-sdk.ts';

const usage = {
  inputTokens: { total: 11, noCache: 11, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};
const silent = {
  inputTokens: { ...usage.inputTokens, total: undefined },
  outputTokens: { ...usage.outputTokens, total: undefined },
};
const says = (text: string, counted: typeof usage | typeof silent = usage) =>
  new MockLanguageModelV4({
    provider: 'maker.chat',
    modelId: 'reader-1',
    doGenerate: {
      content: [{ type: 'text', text }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: counted,
      warnings: [],
    },
  });

const ends = (text: string, unified: 'stop' | 'tool-calls' | 'length') => ({
  content: [{ type: 'text' as const, text }],
  finishReason: { unified, raw: unified },
  usage,
  warnings: [],
});
/** Of an error: what so many requests used. */
const details = (times: number) => ({
  details: { usage: { inputTokens: 11 * times, outputTokens: 3 * times } },
});

describe('a language model of the AI SDK', () => {
  it('goes by provider and model, or by the name it is given', () => {
    expect(aiModel(says('')).name).toBe('maker/reader-1');
    expect(aiModel('maker/reader-1').name).toBe('maker/reader-1');
    expect(aiModel(says(''), { name: 'our reader' }).name).toBe('our reader');
  });

  it('gets instructions apart from the prompt, within a limit of tokens, with no chance in it', async () => {
    const model = says('yes');
    const answer = await aiModel(model).text({ system: 'Answer.', prompt: 'Is it?' });
    expect(answer).toEqual({ text: 'yes', usage: { inputTokens: 11, outputTokens: 3 } });
    expect(model.doGenerateCalls).toMatchObject([
      {
        prompt: [{ role: 'system', content: 'Answer.' }, { role: 'user' }],
        maxOutputTokens: 4_096,
        temperature: 0,
      },
    ]);
  });

  it('gives an object that the schema accepts', async () => {
    const schema = z.object({ sure: z.boolean() });
    const { value } = await aiModel(says('{"sure":true}')).object({
      prompt: '',
      schema,
      name: 'sure',
    });
    expect(value).toEqual({ sure: true });
  });

  it('that does not count is counted, and that is said', async () => {
    const { usage: counted } = await aiModel(says('one two', silent)).text({ prompt: 'a b c' });
    expect(counted).toEqual({ inputTokens: 4, outputTokens: 2, estimated: true });
  });

  it.each([-5, 1.5, 1e300, Number.MAX_SAFE_INTEGER])(
    'that counts %d tokens is counted instead',
    async (total) => {
      const counted = { ...usage, inputTokens: { ...usage.inputTokens, total } };
      const answer = await aiModel(says('one two', counted)).text({ prompt: 'a b c' });
      expect(answer.usage).toEqual({ inputTokens: 4, outputTokens: 3, estimated: true });
    },
  );

  it('says what it used when it gives no answer, all attempts together', async () => {
    const called = new MockLanguageModelV4({ doGenerate: ends('', 'tool-calls') });
    await expect(aiModel(called).text({ prompt: 'a' })).rejects.toMatchObject(details(1));
    const cut = new MockLanguageModelV4({ doGenerate: ends('one', 'length') });
    await expect(aiModel(cut).text({ prompt: 'a' })).rejects.toMatchObject(details(1));
    const asked = { prompt: 'a', schema: z.object({ sure: z.boolean() }), name: 'sure' };
    const both = new MockLanguageModelV4({
      doGenerate: [ends('no JSON', 'stop'), ends('', 'tool-calls')],
    });
    await expect(aiModel(both).object(asked)).rejects.toMatchObject(details(2));
  });

  it('that heeds no signal is left at the time limit', async () => {
    const model = new MockLanguageModelV4({ doGenerate: () => new Promise(() => undefined) });
    const asked = aiModel(model, { timeoutMs: 20 }).text({ prompt: 'a' });
    await expect(asked).rejects.toMatchObject({ code: 'timeout' });
  });

  it('that throws something of its own is an internal error, with it as the cause', async () => {
    const fault = new Error('something of its own');
    const model = new MockLanguageModelV4({ doGenerate: () => Promise.reject(fault) });
    const asked = aiModel(model).text({ prompt: 'a' });
    await expect(asked).rejects.toMatchObject({ code: 'internal', cause: fault });
    await expect(asked).rejects.not.toThrow('its own');
  });

  it('behind the AI Gateway needs its key, and says so', async () => {
    vi.stubEnv('AI_GATEWAY_API_KEY', '');
    vi.stubEnv('VERCEL_OIDC_TOKEN', '');
    const asked = aiModel('maker/reader-1', { retries: 0 }).text({ prompt: 'a' });
    await expect(asked).rejects.toMatchObject({ code: 'unauthenticated', retryable: false });
    vi.unstubAllEnvs();
  });

  it('is not asked by who has given up already', async () => {
    const model = says('yes');
    const asked = aiModel(model).text({ prompt: 'a', signal: AbortSignal.abort() });
    await expect(asked).rejects.toThrow('aborted');
    expect(model.doGenerateCalls).toEqual([]);
  });
});
