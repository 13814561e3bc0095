import type { PushConfig } from '../../model/push-config.ts';
import type { PushPorts } from './ports.ts';

/** The guarded way to call a URL that a client chose; filled by an outbound of `transports`. */
export interface PushSender {
  /** Throws `invalid` for a URL that may not be called, as far as that can be told without DNS. */
  check(url: string): void;
  /** Checks again and calls; no redirect is followed. Throws ThroughlineError. */
  send(request: {
    readonly url: string;
    readonly method: 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly responseBytes: number;
    readonly signal: AbortSignal;
  }): Promise<{ readonly status: number }>;
}

/** Everything that push notifications need; without it the card does not offer them. */
export interface Push {
  readonly ports: PushPorts;
  readonly sender: PushSender;
}

/** What a notification says who it is from: the client's own secrets, to the client's own address. */
export function pushHeaders({ token, authentication }: PushConfig): Record<string, string> {
  return {
    ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
    ...(authentication === undefined
      ? {}
      : { authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
}
