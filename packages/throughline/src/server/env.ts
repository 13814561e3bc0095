import type { Principal } from '../model/principal.ts';

/** What a request carries along inside the app. */
export type Env = {
  Variables: {
    requestId: string;
    principal: Principal;
    /** By the page’s cookie, which reads what the page shows and does nothing else. */
    bySession: boolean;
    /** In place of those of the API. */
    headers: Readonly<Record<string, string>>;
  };
};
