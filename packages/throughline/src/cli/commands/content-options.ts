import { Option, type Command } from 'commander';
import { z } from 'zod';
import type { ContentSettings } from '../open-content.ts';

export const contentOptionsSchema = z.object({
  content: z.string().exactOptional(),
  contentRegion: z.string().min(1).max(64).exactOptional(),
  contentRegionPolicy: z.enum(['any', 'same']).exactOptional(),
  contentUrls: z.boolean().exactOptional(),
});

/** Adds where contents are kept, and how they are handed out. */
export const withContent = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--content <where>',
        'folder or s3://bucket/prefix/ for contents (default: in the folder)',
      ).env('THROUGHLINE_CONTENT'),
    )
    .option('--content-region <label>', 'region that they lie in')
    .addOption(
      new Option('--content-region-policy <policy>', 'contents of other regions').choices([
        'any',
        'same',
      ]),
    )
    .option('--content-urls', 'gives out links that open one content, once');

export const contentSettingsOf = (
  options: z.output<typeof contentOptionsSchema>,
): ContentSettings => ({
  at: options.content,
  region: options.contentRegion,
  regionPolicy: options.contentRegionPolicy,
  inUrls: options.contentUrls,
});
