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
  const next: number[][] = rows.map(() => []);
  for (const members of Map.groupBy(rows.keys(), find).values()) {
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
