import type { CaseIndex, Handover } from './case-index.ts';

/** What handing over only what was needed saved, against the whole history each time. */
export interface TokenFigures {
  readonly handovers: number;
  readonly sent: number;
  readonly fullHistory: number;
  /** Negative where more was sent than the history holds. */
  readonly saved: number;
  /** `sent` of `fullHistory`, 0 to 1 and beyond; undefined where there was no history. */
  readonly share: number | undefined;
  readonly returned: number;
  /** Names of what was left out of any of them, each once. */
  readonly withheld: readonly string[];
}

export function tokenFigures(handovers: readonly Handover[]): TokenFigures {
  const sum = (pick: (each: Handover) => number): number =>
    handovers.reduce((total, each) => total + pick(each), 0);
  const sent = sum((each) => each.sent);
  const fullHistory = sum((each) => each.fullHistory);
  return {
    handovers: handovers.length,
    sent,
    fullHistory,
    saved: fullHistory - sent,
    share: fullHistory === 0 ? undefined : sent / fullHistory,
    returned: sum((each) => each.returned ?? 0),
    withheld: [...new Set(handovers.flatMap((each) => each.withheld))],
  };
}

/** The name of who was handed something: hand-overs name agents by principal or by name. */
export function recipient(index: CaseIndex, { dialog, agent }: Handover): string {
  const found = index.dialog(dialog);
  const worker = found === undefined ? undefined : index.worker(found);
  return worker === undefined ? agent : index.label(worker);
}
