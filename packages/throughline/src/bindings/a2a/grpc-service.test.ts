import { EventEmitter } from 'node:events';
import { StreamResponse } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { paced } from './grpc-service.ts';
import type { Events } from './methods.ts';

class Call extends EventEmitter {
  cancelled = false;
  writableNeedDrain = true;
}

/** Events without end, which say when nobody asks for more. */
async function* endless(ended: () => void): Events {
  try {
    for (;;) yield StreamResponse.fromJSON({ message: { messageId: 'one' } });
  } finally {
    ended();
  }
}

it('ends a stream of which nothing is read, and what fed it', async () => {
  const ended = Promise.withResolvers<undefined>();
  const events = paced(
    new Call(),
    endless(() => ended.resolve(undefined)),
    20,
  );
  await events.next();
  await expect(events.next()).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('subscribe to its task again'),
  });
  await ended.promise;
});

it('goes on as soon as a reader goes on', async () => {
  const call = new Call();
  const events = paced(
    call,
    endless(() => undefined),
  );
  await events.next();
  const next = events.next();
  setImmediate(() => call.emit('drain'));
  expect((await next).done).toBe(false);
});

it('ends without a word where the reader went away', async () => {
  const call = new Call();
  const events = paced(
    call,
    endless(() => undefined),
  );
  await events.next();
  const next = events.next();
  setImmediate(() => call.emit('cancelled'));
  expect((await next).done).toBe(true);
});
