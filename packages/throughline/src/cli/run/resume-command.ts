/** What a command was given that the next one needs, too. */
export interface Given {
  readonly data: string;
  readonly hub?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly agents?: string | undefined;
  readonly parallel?: number | undefined;
}

/** The command line that goes on with a run, to be pasted as it is. */
export function resumeCommand(runId: string, given: Given, defaultData: string): string {
  const { data, hub, keyFile, agents = 'FILE', parallel } = given;
  const options: readonly (readonly [name: string, value: string | undefined])[] = [
    ['--resume', runId],
    ['--agents', agents],
    ['--data', data === defaultData ? undefined : data],
    ['--hub', hub],
    ['--key-file', keyFile],
    ['--parallel', parallel?.toString()],
  ];
  const words = options.flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  return ['throughline', 'run', ...words].map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
