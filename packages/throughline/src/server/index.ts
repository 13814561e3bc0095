export {
  hubApp,
  metricsMediaType,
  type Failure,
  type HubAppOptions,
  type MountedApp,
} from './app.ts';
export { checkSource } from './guard.ts';
export type { Answered } from './observed.ts';
export type { ServedHub } from './ports.ts';
export { problemMediaType, problemResponse, problems } from './problem.ts';
export {
  serveHub,
  type Mount,
  type MountedAgent,
  type ServedHubHandle,
  type ServeHubOptions,
} from './serve.ts';
