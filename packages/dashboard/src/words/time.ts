const two = (n: number): string => String(n).padStart(2, '0');

/** Hour, minute and second in the reader's own zone. */
export function clock(timestamp: string): string {
  const date = new Date(timestamp);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

/** Day and minute in the reader's own zone. */
export function moment(timestamp: string): string {
  const date = new Date(timestamp);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${clock(timestamp).slice(0, 5)}`;
}

const steps = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [86_400, 3_600, 'h'],
  [Infinity, 86_400, 'd'],
] as const;

/** A length of time in the largest unit that fits. */
function lasting(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  const [, size, unit] = steps.find(([below]) => seconds < below) ?? steps[3];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** How long ago, in the largest unit that fits; a time ahead of ours is `just now`. */
export function ago(timestamp: string, now: number): string {
  const passed = now - Date.parse(timestamp);
  return passed >= 5_000 ? `${lasting(passed)} ago` : 'just now';
}
