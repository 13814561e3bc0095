import type { Activity } from '../../model/activity.ts';
import type { Dialog } from '../../model/dialog.ts';
import type { Relationship } from '../../model/relationship.ts';
import type { Task } from '../../model/task.ts';
import { describeCompressed, describeModel, describeSent } from '../../model/describe-usage.ts';
import type { Handover, Usage } from '../../model/usage.ts';
import { clean } from '../terminal.ts';
import { draw, type Line, type Node } from './draw.ts';
import { count, type Words } from './words.ts';

/** Where each delegated Dialog hangs: under the Task or the Dialog it was delegated from. */
type Places = ReadonlyMap<string, readonly Dialog[]>;

/** The case as a tree: Activities, their Dialogs, their Tasks, and what was delegated below. */
export function caseTree(words: Words): string[] {
  const places = placesOf(words);
  return words.view.activities.flatMap((activity) =>
    draw(words.terminal, activityNode(words, places, activity)),
  );
}

/**
 * A Dialog hangs in one place: under the Task that its Tasks were delegated from, else under the
 * Dialog it was delegated from, else under its Activity. Never below itself: Tasks of two Dialogs may
 * be delegated both ways.
 */
function placesOf({ graph, view }: Words): Places {
  const places = new Map<string, Dialog[]>();
  const above = new Map<string, string>();
  const dialogOf = (id: string): string | undefined =>
    graph.task(id)?.dialog ?? graph.dialog(id)?.id;
  const isBelow = (dialog: string | undefined, other: string): boolean =>
    dialog !== undefined && (dialog === other || isBelow(above.get(dialog), other));
  for (const dialog of view.dialogs) {
    const from = (id: string): string[] => graph.out(id, ['delegated-from']).map(({ to }) => to);
    const parents = [...graph.tasksOf(dialog.id).flatMap(({ id }) => from(id)), ...from(dialog.id)];
    const parent = parents.find((id) => {
      const holder = dialogOf(id);
      return holder !== undefined && !isBelow(holder, dialog.id);
    });
    const holder = parent === undefined ? undefined : dialogOf(parent);
    if (holder !== undefined) above.set(dialog.id, holder);
    const place = parent ?? dialog.activity;
    places.set(place, [...(places.get(place) ?? []), dialog]);
  }
  return places;
}

function activityNode(words: Words, places: Places, activity: Activity): Node {
  const { paint, id } = words.terminal;
  return {
    line: {
      whole: `${paint('bold', 'Activity')} ${id(activity.id)} ${words.state(activity.closed ? 'closed' : 'open')}`,
      text: objective(activity.objective, [words.view.summary.objective]),
    },
    notes: [...tieLines(words, activity.id), ...resourceLines(words, activity.id)],
    children: (places.get(activity.id) ?? []).map((each) => dialogNode(words, places, each)),
  };
}

/** An objective, unless it stands nearby already. */
const objective = (text: string | undefined, said: readonly (string | undefined)[]): string =>
  text === undefined || said.includes(text) ? '' : clean(text);

function dialogNode(words: Words, places: Places, dialog: Dialog): Node {
  const { paint, id } = words.terminal;
  const reason = dialog.reason === undefined ? '' : ` (${dialog.reason})`;
  const below = places.get(dialog.id) ?? [];
  const said = [...words.graph.tasksOf(dialog.id), words.view.summary].map(
    (each) => each.objective,
  );
  const aim = objective(dialog.objective, said);
  return {
    line: {
      whole: `${paint('bold', 'Dialog')} ${id(dialog.id)} ${words.state(dialog.state)}${reason}`,
      text: words.participants(dialog),
    },
    notes: [
      {
        whole: '',
        text: [words.local(dialog), aim].filter(Boolean).join(' · '),
      },
      ...tieLines(words, dialog.id),
      ...resourceLines(words, dialog.id),
    ],
    children: [
      ...words.graph.tasksOf(dialog.id).map((each) => taskNode(words, places, each)),
      ...below.map((each) => dialogNode(words, places, each)),
    ],
  };
}

function taskNode(words: Words, places: Places, task: Task): Node {
  const { paint, id } = words.terminal;
  return {
    line: {
      whole: `${paint('bold', 'Task')} ${id(task.id)} ${words.taskState(task)}`,
      text: clean(task.objective ?? ''),
    },
    notes: [
      ...words.marks(task).map((mark) => ({ whole: paint('yellow', '!       '), text: mark })),
      ...tieLines(words, task.id),
      ...words.handovers(task).flatMap((each) => handoverLines(words, each)),
      ...words.ownUsage(task).flatMap((used) => usageLines(words, used)),
      ...resourceLines(words, task.id),
    ],
    children: (places.get(task.id) ?? []).map((each) => dialogNode(words, places, each)),
  };
}

function handoverLines(words: Words, handover: Handover): Line[] {
  const { paint } = words.terminal;
  const { returned, withheld, usage = [], compression } = handover;
  const line = (label: string, text: string): Line => ({ whole: paint('dim', label), text });
  return [
    line('tokens  ', describeSent(handover)),
    ...(returned === undefined ? [] : [line('        ', `${count(returned, 'token')} returned`)]),
    ...(compression === undefined ? [] : [line('        ', describeCompressed(compression))]),
    ...usage.flatMap((used) => usageLines(words, used)),
    ...(withheld.length === 0 ? [] : [line('withheld', withheld.map(clean).join(', '))]),
  ];
}

/** Names of models are long: what one came to has a line of its own, where it is not cut off. */
function usageLines({ terminal: { paint } }: Words, used: Usage): Line[] {
  const figures = describeModel(used).slice(`${used.model}: `.length);
  return [
    { whole: paint('dim', 'model   '), text: clean(used.model) },
    { whole: paint('dim', '        '), text: figures },
  ];
}

/** How it is tied to others: one line each. */
const tieLines = (words: Words, id: string): Line[] =>
  words.ties(id).map((tie) => ({
    whole: words.terminal.paint('dim', 'is      '),
    text: tieText(tie),
  }));

const tieText = ({ type, to, at }: ReturnType<Words['ties']>[number]): string =>
  `${type} ${to}${at === undefined ? '' : ` at ${at}`}`;

/** One line each: in or out, its name, how it is used there, then where it comes from. */
function resourceLines(words: Words, id: string): Line[] {
  const line = (label: string, edge: Relationship): Line => {
    const use = [
      ...[edge.role, edge.note].flatMap((text) => (text === undefined ? [] : clean(text))),
      ...words.ties(edge.from).map(tieText),
    ];
    const text = [words.resource(edge.from), ...use].join(' · ');
    return { whole: words.terminal.paint('dim', label), text };
  };
  return [
    ...words
      .inputs(id)
      .map((edge) => line(edge.type === 'modifies' ? 'modifies' : 'in      ', edge)),
    ...words.outputs(id).map((edge) => line('out     ', edge)),
  ];
}
