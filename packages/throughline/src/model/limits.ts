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
  /** Bytes of the JSON of one message: under a body by what requests, tasks and gRPC put around it. */
  messageBytes: 3_932_160,
  /** Bytes of the JSON of a task with all its messages and artifacts. */
  taskBytes: 12_582_912,
  /** Of those, kept for the status that ends it. */
  taskReserveBytes: 65_536,
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
  /** Bytes of the JSON of one page of tasks, where more than one is in it: what gRPC takes by itself. */
  pageBytes: 3_932_160,
  /** Bytes of one piece of offloaded content. */
  contentBytes: 8_388_608,
} as const;
