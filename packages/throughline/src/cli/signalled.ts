/** How a process ends that was told to by a signal, as shells count. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Resolves at the first signal to end; a second one ends the process at once. */
export function signalled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  for (const signal of signals) process.once(signal, () => resolve(undefined));
  return promise;
}

/**
 * Tells of the first signal to end, with the exit code for it. At a second one it is told of that, and the
 * process ends at once. Gives what takes this back.
 */
export function onSignals(told: (exitCode: number) => void): () => void {
  let isFirst = true;
  const handlers = signals.map((signal) => {
    const exitCode = exitCodes[signal];
    const onSignal = (): void => {
      told(exitCode);
      if (!isFirst) process.exit(exitCode);
      isFirst = false;
    };
    process.on(signal, onSignal);
    return [signal, onSignal] as const;
  });
  return () => {
    for (const [signal, onSignal] of handlers) process.off(signal, onSignal);
  };
}
