import type { ReactElement } from 'react';
import type { CaseObject } from '../case/case-index.ts';
import type { Shape, StateWords } from '../words/states.ts';

const ring = <circle cx="8" cy="8" r="5.25" />;
const solid = { fill: 'currentColor', stroke: 'none' } as const;

const shapes: Readonly<Record<Shape, ReactElement>> = {
  check: <path d="m3.5 8.5 3 3 6-7" />,
  clock: (
    <>
      {ring}
      <path d="M8 5v3.2l2 1.3" />
    </>
  ),
  cross: <path d="m4 4 8 8M12 4l-8 8" />,
  dash: (
    <>
      {ring}
      <path d="M5.5 8h5" />
    </>
  ),
  dot: <circle cx="8" cy="8" r="3.5" {...solid} />,
  half: (
    <>
      {ring}
      <path d="M8 2.75a5.25 5.25 0 0 1 0 10.5z" {...solid} />
    </>
  ),
  hollow: ring,
  pause: <path d="M5.5 4v8M10.5 4v8" strokeWidth="2.4" />,
  question: (
    <path d="M5.6 6a2.4 2.4 0 1 1 3.5 2.1c-.7.4-1.1.8-1.1 1.7M8 12.4v.1" strokeWidth="1.8" />
  ),
  square: <rect x="4.5" y="4.5" width="7" height="7" />,
  warning: <path d="M8 2.5 14 13H2zM8 6.5v3M8 11.3v.1" />,
};

const kinds: Readonly<Record<CaseObject['kind'], ReactElement>> = {
  activity: <path d="M2.5 4.5h4l1.2 1.5h5.8v6.5h-11z" />,
  dialog: <path d="M2.5 3.5h11v7H7l-3 2.5v-2.5H2.5z" />,
  task: (
    <>
      <rect x="3" y="3" width="10" height="10" rx="1.5" />
      <path d="m5.5 8 2 2 3-4" />
    </>
  ),
  resource: <path d="M4 2.5h5L12.5 6v7.5H4zM9 2.5V6h3.5" />,
  participant: <path d="M8 8a2.4 2.4 0 1 0 0-4.8A2.4 2.4 0 0 0 8 8zM3.5 13.5a4.5 4.5 0 0 1 9 0" />,
};

const actions = {
  chevron: <path d="m6 4 4 4-4 4" />,
  close: <path d="m4 4 8 8M12 4l-8 8" />,
  copy: <path d="M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1" />,
  in: <path d="M3 8h9M8.5 4.5 12 8l-3.5 3.5" />,
  out: <path d="M13 8H4M7.5 4.5 4 8l3.5 3.5" />,
  back: <path d="m10 3.5-4.5 4.5 4.5 4.5" />,
  search: <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3" />,
} as const;

const drawings: Readonly<Record<string, ReactElement>> = { ...shapes, ...actions, ...kinds };

export type IconName = Shape | CaseObject['kind'] | keyof typeof actions;

/** A drawing beside words; it says nothing to a screen reader. */
export function Icon({ name }: { readonly name: IconName }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {drawings[name]}
    </svg>
  );
}

/** A state: shape, colour and word together. */
export function StateMark({ words }: { readonly words: StateWords }): ReactElement {
  return (
    <span className="state" data-tone={words.tone}>
      <Icon name={words.shape} />
      <span className="state-text">{words.text}</span>
    </span>
  );
}
