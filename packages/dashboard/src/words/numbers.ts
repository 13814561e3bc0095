export const figure = (n: number): string => n.toLocaleString('en');

/** `1 task`, `1,204 tasks`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${figure(n)} ${n === 1 ? one : many}`;

/** A share as a percentage; small ones keep a decimal, so that 0.4 % is not 0 %. The sign stays with it. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}\u00a0%`;
}

const units = ['B', 'KiB', 'MiB', 'GiB'] as const;

export function bytes(size: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(size, 1)) / 10), units.length - 1);
  const value = size / 1_024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
}
