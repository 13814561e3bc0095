/** Stated limits of everything that comes from outside; refused by name when passed. */
export const limits = {
  /** UTF-8 bytes of an id from outside. */
  foreignIdBytes: 512,
  /** UTF-8 bytes of a short human text: objective, name, role, note. */
  textBytes: 2_048,
  /** UTF-8 bytes of an envelope on the wire, signature included. */
  envelopeBytes: 16_384,
  /** Levels of nesting in any JSON from outside. */
  jsonDepth: 32,
  /** Bytes of one HTTP request body. */
  bodyBytes: 4_194_304,
  /** Referenced tasks in one message. */
  referenceTaskIds: 32,
  /** Parts in one message or artifact. */
  parts: 128,
  /** Statements in one recording call. */
  statements: 256,
  /** Push notification configs of one task. */
  pushConfigs: 16,
  /** Rows in one page, at most. */
  pageSize: 100,
  /** Bytes of one piece of offloaded content. */
  contentBytes: 8_388_608,
} as const;
