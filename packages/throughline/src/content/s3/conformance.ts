/** A server that speaks S3 and checks signatures, on a free port, for tests. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as forward, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { sign } from 'aws4';
import { S3mini } from 's3mini';

const region = 'us-east-1';
interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}
/** What the server knows its one account by. */
const account: Keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
/** Keys of the same account that hold for a time: they count with their token alone. */
export const temporary = {
  accessKeyId: 'ASIARVER',
  secretAccessKey: 'for a time',
  sessionToken: 'FwoGZXIvYXdzEBYaD+/of tests==',
} as const satisfies Keys;
const known = new Map([account, temporary].map((keys) => [keys.accessKeyId, keys]));
/** Milliseconds by which a signature's time may differ, as S3 allows. */
const skewMs = 15 * 60_000;

export interface S3Server {
  /** For a bucket that is made here. */
  bucket(name: string): Promise<Keys & { readonly region: string; readonly endpoint: string }>;
  /** Why requests were turned away, one each. */
  readonly refused: readonly string[];
  stop(): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const store = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    // It signs the path of a bucket without the slash at its end that was sent. The gate checks instead.
    allowMismatchedSignatures: true,
  });
  const refused: string[] = [];
  const gate = createGate((await store.run()).port, refused);
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const address = gate.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    refused,
    bucket: async (name) => {
      const options = { ...account, region, endpoint: `http://127.0.0.1:${port}/${name}` };
      await new S3mini(options).createBucket();
      return options;
    },
    stop: async () => {
      gate.close();
      gate.closeAllConnections();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Lets through what is signed by the account, as it came; answers all else as S3 does. */
function createGate(port: number, refused: string[]): Server {
  return createServer((incoming, outgoing) => {
    void (async () => {
      const body = Buffer.concat(await incoming.toArray());
      const why = whyNot(incoming, body);
      if (why !== undefined) {
        refused.push(why);
        outgoing.writeHead(403, { 'content-type': 'application/xml' });
        outgoing.end(`<Error><Code>SignatureDoesNotMatch</Code><Message>${why}</Message></Error>`);
        return;
      }
      const { method, url: path } = incoming;
      // Behind the gate there is one name for the account.
      const authorization = incoming.headers.authorization?.replace(
        /Credential=[^/]+/,
        `Credential=${account.accessKeyId}`,
      );
      const headers = { ...incoming.headers, authorization, connection: 'close' };
      const passed = forward({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      passed.on('error', () => outgoing.destroy());
      outgoing.on('close', () => passed.destroy());
      passed.end(body);
    })();
  });
}

const parts =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;

/** Signs once more what came in, by a library that the driver does not use, and compares. */
function whyNot({ method = '', url = '', headers }: IncomingMessage, body: Buffer) {
  const { authorization = '' } = headers;
  const [, key = '', day, where, names = '', signature = ''] = parts.exec(authorization) ?? [];
  const keys = known.get(key);
  if (keys === undefined || where !== region) return 'not by a known key';
  const signed = names.split(';');
  const mustBeSigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-'));
  if (!['host', 'x-amz-date', ...mustBeSigned].every((name) => signed.includes(name))) {
    return 'does not sign what it must';
  }
  if (headers['x-amz-security-token'] !== keys.sessionToken) return 'is without its token';
  const hash = createHash('sha256').update(body).digest('hex');
  // Bytes may go unsigned, as over TLS they usually do; the hub seals them, so that it notices.
  if (!['UNSIGNED-PAYLOAD', hash].includes(String(headers['x-amz-content-sha256']))) {
    return 'signs other bytes';
  }
  const date = String(headers['x-amz-date']);
  const at = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!date.startsWith(String(day)) || !(Math.abs(Date.now() - at) < skewMs)) return 'is too old';
  const again = sign(
    {
      service: 's3',
      region,
      method,
      path: url,
      headers: Object.fromEntries(signed.map((name) => [name, String(headers[name])])),
    },
    keys,
  );
  const [, , , , , expected = ''] = parts.exec(String(again.headers?.['Authorization'])) ?? [];
  const isSame =
    expected.length === signature.length &&
    timingSafeEqual(Buffer.from(expected), Buffer.from(signature));
  return isSame ? undefined : 'is signed with another secret, or was changed';
}
