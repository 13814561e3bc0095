import { Parser } from 'htmlparser2';

/** Beyond these a page stays as it is: the parser takes quadratic time over the depth of elements. */
const longest = 2_000_000;
const deepest = 256;
/** Levels of lists that are set in. */
const deepestIndent = 8;

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
    'span strike strong sub sup time tt u var wbr'
  ).split(' '),
);

interface Table {
  readonly rows: string[][];
  /** Text of the cell that is open. */
  cell: string[] | undefined;
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
  readonly hrefs: (string | undefined)[];
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
    hrefs: [],
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
  pre: (page) => void (page.pre += 1),
  blockquote: (page) => void (page.quotes += 1),
  ul: (page) => void page.lists.push({ next: undefined }),
  ol: (page, { start }) => void page.lists.push({ next: Number.parseInt(start ?? '1', 10) || 1 }),
  li: (page) => {
    const list = page.lists.at(-1);
    page.mark = list?.next === undefined ? '- ' : `${list.next++}. `;
  },
  br: (page) => void page.line.push(page.pre > 0 ? '\n' : '\0'),
  hr: (page) => block(page, '---'),
  img: (page, { alt = '', src = '' }) => {
    if (alt.trim() !== '') page.line.push(link(`!${bracketed(alt)}`, src));
  },
  a: (page, { href }) => {
    page.hrefs.push(href);
    if (isTelling(href)) page.line.push('[');
  },
  table: (page) => {
    const outer = page.tables.at(-1);
    if (outer !== undefined) layOut(page, outer);
    page.tables.push({ rows: [], cell: undefined, isLayout: false });
  },
  tr: (page) => void page.tables.at(-1)?.rows.push([]),
  td: openCell,
  th: openCell,
};

const closes: Readonly<Record<string, (page: Page) => void>> = {
  pre: (page) => void (page.pre -= 1),
  blockquote: (page) => void (page.quotes -= 1),
  ul: (page) => void page.lists.pop(),
  ol: (page) => void page.lists.pop(),
  li: (page) => void (page.mark = ''),
  a: (page) => {
    const href = page.hrefs.pop();
    if (isTelling(href)) page.line.push(link(']', href));
  },
  table: (page) => {
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
  if (!inline.has(name) && name !== 'br') flush(page);
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) page.mark = `${'#'.repeat(Number(level))} `;
  opens[name]?.(page, attributes);
}

function close(page: Page, name: string): void {
  if (unread.has(name)) page.skipped -= 1;
  if (page.skipped > 0 || unread.has(name)) return;
  if (!inline.has(name) && name !== 'br') flush(page);
  if (/^h[1-6]$/.test(name)) page.mark = '';
  closes[name]?.(page);
}

/** Writes the open block, or adds it to the cell that it stands in. */
function flush(page: Page): void {
  const text = page.line.join('');
  page.line = [];
  const cell = page.tables.at(-1)?.cell;
  if (page.pre > 0 && cell === undefined) {
    if (text.trim() !== '') block(page, fenced(text.replace(/^\r?\n/, '').trimEnd()));
    return;
  }
  const flat = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
  if (cell !== undefined) cell.push(flat.replaceAll('\0', ' ').trim());
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

function openCell({ tables }: Page): void {
  const table = tables.at(-1);
  if (table !== undefined && !table.isLayout) table.cell = [];
}

function closeCell({ tables }: Page): void {
  const table = tables.at(-1);
  if (table?.cell === undefined) return;
  if (table.rows.length === 0) table.rows.push([]);
  table.rows.at(-1)?.push(table.cell.filter((text) => text !== '').join(' '));
  table.cell = undefined;
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
