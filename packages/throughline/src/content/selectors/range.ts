import { ThroughlineError } from '../../errors.ts';
import type { Selector } from '../../model/resource.ts';

/** From the first that is selected to the first that is not; `Infinity`: to the end. */
export type Range = readonly [from: number, to: number];

/** What a selector counts along. */
export type Axis = 'byte' | 'line' | 'char' | 'row' | 'second';

/** A selector understood: ranges along one axis, or one value of a JSON text. */
export type Selection =
  | { readonly along: Axis; readonly ranges: readonly Range[] }
  | { readonly along: 'json'; readonly path: readonly string[] };

const maxRanges = 64;
/** Digits of a whole number that JavaScript holds exactly. */
const whole = String.raw`\d{1,15}`;
const decimal = String.raw`\d{1,9}(?:\.\d{1,6})?`;

interface Form {
  readonly conformsTo: Selector['conformsTo'];
  readonly axis: Axis;
  readonly pattern: RegExp;
  /** Both ends as written; absent ones are open. */
  readonly read: (from: string | undefined, to: string | undefined) => Range;
  readonly write: (range: Range) => string;
  /** Several, each with its name, after a semicolon. */
  readonly many?: true;
}

const end = (text: string | undefined): number => (text === undefined ? Infinity : Number(text));
const shown = (to: number): string => (to === Infinity ? '' : String(to));

const forms: readonly Form[] = [
  // Both ends are selected, counting from 0.
  {
    conformsTo: 'http://tools.ietf.org/rfc/rfc9110',
    axis: 'byte',
    pattern: new RegExp(`^bytes=(${whole})-(${whole})?$`),
    read: (from, to) => [Number(from), end(to) + 1],
    write: ([from, to]) => `bytes=${from}-${shown(to - 1)}`,
  },
  // Positions between lines or characters, counting from 0.
  ...(['line', 'char'] as const).map<Form>((axis) => ({
    conformsTo: 'http://tools.ietf.org/rfc/rfc5147',
    axis,
    pattern: new RegExp(`^${axis}=(${whole})?,(${whole})?$`),
    read: (from, to) => [Number(from ?? 0), end(to)],
    write: ([from, to]) => `${axis}=${from},${shown(to)}`,
  })),
  // Both ends are selected, counting from 1; a star is the last row.
  {
    conformsTo: 'http://tools.ietf.org/rfc/rfc7111',
    axis: 'row',
    pattern: new RegExp(String.raw`^row=([1-9]\d{0,14})(?:-([1-9]\d{0,14}|\*))?$`),
    read: (from, to) => [
      Number(from) - 1,
      to === undefined ? Number(from) : to === '*' ? Infinity : Number(to),
    ],
    write: ([from, to]) => `row=${from + 1}-${to === Infinity ? '*' : to}`,
    many: true,
  },
  // Seconds of normal play time.
  {
    conformsTo: 'http://www.w3.org/TR/media-frags/',
    axis: 'second',
    pattern: new RegExp(`^t=(?:npt:)?(${decimal})?(?:,(${decimal}))?$`),
    read: (from, to) => [Number(from ?? 0), end(to)],
    write: ([from, to]) => `t=${from}${to === Infinity ? '' : `,${to}`}`,
  },
];

const json = 'http://tools.ietf.org/rfc/rfc6901';

const isOf =
  (conformsTo: Selector['conformsTo']) =>
  (form: Form): boolean =>
    form.conformsTo === conformsTo;

const strange = ({ conformsTo }: Selector): ThroughlineError =>
  new ThroughlineError('invalid', `selector: is none that is served of ${conformsTo}`);

/** @throws ThroughlineError `invalid` for a fragment that is not understood or selects nothing. */
export function selectionOf(selector: Selector): Selection {
  const { conformsTo, value } = selector;
  if (conformsTo === json) return { along: 'json', path: pathOf(selector) };
  for (const { axis, pattern, read, many } of forms.filter(isOf(conformsTo))) {
    const parts = many === true ? value.split(';') : [value];
    const found = parts.map((part) => pattern.exec(part));
    if (found.length > maxRanges || found.includes(null)) continue;
    const ranges = union(found.map((match) => read(match?.[1], match?.[2])));
    if (ranges.length > 0) return { along: axis, ranges };
  }
  throw strange(selector);
}

function pathOf(selector: Selector): string[] {
  const { value } = selector;
  if (value === '') return [];
  if (!value.startsWith('/') || /~(?![01])/.test(value)) throw strange(selector);
  try {
    const segments = decodeURIComponent(value).slice(1).split('/');
    return segments.map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    throw strange(selector);
  }
}

function selectorOf(selection: Selection): Selector {
  if (selection.along === 'json') {
    const segments = selection.path.map((each) =>
      encodeURIComponent(each.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    return { conformsTo: json, value: segments.map((each) => `/${each}`).join('') };
  }
  const { along, ranges } = selection;
  const form = forms.find(({ axis }) => axis === along);
  if (form !== undefined) {
    return { conformsTo: form.conformsTo, value: ranges.map(form.write).join(';') };
  }
  throw new ThroughlineError('internal', `selector: nothing counts ${along}`);
}

/** In order, without overlaps and empty ones. */
function union(ranges: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const [from, to] of ranges.filter(([a, b]) => a < b).toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last !== undefined && from <= last[1]) all.splice(-1, 1, [last[0], Math.max(last[1], to)]);
    else all.push([from, to]);
  }
  return all;
}

/**
 * What two selectors of one thing both select; absent: all of it. Never more than either.
 *
 * @throws ThroughlineError `invalid` where nothing is left, or one is no selector; `unsupported` for
 *   two that count along different things.
 */
export function intersect(a: Selector | undefined, b: Selector | undefined): Selector | undefined {
  if (a === undefined || b === undefined) {
    const only = a ?? b;
    if (only !== undefined) selectionOf(only);
    return only;
  }
  const [one, two] = [selectionOf(a), selectionOf(b)];
  if (one.along === 'json' && two.along === 'json') {
    const [outer, inner] = one.path.length <= two.path.length ? [one, two] : [two, one];
    if (outer.path.every((each, at) => each === inner.path[at])) return selectorOf(inner);
  } else if (one.along !== 'json' && two.along === one.along) {
    const ranges = one.ranges.flatMap(([from, to]) =>
      two.ranges.map(([f, t]) => [Math.max(from, f), Math.min(to, t)] as const),
    );
    const both = union(ranges).slice(0, maxRanges);
    if (both.length > 0) return selectorOf({ along: one.along, ranges: both });
  } else {
    throw new ThroughlineError(
      'unsupported',
      `selector: one counts ${one.along}s and the other ${two.along}s; use the same for both`,
    );
  }
  throw new ThroughlineError('invalid', 'selector: nothing of it is in the part that is open');
}
