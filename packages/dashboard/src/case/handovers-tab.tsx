import { useMemo, useState, type ReactElement } from 'react';
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components';
import { describeCost, percent, type Spending } from 'throughline/model';
import { Notice } from '../ui/notice.tsx';
import { Rows } from '../ui/rows.tsx';
import { figure } from '../words/numbers.ts';
import { holds, type TabProps } from './tab-props.ts';
import { TokenLine } from './token-line.tsx';
import { groupings, spendingRows, type Grouping, type SpendingRow } from './tokens.ts';

const columns = [
  'To',
  'For',
  'Sent',
  'Full history',
  'Share',
  'Returned',
  'Compressed',
  'Models, cost',
  'Withheld',
];
const keyOf = ({ key }: SpendingRow): string => key;

const groupingWords: Readonly<Record<Grouping, string>> = {
  each: 'One by one',
  agent: 'By agent',
  subtask: 'By subtask',
};
const isGrouping = (value: unknown): value is Grouping => groupings.some((each) => each === value);

/** What each hand-over sent, against what the whole history would have been, and what models cost. */
export function HandoversTab({ index, find, selected, select }: TabProps): ReactElement {
  const [by, setBy] = useState<Grouping>('each');
  const rows = useMemo(() => spendingRows(index, by), [index, by]);
  const shown = rows.filter(({ who, what, task, withheld }) =>
    holds(find.trim(), who, what, task, ...withheld),
  );
  if (shown.length === 0) {
    return (
      <Notice title={rows.length === 0 ? 'No hand-over yet' : 'No hand-over matches'} icon="task">
        <p>
          {rows.length === 0
            ? 'When a Master hands over a subtask, its tokens stand here against the full history.'
            : 'No recipient, subtask or withheld name holds these words.'}
        </p>
      </Notice>
    );
  }
  return (
    <>
      <ToggleButtonGroup
        className="choice handovers-by"
        aria-label="How hand-overs are summed"
        selectionMode="single"
        disallowEmptySelection
        selectedKeys={[by]}
        onSelectionChange={([next]) => {
          if (isGrouping(next)) setBy(next);
        }}
      >
        {groupings.map((each) => (
          <ToggleButton key={each} id={each}>
            {groupingWords[each]}
          </ToggleButton>
        ))}
      </ToggleButtonGroup>
      <Rows
        label="Hand-overs"
        look="handovers"
        columns={columns}
        rows={shown}
        keyOf={keyOf}
        isSelected={({ task }) => task === selected}
        onChoose={({ task }) => select(task)}
        attributes={({ task }) => ({ 'data-id': task })}
        renderCells={(row) => <Cells {...row} />}
      />
    </>
  );
}

const none = '–';
const orNone = (is: boolean, n: number): string => (is ? figure(n) : none);

function Cells({ who, what, spent, withheld }: SpendingRow): ReactElement {
  const { handovers, sent, fullHistory, returned, compressed, inputTokens, outputTokens } = spent;
  const isSent = handovers > 0;
  const used = inputTokens + outputTokens;
  const names = withheld.join(', ');
  return (
    <>
      <span role="gridcell" className="cell cell-who said" title={who}>
        {who}
      </span>
      <span role="gridcell" className="cell cell-for said dim" title={what}>
        {what}
      </span>
      <span role="gridcell" className="cell cell-sent number">
        {orNone(isSent, sent)}
      </span>
      <span role="gridcell" className="cell cell-full number dim">
        {orNone(isSent, fullHistory)}
      </span>
      <span role="gridcell" className="cell cell-share">
        {isSent ? <TokenLine sent={sent} full={fullHistory} /> : <span />}
        <span className="number">{shareOf(spent)}</span>
      </span>
      <span role="gridcell" className="cell cell-returned number dim">
        {orNone(returned > 0, returned)}
      </span>
      <span role="gridcell" className="cell cell-compressed number dim">
        {compressed === undefined
          ? none
          : `${figure(compressed.before)} → ${figure(compressed.after)}`}
      </span>
      <span role="gridcell" className="cell cell-cost number">
        {used === 0 ? (
          <span className="dim">{none}</span>
        ) : (
          `${figure(used)}, ${describeCost(spent)}`
        )}
      </span>
      <span role="gridcell" className="cell cell-withheld said" title={names}>
        {names === '' ? <span className="dim">{isSent ? 'nothing' : none}</span> : names}
      </span>
    </>
  );
}

/** Of a smaller history it is no share. */
function shareOf({ sent, fullHistory }: Spending): string {
  if (fullHistory === 0) return none;
  return sent > fullHistory ? 'more' : percent(sent / fullHistory);
}
