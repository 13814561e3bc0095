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
export { openLog, type Log, type LogOptions } from './telemetry/log.ts';
export { startTelemetry, type Telemetry } from './telemetry/telemetry.ts';
