import { placeOf, type Source, visit } from './source.ts';

/** The layers that compute and nothing else. Time and ids reach them as values. */
export const pureLayers: readonly string[] = ['model', 'graph', 'handover'];

const globals = new Map([
  ['Date.now', 'the clock'],
  ['Math.random', 'chance'],
]);

/** One sentence for each use of a promise, the clock or chance: what no type and no lint rule sees. */
export function impurities(source: Source): string[] {
  const found: string[] = [];
  const add = (node: { readonly start: number }, what: string): void => {
    found.push(`${placeOf(source, node.start)}: uses ${what}`);
  };
  const addAsync = (node: { readonly start: number; readonly async: boolean }): void => {
    if (node.async) add(node, 'a promise');
  };
  visit(source, {
    AwaitExpression: (node) => add(node, 'a promise'),
    ArrowFunctionExpression: addAsync,
    FunctionDeclaration: addAsync,
    FunctionExpression: addAsync,
    NewExpression: ({ callee, arguments: args, ...node }) => {
      if (callee.type !== 'Identifier') return;
      if (callee.name === 'Date' && args.length === 0) add(node, 'the clock');
      if (callee.name === 'Promise') add(node, 'a promise');
    },
    CallExpression: ({ callee, ...node }) => {
      if (callee.type === 'Identifier' && callee.name === 'Date') add(node, 'the clock');
    },
    MemberExpression: ({ object, property, ...node }) => {
      if (object.type !== 'Identifier' || property.type !== 'Identifier') return;
      const what = globals.get(`${object.name}.${property.name}`);
      if (what !== undefined) add(node, what);
    },
  });
  return found;
}
