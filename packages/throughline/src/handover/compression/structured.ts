import { limits } from '../../model/limits.ts';
import { gapMark, type Cut, type Unit } from './units.ts';

/** Takes the white space between the tokens of JSON out; every other byte stays. */
export function minifyJson(text: string): string {
  return text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/gs, (found) =>
    found.startsWith('"') ? found : '',
  );
}

/** One element of an array or one member of an object, as a range of the minified text. */
type Range = readonly [from: number, to: number];

interface Container {
  readonly from: number;
  readonly to: number;
  readonly isArray: boolean;
  readonly children: readonly Range[];
}

/** Children of the container that opens at `from`, without recursion. */
function containerAt(json: string, from: number): Container | undefined {
  const isArray = json[from] === '[';
  if (!isArray && json[from] !== '{') return undefined;
  const children: Range[] = [];
  let depth = 0;
  let start = from + 1;
  for (let at = from; at < json.length; at++) {
    const char = json[at];
    if (char === '"') {
      at += 1;
      while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
    } else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') {
      depth -= 1;
      if (depth > 0) continue;
      if (at > start) children.push([start, at]);
      return { from, to: at + 1, isArray, children };
    } else if (char === ',' && depth === 1) {
      children.push([start, at]);
      start = at + 1;
    }
  }
  return undefined;
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
    const value = isArray ? largest[0] : valueStart(json, largest[0]);
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

/** Where the value of a member begins, behind its key and colon. */
function valueStart(json: string, from: number): number {
  let at = from + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 2;
}

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
    join: (kept) => {
      const parts = withGaps(units, kept, mark);
      return [`${frame[0]}${parts.join(',')}${frame[1]}`];
    },
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

function withGaps(units: readonly Unit[], kept: readonly number[], mark: string): string[] {
  const parts: string[] = [];
  let next = 1;
  for (const at of kept) {
    if (at === 0) continue;
    if (at > next) parts.push(mark);
    parts.push(units[at]?.text ?? '');
    next = at + 1;
  }
  if (next < units.length) parts.push(mark);
  return parts;
}

export function wholeUnit(text: string, count: (text: string) => number): Cut {
  const tokens = count(text);
  return {
    units: [{ text, tokens, block: 0, title: '', along: [] }],
    mark: '',
    join: (kept) => (kept.length > 0 ? [text] : []),
  };
}

/** Keys under which agent frameworks name the call that a message makes or answers. */
const callKeys: ReadonlySet<string> = new Set([
  'tool_call_id',
  'toolCallId',
  'tool_use_id',
  'toolUseId',
  'call_id',
  'callId',
]);
/** Types and keys of objects whose `id` is that of a call. */
const callTypes: ReadonlySet<unknown> = new Set([
  'tool_use',
  'function',
  'function_call',
  'tool_call',
  'tool-call',
]);
const callHolders: ReadonlySet<string> = new Set([
  'tool_calls',
  'toolCalls',
  'functionCall',
  'functionResponse',
  'toolUse',
]);

/** Keys of calls and of answers by frameworks that give them no ids: what comes n-th answers the n-th. */
const sides: Readonly<Record<string, 'call' | 'answer'>> = {
  functionCall: 'call',
  function_call: 'call',
  functionResponse: 'answer',
  function_response: 'answer',
};

/**
 * For each row, the next of the rows that share a call with it, over any number of steps: a ring, so
 * that one of them leads to all.
 */
export function callGroups(rows: readonly string[]): number[][] {
  const leader = rows.map((_, at) => at);
  const find = (at: number): number => {
    let root = at;
    while (leader[root] !== root) {
      leader[root] = leader[leader[root] ?? root] ?? root;
      root = leader[root] ?? root;
    }
    return root;
  };
  const firstWith = new Map<string, number>();
  const turns = new Map<string, number>();
  for (const [at, row] of rows.entries()) {
    for (const id of callsIn(row, turns)) {
      const first = firstWith.get(id);
      if (first === undefined) firstWith.set(id, at);
      else leader[find(at)] = find(first);
    }
  }
  const groups = new Map<number, number[]>();
  for (const at of rows.keys()) {
    const members = groups.get(find(at));
    if (members === undefined) groups.set(find(at), [at]);
    else members.push(at);
  }
  const next: number[][] = rows.map(() => []);
  for (const members of groups.values()) {
    if (members.length < 2) continue;
    for (const [place, at] of members.entries()) {
      next[at] = [members[(place + 1) % members.length] ?? at];
    }
  }
  return next;
}

/**
 * Ids of the calls that a row makes or answers.
 *
 * @param turns How many calls and answers without an id there were so far, by side and name.
 */
function callsIn(row: string, turns: Map<string, number>): Set<string> {
  const ids = new Set<string>();
  if (!/call|tool|function|jsonrpc/i.test(row)) return ids;
  let value: unknown;
  try {
    value = JSON.parse(row);
  } catch {
    return ids;
  }
  const stack: { readonly value: unknown; readonly key: string }[] = [{ value, key: '' }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (Array.isArray(next.value)) {
      for (const inner of next.value) stack.push({ value: inner, key: next.key });
    } else if (typeof next.value === 'object' && next.value !== null) {
      const fields = Object.entries(next.value);
      const isCall =
        callHolders.has(next.key) ||
        fields.some(([key, of]) => key === 'jsonrpc' || (key === 'type' && callTypes.has(of)));
      const { role, name, id } = Object.fromEntries(fields);
      const side = sides[next.key] ?? (role === 'function' ? 'answer' : undefined);
      if (side !== undefined && typeof name === 'string' && id === undefined) {
        const turn = turns.get(`${side} ${name}`) ?? 0;
        turns.set(`${side} ${name}`, turn + 1);
        ids.add(JSON.stringify([name, turn]));
      }
      for (const [key, inner] of fields) {
        if (typeof inner === 'object') stack.push({ value: inner, key });
        else if (callKeys.has(key) || (key === 'id' && isCall)) ids.add(String(inner));
      }
    }
  }
  return ids;
}

/** Cuts CSV between its records; the header comes along with each. Quoted line ends don't count. */
export function cutCsv(text: string, count: (text: string) => number): Cut {
  const [head = '', ...rows] = csvRecords(text);
  if (rows.length < 2) return wholeUnit(text, count);
  const alone = rows.map(() => []);
  return lines(head, rows, count, alone);
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
    join: (kept) => {
      const parts = withGaps(units, kept, `${gapMark}\n`);
      return [head, ...parts.map((part) => (part.endsWith('\n') ? part : `${part}\n`))];
    },
  };
}
