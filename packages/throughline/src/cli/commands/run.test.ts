import { expect, test } from 'vitest';
import { runCommand } from './run.ts';

test('takes one input a flag, so that the workflow may come after it', () => {
  const command = runCommand(process);
  const { operands } = command.parseOptions(['--input', 'a=1', '--input', 'b=2', 'ask.yaml']);
  expect(operands).toEqual(['ask.yaml']);
  expect(command.opts()).toMatchObject({ input: ['a=1', 'b=2'] });
});
