export {
  connectAgent,
  localPrincipal,
  openHub,
  startHub,
  type Connection,
  type ConnectOptions,
  type OpenHubOptions,
  type RunningHub,
  type StartHubOptions,
} from './wire.ts';
