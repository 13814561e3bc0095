import { ThroughlineError } from '../errors.ts';

/**
 * Stated limits of the port. Texts and shapes are measured in UTF-8 bytes. Two texts of this length
 * fit into one entry of an index of PostgreSQL.
 */
export const bounds = {
  textBytes: 1_024,
  shapeBytes: 8_388_608,
  sealedBytes: 16_777_216,
  depth: 64,
  rows: 100_000,
  types: 64,
  indexes: 16,
} as const;

/** Refuses what the caller gave; `field` says where. */
export function invalid(field: string, problem: string): ThroughlineError {
  return new ThroughlineError('invalid', `${field} ${problem}`, { details: { field } });
}

function tooLarge(field: string, limit: number, unit: string): ThroughlineError {
  return new ThroughlineError('too-large', `${field} is over ${limit} ${unit}`, {
    details: { field, limit },
  });
}

const longerThan = (text: string, bytes: number): boolean =>
  text.length * 3 > bytes && Buffer.byteLength(text) > bytes;

/** Engines cut at NUL and turn lone surrogates into U+FFFD, so that two ids could become one. */
function sound(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const unsound = 'must be well-formed Unicode without NUL';

export function checkText(text: unknown, field: string): asserts text is string {
  if (typeof text !== 'string') throw invalid(field, 'must be a string');
  if (!sound(text)) throw invalid(field, unsound);
  if (longerThan(text, bounds.textBytes)) throw tooLarge(field, bounds.textBytes, 'bytes');
}

export function checkTexts(
  texts: readonly unknown[],
  field: string,
  most: number = bounds.rows,
): void {
  if (texts.length > most) throw tooLarge(field, most, 'items');
  texts.forEach((text, i) => checkText(text, `${field}[${i}]`));
}

export function checkInteger(value: unknown, field: string, least?: number, most?: number): void {
  if (!Number.isSafeInteger(value)) throw invalid(field, 'must be an integer within ±2^53');
  if (least !== undefined && Number(value) < least) throw invalid(field, `is under ${least}`);
  if (most !== undefined && Number(value) > most) throw invalid(field, `is over ${most}`);
}

export function checkLimit(limit: unknown, field: string): void {
  checkInteger(limit, field, 0, bounds.rows);
}

export function checkSealed(sealed: unknown, field: string): void {
  if (sealed === undefined) return;
  if (!(sealed instanceof Uint8Array)) throw invalid(field, 'must be bytes');
  if (sealed.length > bounds.sealedBytes) throw tooLarge(field, bounds.sealedBytes, 'bytes');
}

/** More rows than a caller can be given at once. */
export function checkRows(count: number, field: string): void {
  if (count > bounds.rows) throw tooLarge(field, bounds.rows, 'rows');
}

type Path = (string | number)[];

const at = (path: Path): string => path.join('.');

/** The canonical form of RFC 8785 of a shape, refusing what is not JSON that every engine keeps. */
export function canonical(shape: unknown, field: string): string {
  const text = serialise(shape, [field]);
  if (longerThan(text, bounds.shapeBytes)) throw tooLarge(field, bounds.shapeBytes, 'bytes');
  return text;
}

function serialise(value: unknown, path: Path): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') {
    if (!sound(value)) throw invalid(at(path), unsound);
    return JSON.stringify(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw invalid(at(path), 'must be a finite number, as an integer within ±2^53');
    }
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw invalid(at(path), `must be JSON, not ${typeof value}`);
  if (path.length > bounds.depth) throw invalid(at(path), `is over ${bounds.depth} levels deep`);
  return Array.isArray(value) ? serialiseArray(value, path) : serialiseObject(value, path);
}

function serialiseArray(values: readonly unknown[], path: Path): string {
  let text = '[';
  for (let i = 0; i < values.length; i++) {
    path.push(i);
    text += (i === 0 ? '' : ',') + serialise(values[i], path);
    path.pop();
  }
  return `${text}]`;
}

function serialiseObject(value: object, path: Path): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw invalid(at(path), 'must be a plain object');
  }
  const names = Object.keys(value).toSorted();
  let text = '{';
  for (const name of names) {
    if (!sound(name)) throw invalid(at(path), `has a name that ${unsound}`);
    path.push(name);
    const member: unknown = Reflect.get(value, name);
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${serialise(member, path)}`;
    path.pop();
  }
  return `${text}}`;
}
