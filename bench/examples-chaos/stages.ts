import { CommandStage } from './command-stage.ts';
import { DeskStage } from './desk-stage.ts';
import { ServedStage } from './served-stage.ts';
import type { Stage } from './stage.ts';

export const stageNames = [
  'diagnosis',
  'research',
  'with-a-model',
  'by-command',
  'support-desk',
] as const;
export type StageName = (typeof stageNames)[number];

export const stages: Readonly<Record<StageName, () => Promise<Stage>>> = {
  diagnosis: () => ServedStage.open('diagnosis'),
  research: () => ServedStage.open('research'),
  'with-a-model': () => ServedStage.open('with-a-model'),
  'by-command': () => CommandStage.byCommand(),
  'support-desk': () => DeskStage.open(),
};
