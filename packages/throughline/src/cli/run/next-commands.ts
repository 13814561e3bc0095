import { defaultDataFolder } from '../data-folder.ts';

/** What a command was given that the next one needs, too. */
export interface Given {
  readonly data: string;
  readonly hub?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly agents?: string | undefined;
  readonly parallel?: number | undefined;
}

type Option = readonly [name: string, value: string | undefined];

/** Command lines that go on from a command, to be pasted as they are. */
export function nextCommands({ data, hub, keyFile, agents = 'FILE', parallel }: Given): {
  readonly resume: (runId: string) => string;
  readonly showCase: (id: string) => string;
  readonly serve: () => string;
} {
  const folder: Option = ['--data', data === defaultDataFolder ? undefined : data];
  const where: readonly Option[] = [folder, ['--hub', hub], ['--key-file', keyFile]];
  return {
    resume: (runId) =>
      line(
        ['run', '--resume', runId, '--agents', agents],
        [...where, ['--parallel', parallel?.toString()]],
      ),
    showCase: (id) => line(['case', 'show', id], where),
    serve: () => line(['serve'], [folder]),
  };
}

function line(words: readonly string[], options: readonly Option[]): string {
  const given = options.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  return ['throughline', ...words, ...given].map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
