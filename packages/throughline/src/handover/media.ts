/** JSON by its media type, `+json` included. */
export const isJson = (mediaType: string): boolean =>
  /^[\w.-]+\/(?:[\w.-]+\+)?json\b/.test(mediaType);

/** What is read as text: text types, JSON and JSON Lines, XML, YAML, JavaScript. */
export const isText = (mediaType: string): boolean =>
  mediaType.startsWith('text/') ||
  isJson(mediaType) ||
  /^application\/(?:[\w.-]+\+)?(?:xml|yaml|javascript|ndjson|x-ndjson|jsonl)\b/.test(mediaType);
