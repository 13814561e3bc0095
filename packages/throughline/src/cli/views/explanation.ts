import type { Explanation } from '../../model/case-view.ts';
import { clean, type Terminal } from '../terminal.ts';
import { drawLine } from './draw.ts';

/** The way from one object to another, a step a line. */
export function explanationLines(terminal: Terminal, explanation: Explanation): string[] {
  const { from, to, steps, labels } = explanation;
  const named = (id: string) => ({
    whole: terminal.paint('bold', terminal.id(id)),
    text: labels[id] === undefined || labels[id] === id ? '' : clean(labels[id]),
  });
  if (steps.length === 0) {
    const fact = from === to ? 'stands by itself' : `and ${terminal.id(to)} are not related here`;
    return [`${terminal.id(from)} ${fact}`];
  }
  return [
    drawLine(terminal, '', named(from)),
    ...steps.flatMap(({ relation, inverse, role, note, to: next }) => {
      const arrow = inverse ? `↑ ${relation}, from there` : `↓ ${relation}`;
      const use = [role, note].flatMap((text) => (text === undefined ? [] : clean(text)));
      return [
        drawLine(terminal, '  ', { whole: terminal.paint('dim', arrow), text: use.join(' · ') }),
        drawLine(terminal, '', named(next)),
      ];
    }),
  ];
}
