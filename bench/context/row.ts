/** One figure beside what it is measured against. */
export interface Row {
  readonly name: string;
  readonly unit: string;
  /** On the half that was not tuned on. */
  readonly ours: number;
  readonly beside: number;
  readonly besideWhat: string;
  /** Ours ÷ beside; absent beside nothing. */
  readonly ratio?: number;
  /** Further figures of the same measure, by name. */
  readonly spread: Readonly<Record<string, number>>;
  /** The least that `ours` must be; absent where nothing is asked. */
  readonly bar?: number | undefined;
  readonly ok: boolean;
}

export interface Result {
  readonly suite: 'context';
  readonly machine: { readonly node: string; readonly cpus: number; readonly cpu: string };
  readonly rows: readonly Row[];
}

export function row(fields: Omit<Row, 'ratio' | 'ok'>): Row {
  return {
    ...fields,
    ...(fields.beside > 0 && { ratio: fields.ours / fields.beside }),
    ok: fields.bar === undefined || fields.ours >= fields.bar,
  };
}
