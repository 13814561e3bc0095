import type { ContextItem } from '../../model/agent-context.ts';
import { isJson } from '../media.ts';

/** How a text can be cut; `whole` stays in one piece. */
type TextKind = 'prose' | 'code' | 'html' | 'json' | 'json-lines' | 'csv' | 'whole';

export interface KindFound {
  readonly kind: TextKind;
  /** Why it stays whole. */
  readonly because?: string;
}

const wholes: readonly (readonly [RegExp, string])[] = [
  [/^(?:text\/xml|application\/(?:[\w.-]+\+)?xml)\b/, 'XML is not cut'],
  [/\byaml\b/, 'YAML is not cut'],
];

/** Code by its media type; `text/x-markdown` is none. */
const codeTypes =
  /^(?:text\/(?:x-(?!markdown)[\w.+-]+|javascript|typescript|tsx|css)|application\/(?:javascript|typescript|sql|x-httpd-php))\b/;

/** Decides by media type, and by ContextType for code under a general type. */
export function kindOfText(item: ContextItem, text: string): KindFound {
  const type = item.MediaType.toLowerCase();
  if (/^(?:text\/html|application\/xhtml\+xml)\b/.test(type)) return { kind: 'html' };
  const because = wholes.find(([is]) => is.test(type))?.[1];
  if (because !== undefined) return { kind: 'whole', because };
  if (codeTypes.test(type) || item.ContextType === 'code') {
    return { kind: 'code', because: 'no outline is made of this code' };
  }
  if (/\/(?:x-)?(?:ndjson|jsonl|json-lines)\b/.test(type)) return { kind: 'json-lines' };
  if (isJson(type)) {
    return isValidJson(text)
      ? { kind: 'json' }
      : { kind: 'whole', because: 'it is declared as JSON and is none' };
  }
  if (/^text\/(?:csv|tab-separated-values)\b/.test(type)) return { kind: 'csv' };
  return { kind: 'prose' };
}

export function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Characters at the beginning in which unreadable ones are counted. */
const sample = 65_536;
/** One unreadable character in so many makes a text binary. */
const tooMany = 100;

/** Bytes that were decoded as text though they are none: NUL, or many that are no characters. */
export function looksBinary(text: string): boolean {
  if (text.includes('\0')) return true;
  const head = text.slice(0, sample);
  let unreadable = 0;
  for (let at = 0; at < head.length; at++) {
    if (isUnreadable(head.charCodeAt(at))) unreadable += 1;
  }
  return unreadable * tooMany > head.length;
}

/** Control characters but tab, line ends, form feed and escape; the mark of a byte that didn't decode. */
const isUnreadable = (code: number): boolean =>
  code < 0x09 || (code > 0x0d && code < 0x20 && code !== 0x1b) || code === 0xfffd;
