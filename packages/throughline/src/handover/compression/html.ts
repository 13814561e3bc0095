import { tables } from '@joplin/turndown-plugin-gfm';
import TurndownService from 'turndown';

/** Beyond these the conversion takes too long: it is quadratic over the depth of elements. */
const longest = 2_000_000;
const deepest = 256;

/** Elements that end by themselves where the next one of their kind begins, or that have no end. */
const unclosed =
  /^(?:area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|optgroup|option|p|param|rp|rt|source|tbody|td|tfoot|th|thead|tr|track|wbr|!.*)$/i;

/** HTML as Markdown, or why it is left as it is. */
export type Converted = { readonly markdown: string } | { readonly because: string };

let converter: TurndownService | undefined;

/** Made at first use: it is not small. Nothing is escaped, since the text is for reading alone. */
function converterOf(): TurndownService {
  if (converter === undefined) {
    converter = new TurndownService({
      headingStyle: 'atx',
      codeBlockStyle: 'fenced',
      bulletListMarker: '-',
    });
    converter.use(tables);
    converter.remove(['script', 'style', 'noscript', 'template', 'iframe', 'object']);
    converter.escape = (text) => text;
  }
  return converter;
}

/** Turns HTML into Markdown: its words stay, layout and scripts go. */
export function htmlToMarkdown(html: string): Converted {
  if (html.length > longest) return { because: `it is HTML of more than ${longest} characters` };
  if (depthOf(html) > deepest) return { because: `it is HTML nested deeper than ${deepest}` };
  try {
    return { markdown: converterOf().turndown(html) };
  } catch {
    return { because: 'it is HTML that can’t be read' };
  }
}

/** How deep elements nest at most, by their tags alone. */
function depthOf(html: string): number {
  let [depth, most] = [0, 0];
  for (const [, end, name = ''] of html.matchAll(/<(\/?)([a-z!][^\s/>]{0,64})/gi)) {
    if (unclosed.test(name)) continue;
    depth = end === '/' ? Math.max(0, depth - 1) : depth + 1;
    most = Math.max(most, depth);
  }
  return most;
}
