import { z } from 'zod';
import { ThroughlineError } from '../errors.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { isLocalHost } from './local-host.ts';
import type { AiModelOptions } from './ai-sdk.ts';
import type { Model } from './model.ts';

const environment = z.object({
  THROUGHLINE_MODEL: z
    .string()
    .max(255)
    .regex(/^[^/\s]+\/\S+$/, 'write provider/model, as in openai/gpt-5'),
  THROUGHLINE_MODEL_URL: z.url({ protocol: /^https?$/ }).optional(),
  THROUGHLINE_MODEL_KEY: z.string().min(1).optional(),
});

/**
 * The model that the environment names: `THROUGHLINE_MODEL` as `provider/model`. With
 * `THROUGHLINE_MODEL_URL` it is asked over the OpenAI-compatible API at that base URL, with
 * `THROUGHLINE_MODEL_KEY` as its key; without, through the AI Gateway and its own variables.
 *
 * @returns undefined when no model is named.
 * @throws ThroughlineError `invalid` for a variable that is wrong or a URL that would carry prompts
 *   over a network in the clear, `unsupported` when the packages of the AI SDK are not installed.
 */
export async function modelFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  options: AiModelOptions = {},
): Promise<Model | undefined> {
  if ((env['THROUGHLINE_MODEL'] ?? '') === '') return undefined;
  const parsed = environment.safeParse(env);
  if (!parsed.success) {
    const problems = z.prettifyError(parsed.error);
    throw new ThroughlineError('invalid', `The environment names no usable model:\n${problems}`);
  }
  const {
    THROUGHLINE_MODEL: name,
    THROUGHLINE_MODEL_URL: url,
    THROUGHLINE_MODEL_KEY: key,
  } = parsed.data;
  const { aiModel } = await installed('ai', () => import('./ai-sdk.ts'));
  if (url === undefined) return aiModel(name, { name, ...options });
  assertPrivate(url);
  const { createOpenAICompatible } = await installed(
    '@ai-sdk/openai-compatible',
    () => import('@ai-sdk/openai-compatible'),
  );
  const [provider = '', ...rest] = name.split('/');
  const service = createOpenAICompatible({
    name: provider,
    baseURL: url,
    ...(key !== undefined && { apiKey: key }),
    supportsStructuredOutputs: true,
    fetch: boundedFetch,
  });
  return aiModel(service(rest.join('/')), { name, ...options });
}

function assertPrivate(url: string): void {
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    throw new ThroughlineError(
      'invalid',
      'THROUGHLINE_MODEL_URL holds a user or password; put the key into THROUGHLINE_MODEL_KEY.',
    );
  }
  if (protocol === 'http:' && !isLocalHost(hostname)) {
    throw new ThroughlineError(
      'invalid',
      'THROUGHLINE_MODEL_URL is plain http to another machine; use https, or a model on localhost.',
    );
  }
}

/** The AI SDK is an optional peer: its absence is said in words. */
async function installed<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) {
      throw error;
    }
    throw new ThroughlineError(
      'unsupported',
      `Talking to models needs the package ${name}: npm install ai @ai-sdk/openai-compatible`,
      { cause: error },
    );
  }
}
