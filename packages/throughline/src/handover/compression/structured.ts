import { limits } from '../../model/limits.ts';
import { callGroups } from './calls.ts';
import { containerAt, endOfString, type Container } from './json-values.ts';
import { gapMark, withGaps, type Cut, type Unit } from './units.ts';

/** Takes the white space between the tokens of JSON out; every other byte stays. */
export function minifyJson(text: string): string {
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/gs, (found) =>
    found.startsWith('"') ? found : '',
  );
}

/** A container holds its rows when no one child makes up more than this share of it. */
const dominantShare = 0.6;

/** Goes down to the container that holds what repeats: rows, messages, members. */
function rowsOf(json: string): Container | undefined {
  let container = containerAt(json, 0);
  for (let depth = 0; container !== undefined && depth < limits.jsonDepth; depth++) {
    const { children, isArray, from, to } = container;
    const largest = children.toSorted(([a, b], [c, d]) => d - c - (b - a))[0];
    if (largest === undefined) return undefined;
    if (largest[1] - largest[0] <= (to - from) * dominantShare) return container;
    if (callGroups(childrenOf(json, container))[children.indexOf(largest)]?.length !== 0) {
      return container;
    }
    // Behind the key and its colon, where it is a member.
    const value = isArray ? largest[0] : endOfString(json, largest[0]) + 2;
    const inner = containerAt(json, value);
    if (inner === undefined) return children.length > 1 ? container : undefined;
    container = inner;
  }
  return undefined;
}

/** Elements, or each member as an object of its own. */
const childrenOf = (json: string, { children, isArray }: Container): string[] =>
  children.map(([from, to]) => {
    const child = json.slice(from, to);
    return isArray ? child : `{${child}}`;
  });

/**
 * Cuts minified JSON between the elements (or members) of the container that holds most of it; what
 * is around it stays. A call and its result stay together, wherever they stand. Without such a
 * container the whole is one unit.
 */
export function cutJson(json: string, count: (text: string) => number): Cut {
  const rows = rowsOf(json);
  if (rows === undefined || rows.children.length < 2) return wholeUnit(json, count);
  const frame = [json.slice(0, rows.from + 1), json.slice(rows.to - 1)] as const;
  const texts = rows.children.map(([from, to]) => json.slice(from, to));
  const together = callGroups(childrenOf(json, rows));
  const units = rowUnits(frame[0], texts, count, together, ',');
  const mark = rows.isArray ? JSON.stringify(gapMark) : `${JSON.stringify(gapMark)}:0`;
  return {
    units,
    mark: `${mark},`,
    join: (kept) => [`${frame[0]}${marked(units, kept, mark).join(',')}${frame[1]}`],
  };
}

/** The first unit is the frame that comes along with each row. */
function rowUnits(
  head: string,
  rows: readonly string[],
  count: (text: string) => number,
  together: readonly (readonly number[])[],
  separator: string,
): Unit[] {
  const frame: Unit = {
    text: head,
    tokens: count(head),
    block: 0,
    title: '',
    along: [],
    frame: true,
  };
  return [
    frame,
    ...rows.map((text, at): Unit => ({
      text,
      tokens: count(`${text}${separator}`),
      block: at + 1,
      title: '',
      along: [0, ...(together[at] ?? []).map((place) => place + 1)],
    })),
  ];
}

/** Rows behind the frame, each gap marked. */
const marked = (units: readonly Unit[], kept: readonly number[], mark: string): string[] =>
  withGaps(kept, units.length, 1).map((at) => (at === undefined ? mark : (units[at]?.text ?? '')));

export function wholeUnit(text: string, count: (text: string) => number): Cut {
  const tokens = count(text);
  return {
    units: [{ text, tokens, block: 0, title: '', along: [] }],
    mark: '',
    join: (kept) => (kept.length > 0 ? [text] : []),
  };
}

/** Cuts CSV between its records; the header comes along with each. Quoted line ends don't count. */
export function cutCsv(text: string, count: (text: string) => number): Cut {
  const [head = '', ...rows] = csvRecords(text);
  if (rows.length < 2) return wholeUnit(text, count);
  return lines(head, rows, count, []);
}

function csvRecords(text: string): string[] {
  const records: string[] = [];
  let record = '';
  let isQuoted = false;
  for (const line of text.split(/(?<=\n)/)) {
    record += line;
    isQuoted = endsQuoted(line, isQuoted);
    if (isQuoted) continue;
    records.push(record);
    record = '';
  }
  if (record !== '') records.push(record);
  return records;
}

/** A quote begins a cell only behind its delimiter: inside of a cell it is a character. */
const cellQuote = /(?:^|[,;\t|]) *"/g;

/** A quoted cell is open at the end of the line. */
function endsQuoted(line: string, before: boolean): boolean {
  let isQuoted = before;
  for (let at = 0; ;) {
    if (isQuoted) {
      const end = line.indexOf('"', at);
      if (end === -1) return true;
      isQuoted = line[end + 1] === '"';
      at = end + (isQuoted ? 2 : 1);
    } else {
      cellQuote.lastIndex = at;
      if (!cellQuote.test(line)) return false;
      at = cellQuote.lastIndex;
      isQuoted = true;
    }
  }
}

/** Names of the columns, where the first record is a header. */
export function csvColumns(text: string): string[] {
  const [head = ''] = csvRecords(text);
  return head.split(/[,;\t]/).map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
}

/** Cuts JSON Lines between the lines; a call and its result stay together. */
export function cutJsonLines(text: string, count: (text: string) => number): Cut {
  const rows = text.split(/(?<=\n)/);
  return lines('', rows, count, callGroups(rows));
}

function lines(
  head: string,
  rows: readonly string[],
  count: (text: string) => number,
  together: readonly (readonly number[])[],
): Cut {
  const units = rowUnits(head, rows, count, together, '');
  return {
    units,
    mark: `${gapMark}\n`,
    join: (kept) => [
      head,
      ...marked(units, kept, gapMark).map((part) => (part.endsWith('\n') ? part : `${part}\n`)),
    ],
  };
}
