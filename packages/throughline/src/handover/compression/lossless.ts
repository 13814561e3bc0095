import { decode, encode } from '@toon-format/toon';
import { minifyJson } from './structured.ts';

/** One way to write the same data. */
export interface Encoding {
  readonly name: 'json' | 'csv' | 'toon';
  readonly mediaType: string;
  readonly text: string;
}

/** A form this much longer in characters than the shortest is not worth counting. */
const worthCounting = 1.1;

/**
 * Ways to write the same JSON in fewer tokens: without white space, rows as CSV (which is never longer
 * than their TOON), other data as TOON. Only what was
 * proved by reading it back; data whose numbers or keys don't survive being read (1.0, 2^60, the same
 * key twice) is only minified, byte for byte.
 *
 * @param text JSON that is known to be valid, nested no deeper than the caller allows.
 */
export function encodings(text: string): Encoding[] {
  const minified = minifyJson(text);
  const json: Encoding = { name: 'json', mediaType: 'application/json', text: minified };
  const value: unknown = JSON.parse(text);
  if (!isSame(value, minified)) return [json];
  const flat = asCsv(value, minified) ?? asToon(value, minified);
  const found = flat === undefined ? [json] : [json, flat];
  const shortest = Math.min(...found.map((each) => each.text.length));
  return found.filter((each) => each.text.length <= shortest * worthCounting);
}

/** False as well for what is nested too deep to be written again. */
function isSame(value: unknown, minified: string): boolean {
  try {
    return JSON.stringify(value) === minified;
  } catch {
    return false;
  }
}

function asToon(value: unknown, minified: string): Encoding | undefined {
  try {
    const text = encode(value);
    const back: unknown = decode(text);
    return isSame(back, minified) ? { name: 'toon', mediaType: 'text/toon', text } : undefined;
  } catch {
    return undefined;
  }
}

function asCsv(value: unknown, minified: string): Encoding | undefined {
  try {
    const text = toCsv(value);
    return text !== undefined && isSame(fromCsv(text), minified)
      ? { name: 'csv', mediaType: 'text/csv', text }
      : undefined;
  } catch {
    return undefined;
  }
}

type Scalar = string | number | boolean | null;

const isScalar = (value: unknown): value is Scalar =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

function isRow(value: unknown): value is Readonly<Record<string, Scalar>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isScalar)
  );
}

/**
 * Rows with the same flat fields as CSV (RFC 4180). Numbers, true, false and null stand bare; text
 * that could be taken for one of them, or that is empty, stands in quotes.
 */
export function toCsv(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const rows: unknown[] = value;
  if (!rows.every(isRow)) return undefined;
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return undefined;
  const header = JSON.stringify(columns);
  if (!rows.every((row) => JSON.stringify(Object.keys(row)) === header)) return undefined;
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  return lines.map((line) => line.map(cell).join(',')).join('\n');
}

const bare = /^(?:-?\d[\d.eE+-]*|true|false|null)$/;

function cell(value: Scalar): string {
  if (typeof value !== 'string') return String(value);
  return value === '' || bare.test(value) || /[",\r\n]|^\s|\s$/.test(value)
    ? `"${value.replaceAll('"', '""')}"`
    : value;
}

/** Reads what `toCsv` wrote. */
export function fromCsv(text: string): Record<string, Scalar>[] {
  const cells = [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n|$)/g)];
  const lines: Scalar[][] = [[]];
  for (const [, quoted, plain = '', end] of cells) {
    lines.at(-1)?.push(quoted === undefined ? scalar(plain) : quoted.replaceAll('""', '"'));
    if (end === '\n') lines.push([]);
    if (end === '') break;
  }
  const [columns = [], ...rows] = lines;
  return rows.map((row) =>
    Object.fromEntries(columns.map((column, at) => [String(column), row[at] ?? null])),
  );
}

function scalar(text: string): Scalar {
  if (!bare.test(text)) return text;
  const value: unknown = JSON.parse(text);
  return isScalar(value) ? value : text;
}
