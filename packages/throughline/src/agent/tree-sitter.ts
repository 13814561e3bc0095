import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type * as TreeSitter from 'web-tree-sitter';
import type { Node, Parser } from 'web-tree-sitter';
import { ThroughlineError } from '../errors.ts';
import type { CodeBody, ParseCode } from '../handover/compress.ts';

/** Reads code: gives, for the media types that there are, what finds the declarations in them. */
export type CodeReader = (mediaTypes: readonly string[]) => Promise<ParseCode>;

/**
 * Characters of a text, steps of the parser for it, and levels of declarations in it, at most.
 * Ordinary code takes 4 to 15 steps a thousand characters, what is no code up to 40; in steps, not
 * in time, so that one text has the same outline on any machine.
 */
const longest = 300_000;
const mostSteps = 5_000;
const deepest = 32;

/** Name of a grammar by media type, parameters and `x-` left out. */
const grammars: Readonly<Record<string, string>> = {
  'text/python': 'python',
  'text/javascript': 'javascript',
  'application/javascript': 'javascript',
  'text/typescript': 'typescript',
  'application/typescript': 'typescript',
  'text/tsx': 'tsx',
  'text/java': 'java',
  'text/java-source': 'java',
  'text/go': 'go',
  'text/rust': 'rust',
  'text/c': 'cpp',
  'text/csrc': 'cpp',
  'text/c++': 'cpp',
  'text/c++src': 'cpp',
  'text/csharp': 'c-sharp',
  'text/ruby': 'ruby',
  'text/php': 'php',
  'application/httpd-php': 'php',
};

const grammarOf = (mediaType: string): string | undefined => {
  const [type = ''] = mediaType.toLowerCase().split(';');
  return grammars[type.trim().replace('/x-', '/')];
};

/**
 * Reads code with tree-sitter: the packages `web-tree-sitter` and `@vscode/tree-sitter-wasm` must be
 * installed. Grammars are loaded once, at the first text that needs them.
 *
 * @throws ThroughlineError `unsupported` when the packages are not there.
 */
export function treeSitter(): CodeReader {
  const loaded = new Map<string, Promise<Parser>>();
  const parserOf = (grammar: string): Promise<Parser> => {
    const parser = loaded.get(grammar) ?? openParser(grammar);
    loaded.set(grammar, parser);
    return parser;
  };
  return async (mediaTypes) => {
    const parsers = new Map<string, Parser>();
    for (const grammar of new Set(mediaTypes.flatMap((type) => grammarOf(type) ?? []))) {
      parsers.set(grammar, await parserOf(grammar));
    }
    return (mediaType, text) => {
      const parser = parsers.get(grammarOf(mediaType) ?? '');
      return parser === undefined ? undefined : bodiesOf(parser, text);
    };
  };
}

async function openParser(grammar: string): Promise<Parser> {
  const { Parser: Made, Language: Grammar, file } = await packages(grammar);
  await Made.init();
  return new Made().setLanguage(await Grammar.load(await readFile(file)));
}

/** The parser, and where the grammar lies. Both packages are optional: their absence is said in words. */
async function packages(grammar: string): Promise<typeof TreeSitter & { readonly file: string }> {
  try {
    const require = createRequire(import.meta.url);
    const file = require.resolve(`@vscode/tree-sitter-wasm/wasm/tree-sitter-${grammar}.wasm`);
    return { ...(await import('web-tree-sitter')), file };
  } catch (error) {
    throw new ThroughlineError(
      'unsupported',
      'Reading code needs two packages: npm install web-tree-sitter @vscode/tree-sitter-wasm',
      { cause: error },
    );
  }
}

/** Undefined for a text that is too long or takes too many steps: it stays whole then. */
function bodiesOf(parser: Parser, text: string): readonly CodeBody[] | undefined {
  if (text.length > longest) return undefined;
  let steps = 0;
  const tree = parser.parse(text, null, { progressCallback: () => ++steps > mostSteps });
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  try {
    return bodiesIn(tree.rootNode, 0);
  } finally {
    tree.delete();
  }
}

/** Kinds of nodes that declare something: their `body` is what an outline leaves out. */
const declares =
  /function|method|class|interface|enum|struct|impl|trait|mod_item|module|namespace|constructor|func_literal/;

/** Outermost bodies below a node, each with those in it; without recursion but for nested bodies. */
function bodiesIn(root: Node, depth: number): CodeBody[] {
  const found: CodeBody[] = [];
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const body = node !== root && declares.test(node.type) ? node.childForFieldName('body') : null;
    if (body === null || body.startPosition.row === body.endPosition.row) {
      stack.push(...node.namedChildren.filter((child) => child !== null).toReversed());
      continue;
    }
    const isBracketed = /^[{(]$/.test(body.child(0)?.type ?? '');
    found.push({
      from: body.startIndex + (isBracketed ? 1 : 0),
      to: body.endIndex - (isBracketed ? 1 : 0),
      inner: depth < deepest ? bodiesIn(body, depth + 1) : [],
    });
  }
  return found;
}
