import { describe, expect, it } from 'vitest';
import { makeAgentContext } from '../handover/agent-context.ts';
import type { GradeSubject } from '../handover/grade.ts';
import { serveChat, type Chat } from './conformance/chat-server.ts';
import { modelFromEnv } from './from-env.ts';
import {
  criteriaGrader,
  gradeCriteria,
  type GradedCriterion,
  type GraderMeans,
} from './grade-criteria.ts';

const subject: GradeSubject = {
  context: {
    ...makeAgentContext({
      agent: { id: 'a', name: 'A' },
      subtask: { id: 's', name: 'S' },
      dependencies: [],
      items: [],
      todo: [{ id: 'sum', description: 'Add 2 and 3' }],
      criteria: [],
      confidence: 0,
    }),
    KeyInformation: [{ itemID: 'sum', outputabstract: 'The sum is 5.' }],
  },
  outputs: new Map([['long.txt', 'word '.repeat(50_000)]]),
  materials: new Map(),
};
const criterion = (
  id: string,
  grade: GradedCriterion['grade'],
  required = true,
): GradedCriterion => ({
  id,
  description: `It is ${id}`,
  required,
  grade,
});

/** A judge that works: met when the result holds the sum of the numbers in what was to be done. */
const adds: Chat = ({ prompt }) => {
  const [, todo = '', result = ''] = prompt.split('begin quoted data');
  const sum = [...todo.matchAll(/\d+/g)].reduce((total, [digits]) => total + Number(digits), 0);
  const met = new RegExp(`\\b${sum}\\b`).test(result);
  return JSON.stringify({ met, reason: `the sum is ${sum}` });
};

const named = (name: string) => criterion(name, { by: 'function', name });

async function graded(criteria: readonly GradedCriterion[], chat: Chat, means: GraderMeans = {}) {
  await using server = await serveChat(chat);
  const env = { THROUGHLINE_MODEL: 'local/judge', THROUGHLINE_MODEL_URL: server.url };
  const model = await modelFromEnv(env, { retries: 0 });
  return await gradeCriteria(criteria, subject, { model, ...means });
}

const byModel = { by: 'model', of: undefined } as const;

describe('grading by criteria', () => {
  it('asks a model, with the result as quoted data, and counts what that took', async () => {
    await using server = await serveChat(adds);
    const env = { THROUGHLINE_MODEL: 'local/judge', THROUGHLINE_MODEL_URL: server.url };
    const model = await modelFromEnv(env);
    const grade = await gradeCriteria([criterion('right', byModel)], subject, { model });
    expect(grade).toMatchObject({
      ok: true,
      criteria: [{ id: 'right', ok: true, by: 'model local/judge', reason: 'the sum is 5' }],
      usage: [{ model: 'local/judge' }],
    });
    expect(server.requests[0]?.prompt).toContain('begin quoted data: result -----\nThe sum is 5.');
    expect(server.requests[0]?.system).not.toContain('The sum is 5.');
  });

  it('is met as a whole when every required criterion is; of the others it only says', async () => {
    const no = {
      by: 'pattern',
      of: undefined,
      pattern: '7',
      ignoreCase: false,
      absent: false,
    } as const;
    const grade = await gradeCriteria([criterion('seven', no, false)], subject);
    expect(grade).toMatchObject({ ok: true, criteria: [{ id: 'seven', ok: false }] });
    const failed = await gradeCriteria(
      [criterion('seven', no), criterion('open', undefined)],
      subject,
    );
    expect(failed).toMatchObject({ ok: false, criteria: [{ id: 'seven' }] });
    expect(failed.reason).toContain('criterion seven: 7 is not in');
  });

  it('runs a function by its name, and one that throws leaves its criterion unmet', async () => {
    const functions: GraderMeans['functions'] = {
      five: ({ context }) => ({
        ok: /5/.test(context.KeyInformation[0]?.outputabstract ?? ''),
        reason: 'five',
      }),
      broken: () => {
        throw new Error('a secret of the process');
      },
    };
    const grade = await gradeCriteria([named('five'), named('broken')], subject, { functions });
    expect(grade.criteria).toMatchObject([
      { id: 'five', ok: true, by: 'function five' },
      { id: 'broken', ok: false, reason: 'not graded: it threw' },
    ]);
    for (const missing of ['six', 'constructor']) {
      const asked = gradeCriteria([named(missing)], subject, { functions });
      await expect(asked).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  it('refuses to ask a model that is not there', async () => {
    const asked = gradeCriteria([criterion('right', byModel)], subject);
    await expect(asked).rejects.toMatchObject({ code: 'invalid' });
  });

  it('leaves a criterion unmet when the judge gives no judgement, and fails when it can’t be asked', async () => {
    const vague = await graded([criterion('right', byModel)], () => 'Looks fine to me!');
    expect(vague.criteria).toMatchObject([{ ok: false }]);
    expect(vague.reason).toContain('not graded');
    expect(vague.usage).toMatchObject([
      { model: expect.any(String), inputTokens: expect.any(Number) },
    ]);
    const away = graded([criterion('right', byModel)], () => (response) => {
      response.writeHead(503);
      response.end();
    });
    await expect(away).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('reads a text as a whole or not at all', async () => {
    const long = criterion('long', { by: 'model', of: { output: 'long.txt' } });
    const grade = await graded([long], adds);
    expect(grade.reason).toContain('50001 tokens, and 32000 are read at most');
    expect(grade.usage).toEqual([]);
  });
});

const request = (criteria: readonly GradedCriterion[]) => {
  const read: string[] = [];
  const context = {
    ...subject.context,
    ContextItems: [
      {
        ContextID: 'paper',
        ContextType: 'text' as const,
        MediaType: 'text/plain',
        ContextURI: 'https://hub.example/content/paper',
        Description: '',
        Priority: 'compressible' as const,
      },
    ],
  };
  const texts: Readonly<Record<string, string>> = {
    'a.json': '{"citations":[{"contextId":"paper","quote":"five"}]}',
    paper: 'It is five.',
  };
  const text = (name: string) => {
    read.push(name);
    return Promise.resolve(texts[name]);
  };
  return { read, request: { subtask: { criteria }, context, output: text, material: text } };
};

describe('a grader made of the workflow’s criteria', () => {
  const cites = criterion('cites', { by: 'citations', of: { output: 'a.json' }, least: 1 });

  it('reads what its graders look at', async () => {
    const { read, request: asked } = request([cites]);
    expect(await criteriaGrader()(asked)).toMatchObject({ ok: true, criteria: [{ id: 'cites' }] });
    expect(read).toEqual(['a.json', 'paper']);
  });

  it('has no opinion, and reads nothing, where no criterion asks for it', async () => {
    const { read, request: asked } = request([criterion('open', undefined)]);
    expect(await criteriaGrader()(asked)).toBeUndefined();
    expect(read).toEqual([]);
  });

  it('decides those that ask for nothing by another, where one is named', async () => {
    const { request: asked } = request([criterion('open', undefined)]);
    const otherwise = { by: 'function', name: 'no' } as const;
    const functions = { no: () => ({ ok: false, reason: 'no' }) };
    expect(await criteriaGrader({ otherwise, functions })(asked)).toMatchObject({
      ok: false,
      criteria: [{ id: 'open', by: 'function no' }],
    });
  });
});
