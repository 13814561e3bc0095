import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { Principal } from '../model/principal.ts';

/** What a request carries along inside the app. */
export type Env = {
  Bindings: Partial<HttpBindings | Http2Bindings>;
  Variables: {
    requestId: string;
    /** Absent before it is known. */
    principal: Principal;
    /** By the page’s cookie, which reads what the page shows and does nothing else. */
    bySession: boolean;
    /** In place of those of the API. */
    headers: Readonly<Record<string, string>>;
  };
};
