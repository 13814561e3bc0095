import type { Hub } from 'throughline/hub';
import { boss, casesEach, personOf } from './workload.ts';

/** A case that can be asked for. */
export interface KnownCase {
  readonly activity: string;
  readonly owner: ReturnType<typeof personOf>;
  /** The last thing that came of it. */
  readonly result: string;
}

/** People whose cases are looked at, and cases of each. */
const [asked, each] = [60, 6];
/** A case with more tasks is a large one: how long that takes is a matter of its own size. */
const mostTasks = 20;
/** More than a case has as a rule, so that nobody is asked for who is not there. */
const assertionsEach = 60;

/** Cases of usual size, old and new. */
export async function knownCases(hub: Hub): Promise<readonly KnownCase[]> {
  const known: KnownCase[] = [];
  const { seq } = await hub.health();
  const people = Math.max(1, Math.floor(seq / assertionsEach / casesEach));
  for (let n = 0; n < asked; n++) {
    const owner = personOf(Math.floor((n * people) / asked));
    const { cases } = await hub.cases(owner, { pageSize: 100 });
    const usual = cases.filter(({ counts }) => counts.tasks <= mostTasks);
    const step = Math.max(1, Math.floor(usual.length / each));
    for (const { activity } of usual.filter((_, at) => at % step === 0).slice(0, each)) {
      const { resources } = await hub.caseView(boss, activity);
      known.push({ activity, owner, result: resources.at(-1)?.id ?? '' });
    }
  }
  return known;
}
