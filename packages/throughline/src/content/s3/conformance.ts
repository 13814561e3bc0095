/** A server that speaks S3, on a free port, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { S3mini } from 's3mini';

/** What the server knows its one account by. */
const account = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', region: 'us-east-1' };

export interface S3Server {
  /** For a bucket that is made here. */
  bucket(name: string): Promise<typeof account & { readonly endpoint: string }>;
  stop(): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), 's3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    // It signs the path of a bucket without the slash at its end that was sent, so lists never match.
    allowMismatchedSignatures: true,
  });
  const { port } = await server.run();
  return {
    bucket: async (name) => {
      const options = { ...account, endpoint: `http://127.0.0.1:${port}/${name}` };
      await new S3mini(options).createBucket();
      return options;
    },
    stop: async () => {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
