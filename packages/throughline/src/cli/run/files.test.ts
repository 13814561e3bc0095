import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, describe, expect, it } from 'vitest';
import { jsonSchemas } from '../../model/json-schemas.ts';
import { readAgentsFile, readWorkflow } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'throughline-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

function written(text: string | Uint8Array): string {
  const path = join(folder, 'file.yaml');
  writeFileSync(path, text);
  return path;
}

const agents = `
agents:
  - { id: finder, url: 'http://127.0.0.1:4702' }
  - { id: summer, module: summer.ts, behind: hub }
`;

describe('a file of agents', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    jsonSchemas()['agents'] ?? false,
  );

  it('is read with its defaults, names its schema, and its schema takes it', () => {
    const read = readAgentsFile(
      written(`$schema: node_modules/throughline/dist/schemas/agents.json${agents}`),
    );
    expect(read).toMatchObject({
      agents: [{ id: 'finder', behind: 'hub' }, { module: 'summer.ts' }],
      limits: {},
      prices: {},
      folder,
    });
    expect(validate({ agents: [{ id: 'finder', url: 'http://127.0.0.1:4702' }] })).toBe(true);
    expect(validate({ agents: [{ id: 'finder' }] })).toBe(false);
    expect(validate({ agents: [{ id: 'finder', url: 'http://a/', module: 'a.ts' }] })).toBe(false);
  });

  it.each([
    ['agents: []', /agents/],
    [`${agents}  - { id: finder, module: b.ts }`, /two of them have the same id/],
    [agents.replace('http:', 'ftp:'), /must be an http or https URL/],
    [agents.replace('module: summer.ts, ', ''), /needs a url, or a module/],
    [`${agents}limits: { money: 2 }`, /limits.money: can’t be held without a price/],
    [`${agents}limit: { money: 2 }`, /limit/],
    ['agents: [', /file.yaml: is not YAML/],
    ['a: &a [*a, *a]', /file.yaml: /],
    [new Uint8Array([0xff, 0xfe]), /is not text in UTF-8/],
    ['x'.repeat(300_000), /more than 262144 bytes/],
  ])('is refused with its name and what is wrong: %.40s', (text, problem) => {
    expect(() => readAgentsFile(written(text))).toThrow(problem);
  });

  it('that is not there is refused by its name, like a workflow', () => {
    expect(() => readAgentsFile(join(folder, 'none.yaml'))).toThrow(/none.yaml: can’t be read/);
    expect(() => readWorkflow(written('name: x'))).toThrow(/file.yaml: The workflow is not valid/);
  });
});
