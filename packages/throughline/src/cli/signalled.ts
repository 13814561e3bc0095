/** Resolves at the first signal to end; a second one ends the process at once. */
export function signalled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => resolve(undefined));
  }
  return promise;
}
