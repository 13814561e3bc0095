/** For whom an agent calls; without a credential it calls for itself. */
export const handedOn = ({
  credential,
}: {
  readonly credential?: string;
}): Record<string, string> =>
  credential === undefined ? {} : { 'Throughline-Caller': credential };
