import type { MasterPorts } from './ports.ts';

/** A Participant stays who it is: a run asks for each once. */
export function knowingParties(ports: MasterPorts): MasterPorts {
  const known = new Map<string, Promise<string>>();
  return {
    ...ports,
    participant: (party) => {
      const key = JSON.stringify(party);
      const asked = known.get(key) ?? ports.participant(party);
      known.set(key, asked);
      asked.catch(() => known.delete(key));
      return asked;
    },
  };
}
