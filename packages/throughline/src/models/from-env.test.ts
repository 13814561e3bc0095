import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { sendJson, serveChat, type Chat } from './conformance/chat-server.ts';
import type { AiModelOptions } from './ai-sdk.ts';
import { modelFromEnv } from './from-env.ts';
import { responseBytes } from './bounded-fetch.ts';
import type { Model } from './model.ts';

const key = 'sk-of-the-test';

/** Runs `use` with a model that is asked over HTTP. */
async function withModel<T>(
  chat: Chat,
  use: (model: Model, requests: () => number) => Promise<T>,
  options: AiModelOptions = { timeoutMs: 20_000 },
): Promise<T> {
  await using server = await serveChat(chat);
  const env = {
    THROUGHLINE_MODEL: 'local/reader-1',
    THROUGHLINE_MODEL_URL: server.url,
    THROUGHLINE_MODEL_KEY: key,
  };
  const model = await modelFromEnv(env, options);
  if (model === undefined) throw new Error('The environment names a model.');
  return await use(model, () => server.requests.length);
}

/** At once, so that no test waits for a retry. */
const again = { 'retry-after-ms': '1' };
const answerSchema = z.object({ longest: z.string(), letters: z.int() });
const longestWord = (text: string): string =>
  text.split(/\W+/).reduce((longest, word) => (word.length > longest.length ? word : longest), '');

const text = (model: Model) => model.text({ prompt: 'the secret of the case' });
const hangs: Chat = () => () => undefined;

describe('a model named by the environment', () => {
  it('is none when none is named', async () => {
    expect(await modelFromEnv({})).toBeUndefined();
    expect(await modelFromEnv({ THROUGHLINE_MODEL: '' })).toBeUndefined();
  });

  it('is asked at the URL with the key, by its name without the provider', async () => {
    await using server = await serveChat(({ prompt }) => longestWord(prompt));
    const model = await modelFromEnv({
      THROUGHLINE_MODEL: 'local/family/reader-1',
      THROUGHLINE_MODEL_URL: server.url,
      THROUGHLINE_MODEL_KEY: key,
    });
    const answer = await model?.text({ system: 'Give the longest word.', prompt: 'a few letters' });
    expect(answer).toEqual({ text: 'letters', usage: { inputTokens: 7, outputTokens: 1 } });
    expect(model?.name).toBe('local/family/reader-1');
    expect(server.requests).toMatchObject([
      { model: 'family/reader-1', key, system: 'Give the longest word.', prompt: 'a few letters' },
    ]);
  });

  it.each([
    ['reader-1', undefined, 'provider/model'],
    ['local/reader-1', 'reader.example', 'THROUGHLINE_MODEL_URL'],
    ['local/reader-1', 'ftp://reader.example/', 'THROUGHLINE_MODEL_URL'],
    ['local/reader-1', 'http://reader.example/v1', 'use https'],
    ['local/reader-1', 'http://127.0.0.1.example/v1', 'use https'],
    ['local/reader-1', 'https://user:secret@reader.example/v1', 'THROUGHLINE_MODEL_KEY'],
  ])('is refused as %s at %s', async (name, url, why) => {
    const env = { THROUGHLINE_MODEL: name, THROUGHLINE_MODEL_URL: url };
    const refused = modelFromEnv(env);
    await expect(refused).rejects.toMatchObject({ code: 'invalid' });
    await expect(refused).rejects.toThrow(why);
    await expect(refused).rejects.not.toThrow('secret');
  });
});

describe('structured output over HTTP', () => {
  it('is asked for by its JSON Schema and checked', async () => {
    const asked: unknown[] = [];
    const chat: Chat = ({ prompt, schema }) => {
      asked.push(schema);
      const longest = longestWord(prompt);
      return JSON.stringify({ longest, letters: longest.length });
    };
    const { value } = await withModel(chat, (model) =>
      model.object({ prompt: 'a few letters', schema: answerSchema, name: 'longest' }),
    );
    expect(asked).toMatchObject([{ properties: { letters: { type: 'integer' } } }]);
    expect(value).toEqual({ longest: 'letters', letters: 7 });
  });

  it('is asked for once more when the form was missed, and both are counted', async () => {
    const { value, usage } = await withModel(
      ({ turn }) => (turn === 1 ? '{"longest": 7}' : '{"longest":"few","letters":3}'),
      (model) => model.object({ prompt: 'a few', schema: answerSchema, name: 'longest' }),
    );
    expect(value).toEqual({ longest: 'few', letters: 3 });
    expect(usage.inputTokens).toBe(4);
  });

  it('that is never right is an error by name, after as many tries', async () => {
    await withModel(
      () => 'The longest word is',
      async (model, requests) => {
        const asked = model.object({ prompt: 'a', schema: answerSchema, name: 'longest' });
        await expect(asked).rejects.toMatchObject({ code: 'invalid', retryable: false });
        expect(requests()).toBe(2);
      },
    );
  });
});

describe('a model that fails', () => {
  it.each([{ choices: [] }, {}])('with %j for an answer gave none', async (body) => {
    await withModel(
      () => (response) => sendJson(response, 200, body, again),
      (model) => expect(text(model)).rejects.toMatchObject({ code: 'invalid' }),
    );
  });

  it.each([
    [429, 'unavailable', 3],
    [500, 'unavailable', 3],
    [503, 'unavailable', 3],
    [400, 'invalid', 1],
    [401, 'unauthenticated', 1],
    [403, 'unauthenticated', 1],
    [404, 'not-found', 1],
  ] as const)('with status %i is %s after %i tries', async (status, code, tries) => {
    const body = { error: { message: `wrong key ${key}: the secret of the case` } };
    await withModel(
      () => (response) => sendJson(response, status, body, again),
      async (model, requests) => {
        const asked = text(model);
        await expect(asked).rejects.toMatchObject({ code, retryable: code === 'unavailable' });
        await expect(asked).rejects.not.toThrow(/secret|sk-/);
        expect(requests()).toBe(tries);
      },
    );
  });

  it('and then works is asked again', async () => {
    const answer = await withModel(
      ({ turn }) => (turn === 1 ? (response) => sendJson(response, 429, {}, again) : 'here'),
      text,
    );
    expect(answer).toMatchObject({ text: 'here' });
  });

  it.each(['<html>Welcome</html>', '{"choices": [', '{}', ''])(
    'with %j is invalid',
    async (body) => {
      const chat: Chat = () => (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(body);
      };
      await expect(withModel(chat, text)).rejects.toMatchObject({ code: 'invalid' });
    },
  );

  it('by saying nothing at all is invalid', async () => {
    await expect(withModel(() => '', text)).rejects.toMatchObject({ code: 'invalid' });
  });

  it('by being cut off at its limit is said, and the half answer is not used', async () => {
    const choices = [
      {
        index: 0,
        message: { role: 'assistant', content: '{"longest":"fe' },
        finish_reason: 'length',
      },
    ];
    const chat: Chat = () => (response) =>
      sendJson(response, 200, { id: '1', created: 0, model: 'reader-1', choices });
    await expect(withModel(chat, text)).rejects.toMatchObject({ code: 'too-large' });
    await withModel(chat, async (model, requests) => {
      const asked = model.object({ prompt: 'a', schema: answerSchema, name: 'longest' });
      await expect(asked).rejects.toMatchObject({ code: 'too-large' });
      expect(requests()).toBe(1);
    });
  });

  it('by hanging ends at the time limit', async () => {
    await expect(withModel(hangs, text, { timeoutMs: 50 })).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  it('by sending without end is read no further than the bound', async () => {
    let sent = 0;
    const chat: Chat = () => (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(1_048_576, ' ');
      const more = (): void => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', more);
      more();
    };
    await expect(withModel(chat, text)).rejects.toMatchObject({ code: 'too-large' });
    expect(sent).toBeLessThan(responseBytes * 4);
  });

  it('by a longer answer than it was allowed is refused', async () => {
    const asked = withModel(
      () => 'word '.repeat(10_000),
      (model) => model.text({ prompt: 'a', maxOutputTokens: 10 }),
    );
    await expect(asked).rejects.toMatchObject({ code: 'too-large' });
  });

  it('by redirecting elsewhere gets no second request, for the key would go along', async () => {
    const asked = withModel(
      () => (response) => {
        response.writeHead(307, { location: 'http://127.0.0.1:9/v1' });
        response.end();
      },
      text,
      { retries: 0 },
    );
    await expect(asked).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('to be there is unavailable', async () => {
    const gone = await serveChat(() => '');
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    const env = { THROUGHLINE_MODEL: 'local/reader-1', THROUGHLINE_MODEL_URL: url };
    const model = await modelFromEnv(env, { retries: 0 });
    await expect(model?.text({ prompt: 'a' })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is not waited for by who gave the call up', async () => {
    const stop = new AbortController();
    const asked = withModel(
      () => () => stop.abort(new Error('no longer needed')),
      (model) => model.text({ prompt: 'a', signal: stop.signal }),
    );
    await expect(asked).rejects.toThrow('no longer needed');
  });
});
