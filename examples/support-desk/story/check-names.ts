/** What the story is checked for; each name is also that of the fault that turns it false. */
export const checkNames = [
  'four-wrong-transactions',
  'citations-verbatim',
  'isolation',
  'tokens-recount',
  'grant-follow-up',
  'stranger-refused',
  'kill-resume',
  'retrieval',
] as const;
export type CheckName = (typeof checkNames)[number];

export interface Check {
  name: CheckName;
  ok: boolean;
  /** What was looked at and found, in figures. */
  saw: unknown;
}
