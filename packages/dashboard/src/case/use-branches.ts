import { useState } from 'react';

export interface Branches {
  readonly closed: ReadonlySet<string>;
  readonly toggle: (key: string, open: boolean) => void;
  /** Closes these and opens all others. */
  readonly closeOnly: (keys: readonly string[]) => void;
}

/** Which branches are closed. The way to what is selected is opened when something is selected. */
export function useBranches(selected: string | undefined, path: readonly string[]): Branches {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [before, setBefore] = useState<string>();
  if (before !== selected) {
    setBefore(selected);
    setClosed(new Set([...closed].filter((key) => !path.includes(key))));
  }
  return {
    closed,
    toggle: (key, open) => {
      const others = [...closed].filter((each) => each !== key);
      setClosed(new Set(open ? others : [...others, key]));
    },
    closeOnly: (keys) => setClosed(new Set(keys)),
  };
}
