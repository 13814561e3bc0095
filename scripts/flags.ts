import { parseArgs, type ParseArgsConfig } from 'node:util';

type Flags = NonNullable<ParseArgsConfig['options']>;
type Values<F extends Flags> = ReturnType<typeof parseArgs<{ options: F }>>['values'];

/** Reads a script's flags. Any other word is told with the flags that there are, and the process exits 2. */
export function readFlags<const F extends Flags>(options: F): Values<F> {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error;
    const there = Object.entries(options).map(([name, { type }]) =>
      type === 'string' ? `--${name} …` : `--${name}`,
    );
    console.error(`${error.message.split('. ')[0]}. There is ${there.join(', ')}.`);
    return process.exit(2);
  }
}
