export const figure = (n: number): string => n.toLocaleString('en');

/** `1 task`, `1,204 tasks`. */
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${figure(n)} ${n === 1 ? one : many}`;

/** As the beginning of a sentence. */
export const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const units = ['B', 'KiB', 'MiB', 'GiB'] as const;

export function bytes(size: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(size, 1)) / 10), units.length - 1);
  const value = size / 1_024 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`;
}
