import { describe, expect, it } from 'vitest';
import { nextCommands } from './next-commands.ts';

describe('the commands that go on from one', () => {
  it('name what it was given, each what it takes', () => {
    const next = nextCommands({
      data: './my data',
      hub: 'http://127.0.0.1:4680',
      keyFile: "it's.key",
      agents: 'agents.yaml',
      parallel: 2,
    });
    const where = String.raw`--data './my data' --hub http://127.0.0.1:4680 --key-file 'it'\''s.key'`;
    expect(next.resume('tsk_1')).toBe(
      `throughline run --resume tsk_1 --agents agents.yaml ${where} --parallel 2`,
    );
    expect(next.showCase('act_1')).toBe(`throughline case show act_1 ${where}`);
    expect(next.serve()).toBe("throughline serve --data './my data'");
  });

  it('leave out what needs no word', () => {
    const next = nextCommands({ data: '.throughline' });
    expect(next.resume('tsk_1')).toBe('throughline run --resume tsk_1 --agents FILE');
    expect(next.showCase('act_1')).toBe('throughline case show act_1');
    expect(next.serve()).toBe('throughline serve');
  });
});
