export { acceptReturn, returnBounds, type AcceptedReturn } from './accept-return.ts';
export { makeAgentContext, type AgentContextInput } from './agent-context.ts';
export {
  compress,
  type Compressed,
  type CompressionReport,
  type FetchedItem,
  rewriteRequests,
  type CodeBody,
  type CompressedItem,
  type CompressOptions,
  type ItemReport,
  type Outcome,
  type ParseCode,
  type Rewrite,
  type RewriteRequest,
  type RewriterKind,
} from './compress.ts';
export { countTokens, tokenizerName, type CountTokens } from './count-tokens.ts';
export { checkGraderSpec, gradePurely, type GradeSubject } from './grade.ts';
export { isJson, isText } from './media.ts';
export { judge, type Grade, type JudgePolicy, type Verdict } from './judge.ts';
export type { Part } from './parts.ts';
export {
  fromPlain,
  plainMessage,
  quote,
  type ItemContent,
  type PlainAnswer,
  type PlainOutput,
} from './plain.ts';
export { select, type Needs, type OfferedItem, type Selection, type Selector } from './select.ts';
