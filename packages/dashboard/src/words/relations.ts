/** A relationship read from its start and from its end. */
const readings: Readonly<Record<string, readonly [forward: string, backward: string]>> = {
  'delegated-from': ['delegated from', 'delegated to'],
  'continuation-of': ['continues', 'continued by'],
  replaces: ['replaces', 'replaced by'],
  'aggregated-from': ['put together from', 'went into'],
  'derived-from': ['derived from', 'source of'],
  'part-of': ['part of', 'has the part'],
  modifies: ['changes', 'changed by'],
  'input-to': ['given to', 'was given'],
  'used-in': ['used in', 'uses'],
  'output-of': ['put out by', 'put out'],
  clarifies: ['clarifies', 'clarified by'],
  'related-to': ['related to', 'related to'],
};

/** Words for a relationship seen from one of its ends; a type of somebody else's keeps its name. */
export function reading(type: string, direction: 'forward' | 'backward'): string {
  const [forward, backward] = readings[type] ?? [type, `${type} (from there)`];
  return direction === 'forward' ? forward : backward;
}
