import { Parser } from 'htmlparser2';

/** Beyond these a page stays as it is: the parser takes quadratic time over the depth of elements. */
const longest = 2_000_000;
const deepest = 256;
/** Levels of lists that are set in. */
const deepestIndent = 8;
/** Empty cells of a page that stand for those over several columns or rows, and columns that these reach to. */
const mostSpanned = 10_000;
const widestSpan = 100;

/** HTML as Markdown with the kinds of elements that are not in it, or why it is left as it is. */
export type Converted =
  | { readonly markdown: string; readonly leftOut: readonly string[] }
  | { readonly because: string };

/** What carries no text for readers. */
const unread: ReadonlySet<string> = new Set(
  'script style noscript template iframe object'.split(' '),
);

/** Elements that stand within a line; all others begin and end a block. */
const inline: ReadonlySet<string> = new Set(
  (
    'a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small ' +
    'rb rp rt ruby span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

interface Cell {
  readonly texts: string[];
  readonly columns: number;
  readonly rows: number;
}

interface Table {
  readonly rows: string[][];
  cell: Cell | undefined;
  /** Rows that a cell above still takes, by column. */
  readonly taken: number[];
  /** It holds another table, so that it only lays the page out: its cells are blocks. */
  isLayout: boolean;
}

interface Page {
  readonly blocks: string[];
  /** Pieces of the block that is open. */
  line: string[];
  /** What stands before the next block: a heading's or an entry's mark. */
  mark: string;
  readonly lists: { next: number | undefined }[];
  readonly tables: Table[];
  quotes: number;
  /** Levels of `pre`, and of elements that are not read. */
  pre: number;
  skipped: number;
  readonly leftOut: Set<string>;
  /** The link that is open, with where its text begins in the line. */
  link: { readonly href: string; from: number } | undefined;
  spanned: number;
}

/**
 * Turns HTML into Markdown: its words stay as they are, unescaped, since the text is for reading alone;
 * layout and scripts go. Headings, lists, quotations, code blocks, links and tables are marked; of
 * tables within tables the innermost are tables.
 */
export function htmlToMarkdown(html: string): Converted {
  if (html.length > longest) return { because: `it is HTML of more than ${longest} characters` };
  const page: Page = {
    blocks: [],
    line: [],
    mark: '',
    lists: [],
    tables: [],
    link: undefined,
    spanned: 0,
    quotes: 0,
    pre: 0,
    skipped: 0,
    leftOut: new Set(),
  };
  let depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (depth > deepest) parser.pause();
      else open(page, name, attributes);
    },
    ontext: (text) => {
      if (page.skipped === 0) page.line.push(text);
    },
    onclosetag: (name) => {
      depth -= 1;
      close(page, name);
    },
  });
  parser.write(html);
  if (depth > deepest) return { because: `it is HTML nested deeper than ${deepest}` };
  parser.end();
  flush(page);
  return { markdown: page.blocks.join(''), leftOut: [...page.leftOut] };
}

type Attributes = Readonly<Record<string, string>>;

const opens: Readonly<Record<string, (page: Page, attributes: Attributes) => void>> = {
  pre: (page) => {
    // A table of one row with code in it only sets the lines' numbers beside them.
    const table = page.tables.at(-1);
    if (table !== undefined && table.rows.length < 2) layOut(page, table);
    page.pre += 1;
  },
  blockquote: (page) => void (page.quotes += 1),
  ul: (page) => void page.lists.push({ next: undefined }),
  ol: (page, { start }) => void page.lists.push({ next: wholeOf(start, 1) }),
  li: (page, { value }) => {
    const list = page.lists.at(-1);
    if (list?.next !== undefined) list.next = wholeOf(value, list.next);
    page.mark = list?.next === undefined ? '- ' : `${list.next++}. `;
  },
  br: (page) => void page.line.push(page.pre > 0 ? '\n' : '\0'),
  hr: (page) => {
    if (page.tables.at(-1)?.cell === undefined) block(page, '---');
  },
  q: quotationMark,
  img: (page, { alt = '', src = '' }) => {
    if (alt.trim() !== '') page.line.push(link(`!${bracketed(alt)}`, src));
  },
  a: (page, { href }) => {
    endLink(page);
    page.link = isTelling(href) && page.pre === 0 ? { href, from: page.line.length } : undefined;
  },
  table: (page) => {
    const outer = page.tables.at(-1);
    if (outer !== undefined) layOut(page, outer);
    page.tables.push({ rows: [], cell: undefined, taken: [], isLayout: false });
  },
  tr: (page) => {
    closeCell(page);
    beginRow(page.tables.at(-1));
  },
  td: openCell,
  th: openCell,
};

const closes: Readonly<Record<string, (page: Page) => void>> = {
  pre: (page) => void (page.pre -= 1),
  blockquote: (page) => void (page.quotes -= 1),
  ul: (page) => void page.lists.pop(),
  ol: (page) => void page.lists.pop(),
  li: (page) => void (page.mark = ''),
  q: quotationMark,
  a: (page) => {
    endLink(page);
    page.link = undefined;
  },
  table: (page) => {
    closeCell(page);
    const table = page.tables.pop();
    if (table !== undefined && !table.isLayout) writeTable(page, table.rows);
  },
  td: closeCell,
  th: closeCell,
};

function open(page: Page, name: string, attributes: Attributes): void {
  if (unread.has(name)) {
    page.leftOut.add(name);
    page.skipped += 1;
  }
  if (page.skipped > 0) return;
  toNext(page, name);
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) page.mark += `${'#'.repeat(Number(level))} `;
  opens[name]?.(page, attributes);
}

function close(page: Page, name: string): void {
  if (unread.has(name)) page.skipped -= 1;
  if (page.skipped > 0 || unread.has(name)) return;
  toNext(page, name);
  if (/^h[1-6]$/.test(name)) page.mark = '';
  closes[name]?.(page);
}

/** Blocks within code are its lines. */
function toNext(page: Page, name: string): void {
  if (inline.has(name) || name === 'br') return;
  if (page.pre === 0 || name === 'pre') flush(page);
  else if (page.line.length > 0 && page.line.at(-1)?.endsWith('\n') !== true) page.line.push('\n');
}

/** Writes the open block, or adds it to the cell that it stands in. */
function flush(page: Page): void {
  endLink(page);
  const text = page.line.join('');
  page.line = [];
  if (page.link !== undefined) page.link.from = 0;
  const cell = page.tables.at(-1)?.cell;
  if (page.pre > 0 && cell === undefined) {
    if (text.trim() !== '') block(page, fenced(text.replace(/^\r?\n/, '').trimEnd()));
    return;
  }
  const flat = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
  if (cell !== undefined) cell.texts.push(flat.replaceAll('\0', ' ').trim());
  else {
    const lines = flat.split('\0').map((line) => line.replaceAll(/^ | $/g, ''));
    block(page, lines.join('\n').trim());
  }
}

/** Entries of lists stand line by line, all else behind a blank line. */
function block(page: Page, text: string): void {
  if (text === '') return;
  const { lists, mark, blocks } = page;
  page.mark = '';
  const isEntry = lists.length > 0 && mark !== '';
  const levels = Math.min(lists.length - 1, deepestIndent);
  const first = `${page.quotes > 0 ? '> ' : ''}${'  '.repeat(Math.max(0, levels))}`;
  const rest = `${first}${lists.length > 0 ? '  ' : ''}`;
  const begin = mark === '' ? rest : `${first}${mark}`;
  const between = blocks.length === 0 ? '' : isEntry ? '\n' : '\n\n';
  blocks.push(`${between}${begin}${text.replaceAll('\n', `\n${rest}`)}`);
}

function fenced(text: string): string {
  const runs = text.match(/`{3,}/g) ?? [];
  const fence = '`'.repeat(runs.reduce((most, run) => Math.max(most, run.length + 1), 3));
  return `${fence}\n${text}\n${fence}`;
}

/** Marks the text of the open link; a link over blocks is that of the first one that has text. */
function endLink(page: Page): void {
  if (page.link === undefined) return;
  const { href, from } = page.link;
  const text = page.line.slice(from).join('').replaceAll('\0', '');
  if (text.trim() === '') return;
  page.line.splice(from, 0, '[');
  page.line.push(link(']', href));
  page.link = undefined;
}

function quotationMark({ line }: Page): void {
  line.push('"');
}

function beginRow(table: Table | undefined): void {
  if (table === undefined) return;
  const done = table.rows.at(-1)?.length ?? 0;
  for (const [column, rows] of table.taken.entries()) {
    if (table.rows.length > 0 && column >= done && rows > 0) table.taken[column] = rows - 1;
  }
  table.rows.push([]);
}

function openCell(page: Page, { colspan, rowspan }: Attributes): void {
  // Its predecessor may never have been closed.
  closeCell(page);
  const table = page.tables.at(-1);
  if (table === undefined || table.isLayout) return;
  table.cell = { texts: [], columns: wholeOf(colspan, 1), rows: wholeOf(rowspan, 1) };
}

function closeCell(page: Page): void {
  const table = page.tables.at(-1);
  if (table?.cell === undefined) return;
  const { texts, columns, rows } = table.cell;
  table.cell = undefined;
  if (table.rows.length === 0) beginRow(table);
  const row = table.rows.at(-1) ?? [];
  const { taken } = table;
  for (let left = taken[row.length] ?? 0; left > 0; left = taken[row.length] ?? 0) {
    if (!hasRoom(page, 1)) break;
    taken[row.length] = left - 1;
    row.push('');
  }
  const from = row.length;
  row.push(texts.filter((text) => text !== '').join(' '));
  if (from + columns > widestSpan || !hasRoom(page, columns - 1)) return;
  for (let more = 1; more < columns; more += 1) row.push('');
  if (rows < 2 && taken.length <= from) return;
  for (let column = taken.length; column < from; column += 1) taken.push(0);
  for (let column = from; column < row.length; column += 1) taken[column] = Math.max(0, rows - 1);
}

/** Whether so many more empty cells may stand for those over several columns or rows. */
function hasRoom(page: Page, cells: number): boolean {
  if (page.spanned + cells > mostSpanned) return false;
  page.spanned += Math.max(0, cells);
  return true;
}

/** What a table has so far goes out, and its cells are blocks from now on. */
function layOut(page: Page, table: Table): void {
  if (table.isLayout) return;
  closeCell(page);
  table.isLayout = true;
  for (const text of table.rows.flat()) block(page, text);
}

function writeTable(page: Page, rows: readonly (readonly string[])[]): void {
  const [head = [], ...rest] = rows.filter((row) => row.some((cell) => cell !== ''));
  if (rest.length === 0 || rows.every((row) => row.length < 2)) {
    for (const text of [head, ...rest].flat()) block(page, text);
    return;
  }
  block(page, [head, head.map(() => '---'), ...rest].map(tableRow).join('\n'));
}

const tableRow = (row: readonly string[]): string =>
  `| ${row.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;

const bracketed = (text: string): string => `[${text}]`;
const link = (text: string, href: string): string =>
  /^(?:data|javascript):/i.test(href) ? text : `${text}(${href.replaceAll(/\s+/g, '')})`;
const isTelling = (href: string | undefined): href is string =>
  href !== undefined && href !== '' && !/^(?:#|javascript:|data:)/i.test(href);
function wholeOf(text: string | undefined, otherwise: number): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isSafeInteger(number) ? number : otherwise;
}
