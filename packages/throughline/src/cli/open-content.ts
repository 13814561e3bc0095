import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createMediaCut, openFileContent, type ContentDriver } from '../content/index.ts';
import { ThroughlineError } from '../errors.ts';
import type { ContentOptions } from '../hub/index.ts';
import type { DataFolder } from './data-folder.ts';

/** Where a hub keeps offloaded content, and how it hands it out. */
export interface ContentSettings {
  /** A folder, or `s3://bucket/prefix/?endpoint=…&region=…`. Default: see `openContent`. */
  readonly at?: string | undefined;
  /** Label of the region that it lies in. */
  readonly region?: string | undefined;
  /** `same`: content of another region is neither taken nor served. */
  readonly regionPolicy?: 'any' | 'same' | undefined;
  /** Read tokens in URLs, each good once. */
  readonly inUrls?: boolean | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const isUrl = /^([a-z][a-z0-9+.-]+):\/\//i;

/**
 * The place for content: what `at` names; else `content` in the data folder where the database is
 * there too; else the database itself, which the other hubs on it reach. Throws `unsupported` for a URL
 * of anything but S3, and what the driver says. Keys of S3 come from the environment alone.
 */
export async function openContent(
  folder: DataFolder,
  { at, region, regionPolicy, inUrls }: ContentSettings,
  isShared: boolean,
  environment: Environment = process.env,
): Promise<ContentOptions> {
  const place = at ?? (isShared ? undefined : join(folder.path, 'content'));
  const driver = place === undefined ? undefined : await driverAt(place, environment);
  const ffmpeg = commandOf('ffmpeg', environment);
  return {
    regions: { here: region, policy: regionPolicy },
    ...(driver === undefined ? {} : { driver }),
    ...(inUrls === undefined ? {} : { inUrls }),
    ...(ffmpeg === undefined ? {} : { media: createMediaCut(ffmpeg) }),
  };
}

async function driverAt(place: string, environment: Environment): Promise<ContentDriver> {
  const scheme = isUrl.exec(place)?.[1]?.toLowerCase();
  if (scheme === undefined) return openFileContent({ path: place });
  if (scheme !== 's3' || !URL.canParse(place)) {
    throw new ThroughlineError(
      'unsupported',
      `--content ${scheme}://…: there is s3://bucket/prefix/ and the path of a folder`,
    );
  }
  return openBucket(new URL(place), environment);
}

/** Only here, so that whoever has a folder needs no client of S3. */
async function openBucket(url: URL, environment: Environment): Promise<ContentDriver> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  // Of keys that hold for a time; set to nothing, it is none.
  const sessionToken = environment['AWS_SESSION_TOKEN'] || undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined || url.username !== '') {
    throw new ThroughlineError(
      'invalid',
      '--content s3://…: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; a URL is no place for them',
    );
  }
  const asked = url.searchParams;
  const region = asked.get('region') ?? environment['AWS_REGION'] ?? 'us-east-1';
  const endpoint =
    asked.get('endpoint') ??
    environment['AWS_ENDPOINT_URL_S3'] ??
    environment['AWS_ENDPOINT_URL'] ??
    `https://s3.${region}.amazonaws.com`;
  const prefix = url.pathname.replace(/^\/+/, '').replace(/([^/])$/, '$1/');
  let driver;
  try {
    driver = await import('../content/s3/index.ts');
  } catch (cause) {
    throw new ThroughlineError(
      'unsupported',
      '--content s3://…: needs the packages s3mini and aws4fetch beside this one; run: npm install s3mini aws4fetch',
      { cause },
    );
  }
  return driver.openS3Content({
    endpoint: `${endpoint.replace(/\/+$/, '')}/${url.hostname}`,
    region,
    prefix,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
}

/** Path of a command, or undefined where there is none. */
function commandOf(name: string, { PATH = '' }: Environment): string | undefined {
  const paths = PATH.split(delimiter).filter((folder) => folder !== '');
  return paths.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
