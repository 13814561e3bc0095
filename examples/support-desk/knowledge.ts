/** The bank's knowledge documents: reading, citing verbatim, searching (BM25). */
import { readFileSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { z } from 'zod';

const documentSchema = z.object({ id: z.string(), title: z.string(), content: z.string() });

/** One knowledge document as delivered with the example. */
export type KnowledgeDocument = z.infer<typeof documentSchema>;

/** A part of a document, cut verbatim: `content.slice(start, end) === text`. */
export interface Span {
  documentId: string;
  start: number;
  end: number;
  text: string;
}

/** A document found by a search. Scores compare within one search only. */
export interface Hit {
  documentId: string;
  score: number;
}

/** True for documents that customers may not read: "Internal: …", "… (Internal)", "(Internal) …". */
export function isInternal(title: string): boolean {
  return /\bInternal\b/.test(title);
}

function load(): Map<string, KnowledgeDocument> {
  const text = readFileSync(new URL('data/documents.json', import.meta.url), 'utf8');
  const read = z.array(documentSchema).parse(JSON.parse(text));
  return new Map(read.map((document) => [document.id, document]));
}

let loaded: Map<string, KnowledgeDocument> | undefined;

/** All documents by id, read once per process. */
export function documents(): ReadonlyMap<string, KnowledgeDocument> {
  loaded ??= load();
  return loaded;
}

/** The document with this id. Throws for an id nobody delivered. */
export function documentOf(documentId: string): KnowledgeDocument {
  const found = documents().get(documentId);
  if (found === undefined) throw new Error(`No knowledge document ${JSON.stringify(documentId)}`);
  return found;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
/** List bullets, numbering and heading marks: they aren't part of the sentence. */
const lead = /^\s*(?:[-*•]\s+|\d+[.)]\s+|#+\s+)?/;

/** The span between two offsets, without the white space around it. */
function cut(document: KnowledgeDocument, start: number, end: number): Span {
  const raw = document.content.slice(start, end);
  const from = start + (raw.length - raw.trimStart().length);
  const to = start + raw.trimEnd().length;
  return {
    documentId: document.id,
    start: from,
    end: to,
    text: document.content.slice(from, to),
  };
}

/** The sentences of a document, in order. A line break always ends a sentence; headings are left out. */
export function sentencesOf(document: KnowledgeDocument): Span[] {
  const spans: Span[] = [];
  let offset = 0;
  for (const line of document.content.split('\n')) {
    if (!line.trimStart().startsWith('#')) {
      const skip = lead.exec(line)?.[0].length ?? 0;
      for (const part of segmenter.segment(line.slice(skip))) {
        const start = offset + skip + part.index;
        const span = cut(document, start, start + part.segment.length);
        if (/\w/.test(span.text)) spans.push(span);
      }
    }
    offset += line.length + 1;
  }
  return spans;
}

/** Sections (text under one `## ` heading), each one span. Needed where a list only means something with its lead-in. */
export function sectionsOf(document: KnowledgeDocument): Span[] {
  const starts = [
    0,
    ...[...document.content.matchAll(/^## .*$/gm)].map((heading) => heading.index),
  ];
  return starts
    .map((start, index) => cut(document, start, starts[index + 1] ?? document.content.length))
    .filter((span) => span.text.length > 0);
}

const stopWords = new Set(
  (
    'a an and are as at be been but by can could did do does for from had has have hi i if in is it its me my ' +
    'of on or our please so than that the their them there they this to us was we were what when which who ' +
    'will with would you your'
  ).split(' '),
);

/** Lower case, plural endings dropped, function words left out: the same for documents and queries. */
function processTerm(term: string): string | null {
  const lower = term.toLowerCase();
  if (stopWords.has(lower)) return null;
  if (/(?:ss|us|is)$/.test(lower) || lower.length < 4) return lower;
  return lower.replace(/ies$/, 'y').replace(/s$/, '');
}

let index: MiniSearch<KnowledgeDocument> | undefined;

function searchIndex(): MiniSearch<KnowledgeDocument> {
  if (index === undefined) {
    index = new MiniSearch<KnowledgeDocument>({ fields: ['title', 'content'], processTerm });
    index.addAll([...documents().values()]);
  }
  return index;
}

/** Options of {@link search}. */
export interface SearchOptions {
  limit?: number;
  /** Only documents for which this is true. */
  within?: (documentId: string) => boolean;
}

/** BM25+ over title and content, the library's standard parameters, best first. */
export function search(query: string, options: SearchOptions = {}): Hit[] {
  const within = options.within;
  const filter = (result: { id: unknown }): boolean => within?.(String(result.id)) ?? true;
  const found = searchIndex().search(query, { filter });
  return found
    .slice(0, options.limit ?? 20)
    .map((result) => ({ documentId: String(result.id), score: result.score }));
}
