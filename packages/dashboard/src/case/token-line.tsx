import type { ReactElement } from 'react';
import { describeSent } from 'throughline/model';

const width = 100;
/** So that a small share is still seen. */
const least = 1.5;

/** Tokens sent as a thick part of the thin line that the full history would have been. */
export function TokenLine({
  sent,
  full,
}: {
  readonly sent: number;
  readonly full: number;
}): ReactElement {
  const longest = Math.max(sent, full, 1);
  return (
    <svg
      className="token-line"
      viewBox={`0 0 ${width} 6`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describeSent({ sent, fullHistory: full })}
    >
      <rect className="token-full" y="2.5" height="1" width={(full / longest) * width} />
      <rect
        className="token-sent"
        y="0"
        height="6"
        width={Math.max((sent / longest) * width, least)}
      />
    </svg>
  );
}
