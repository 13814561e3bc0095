import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Comment, parseSync, Visitor, type VisitorObject } from 'oxc-parser';

export const repository: string = fileURLToPath(new URL('../../../', import.meta.url));

/** Source text under a path, real or made up for a test; the path is relative with `/`. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** Every TypeScript and JavaScript source below a folder of the repository, paths relative to it. */
export function readSources(folder: string): Source[] {
  const root = join(repository, folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|mjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/](node_modules|dist)[\\/]/.test(file))
    .map((file) => ({
      path: file.slice(root.length).replaceAll('\\', '/').replace(/^\//, ''),
      text: readFileSync(file, 'utf8'),
    }));
}

/** Walks a source's syntax tree and gives its comments. Throws on a syntax error. */
export function visit({ path, text }: Source, visitor: VisitorObject): Comment[] {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  new Visitor(visitor).visit(program);
  return comments;
}

/** `path:line` of an offset, as editors open it. */
export function placeOf({ path, text }: Source, offset: number): string {
  return `${path}:${text.slice(0, offset).split('\n').length}`;
}

export interface Import {
  /** What is imported; undefined when it is computed and can't be read from the source. */
  readonly specifier: string | undefined;
  readonly place: string;
}

/** Every import of a source: static, re-export, dynamic, and of types only. */
export function importsOf(source: Source): Import[] {
  const found: Import[] = [];
  const add = (node: { readonly start: number }, from: unknown): void => {
    const value = typeof from === 'object' && from !== null && 'value' in from ? from.value : from;
    const specifier = typeof value === 'string' ? value : undefined;
    found.push({ specifier, place: placeOf(source, node.start) });
  };
  visit(source, {
    ImportDeclaration: (node) => add(node, node.source),
    ExportAllDeclaration: (node) => add(node, node.source),
    ExportNamedDeclaration: (node) => node.source && add(node, node.source),
    ImportExpression: (node) => add(node, node.source),
    TSImportType: (node) => add(node, node.source),
  });
  return found;
}
