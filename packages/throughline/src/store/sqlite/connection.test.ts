import { expect, it } from 'vitest';
import { connect } from './connection.ts';

it('opens a database', () => {
  const db = connect(':memory:', {});
  expect(db.open).toBe(true);
  db.close();
});

it('refuses a Node in which opening one would end the process', () => {
  expect(() => connect(':memory:', {}, '9')).toThrow(
    expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('22.14') }),
  );
});
