import { z } from 'zod';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const isUnit = (text: string): text is keyof typeof unitMs => Object.hasOwn(unitMs, text);

/** `45s`, `90m`, `12h`, `30d` → milliseconds. */
export const duration = z.string().transform((text, context) => {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = isUnit(unit) ? Number(digits) * unitMs[unit] : 0;
  if (ms > 0) return ms;
  context.addIssue('must be a time such as 45s, 90m, 12h or 30d');
  return z.NEVER;
});
