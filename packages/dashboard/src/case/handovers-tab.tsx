import type { ReactElement } from 'react';
import { Notice } from '../ui/notice.tsx';
import { Rows } from '../ui/rows.tsx';
import { figure, percent } from '../words/numbers.ts';
import { plain, type CaseIndex, type Handover } from './case-index.ts';
import { holds, type TabProps } from './tab-props.ts';
import { TokenLine } from './token-line.tsx';
import { recipient } from './tokens.ts';

const columns = ['To', 'For', 'Sent', 'Full history', 'Share', 'Returned', 'Withheld'];
const keyOf = ({ task }: Handover): string => task;

/** What each hand-over sent, against what the whole history would have been. */
export function HandoversTab({ index, find, selected, select }: TabProps): ReactElement {
  const { handovers } = index.view;
  const shown = handovers.filter((each) =>
    holds(find.trim(), recipient(index, each), index.label(each.task), each.task, ...each.withheld),
  );
  if (shown.length === 0) {
    return (
      <Notice
        title={handovers.length === 0 ? 'No hand-over yet' : 'No hand-over matches'}
        icon="task"
      >
        <p>
          {handovers.length === 0
            ? 'When a Master hands over a subtask, its tokens stand here against the full history.'
            : 'No recipient, subtask or withheld name holds these words.'}
        </p>
      </Notice>
    );
  }
  return (
    <Rows
      label="Hand-overs"
      look="handovers"
      columns={columns}
      rows={shown}
      keyOf={keyOf}
      isSelected={({ task }) => task === selected}
      onChoose={({ task }) => select(task)}
      attributes={({ task }) => ({ 'data-id': task })}
      renderCells={(handover) => <Cells index={index} handover={handover} />}
    />
  );
}

interface CellsProps {
  readonly index: CaseIndex;
  readonly handover: Handover;
}

function Cells({ index, handover }: CellsProps): ReactElement {
  const { task, sent, fullHistory, returned, withheld } = handover;
  const names = withheld.map(plain).join(', ');
  return (
    <>
      <span role="gridcell" className="cell cell-who said">
        {recipient(index, handover)}
      </span>
      <span role="gridcell" className="cell cell-for said dim" title={index.label(task)}>
        {index.label(task)}
      </span>
      <span role="gridcell" className="cell cell-sent number">
        {figure(sent)}
      </span>
      <span role="gridcell" className="cell cell-full number dim">
        {figure(fullHistory)}
      </span>
      <span role="gridcell" className="cell cell-share">
        <TokenLine sent={sent} full={fullHistory} />
        <span className="number">{fullHistory === 0 ? '–' : percent(sent / fullHistory)}</span>
      </span>
      <span role="gridcell" className="cell cell-returned number dim">
        {returned === undefined ? '–' : figure(returned)}
      </span>
      <span role="gridcell" className="cell cell-withheld said" title={names}>
        {names === '' ? <span className="dim">nothing</span> : names}
      </span>
    </>
  );
}
