import { useEffect, useState } from 'react';

const everyMs = 5_000;

/** The time, for words such as `3 min ago`. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
