import { segment, type Caller } from './call.ts';

interface ExportOptions {
  /** Without what people wrote. */
  readonly shapeOnly?: boolean;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Cases carried away, as lines of JSON. The last line tells whether all came: `{"kind":"end",…}`. */
export interface ArchiveCalls {
  /** One case, for its owner and operators. */
  exportCase(id: string, options?: ExportOptions): Promise<ReadableStream<Uint8Array>>;
  /** All cases of an operator's tenant. */
  exportAll(options?: ExportOptions): Promise<ReadableStream<Uint8Array>>;
}

export function archiveCalls(hub: Caller): ArchiveCalls {
  const get = (path: string, { shapeOnly, signal = new AbortController().signal }: ExportOptions) =>
    hub.stream({ method: 'GET', path, query: { shapeOnly } }, signal);
  return {
    exportCase: async (id, options = {}) => get(`/cases/${segment(id)}/export`, options),
    exportAll: async (options = {}) => get('/export', options),
  };
}
