export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
} from './outbound.ts';
export {
  createForeignContent,
  type ForeignContent,
  type ForeignOptions,
} from './foreign-content.ts';
export type { AddressFault, AddressOptions } from './address-rules.ts';
export type { ResolveHost } from './addresses.ts';
export type { Method, OutboundResponse } from './exchange.ts';
export type { UrlOptions, UrlRule } from './url-rules.ts';
