import { useMemo, type ReactElement } from 'react';
import { Icon } from '../ui/icon.tsx';
import { Notice } from '../ui/notice.tsx';
import { Rows } from '../ui/rows.tsx';
import { plain, type CaseIndex } from './case-index.ts';
import { documentUses, type DocumentUse } from './documents.ts';
import { comesFrom } from './lineage.ts';
import { holds, type TabProps } from './tab-props.ts';

const columns = ['Document', 'Who got it', 'Used as', 'For', 'Came from'];
const keyOf = ({ key }: DocumentUse): string => key;

/** Who got which document, as what, and where it came from. */
export function DocumentsTab({ index, find, selected, select }: TabProps): ReactElement {
  const uses = useMemo(() => documentUses(index), [index]);
  const shown = uses.filter(({ resource, who, target, edge }) =>
    holds(
      find.trim(),
      index.label(resource.id),
      resource.id,
      who,
      index.label(target),
      edge.role,
      edge.note,
    ),
  );
  if (shown.length === 0) {
    return (
      <Notice
        title={uses.length === 0 ? 'No document was given to anybody' : 'No document matches'}
        icon="resource"
      >
        <p>
          {uses.length === 0
            ? 'Here stands who got which document, once a task or dialog was given one.'
            : 'No document, recipient or role in this case holds these words.'}
        </p>
      </Notice>
    );
  }
  return (
    <Rows
      label="Who got which document"
      look="documents"
      columns={columns}
      rows={shown}
      keyOf={keyOf}
      isSelected={({ resource }) => resource.id === selected}
      onChoose={({ resource }) => select(resource.id)}
      attributes={({ resource, target }) => ({ 'data-id': resource.id, 'data-target': target })}
      renderCells={(use) => <Cells index={index} use={use} />}
    />
  );
}

function Cells({
  index,
  use,
}: {
  readonly index: CaseIndex;
  readonly use: DocumentUse;
}): ReactElement {
  const { resource, who, edge, target } = use;
  const name = index.label(resource.id);
  return (
    <>
      <span role="gridcell" className="cell cell-what">
        <Icon name="resource" />
        <span className="said label" title={name}>
          {name}
        </span>
      </span>
      <span role="gridcell" className="cell cell-who said">
        {who ?? 'the whole case'}
      </span>
      <span role="gridcell" className="cell cell-role said" title={edge.note}>
        {edge.role === undefined ? <span className="dim">–</span> : plain(edge.role)}
      </span>
      <span role="gridcell" className="cell cell-for said dim" title={index.label(target)}>
        {index.label(target)}
      </span>
      <span role="gridcell" className="cell cell-from said dim">
        {originOf(index, resource.id)}
      </span>
    </>
  );
}

/** The nearest thing it came from, in words. */
function originOf(index: CaseIndex, id: string): string {
  const [first] = comesFrom(index, id);
  if (first === undefined) return 'outside';
  const dialog = index.dialog(index.task(first.id)?.dialog ?? first.id);
  const worker = dialog === undefined ? undefined : index.worker(dialog);
  return worker === undefined ? index.label(first.id) : index.label(worker);
}
