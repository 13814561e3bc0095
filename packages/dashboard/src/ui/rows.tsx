import {
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type CSSProperties,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  type RefObject,
} from 'react';
import { RowWindow, type Drawn } from './row-window.ts';
import { useScroller } from './scroller.ts';
import { useNarrow } from './use-narrow.ts';

/** Where a row stands in a tree. */
interface TreePlace {
  readonly level: number;
  readonly position: number;
  readonly siblings: number;
  /** Absent where nothing hangs below. */
  readonly isOpen?: boolean;
}

export interface RowsProps<T> {
  readonly label: string;
  /** Names the look of the columns in the style sheet. */
  readonly look: 'cases' | 'tree' | 'timeline' | 'documents' | 'handovers';
  readonly columns: readonly string[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly renderCells: (row: T) => ReactNode;
  readonly isSelected: (row: T) => boolean;
  readonly onChoose: (row: T) => void;
  /** Given for a tree. */
  readonly place?: (row: T) => TreePlace;
  /** Keys beyond those that move between rows; true when it was one. */
  readonly onKey?: (key: string, row: T, moveTo: (key: string) => void) => boolean;
  readonly attributes?: (row: T) => Readonly<Record<`data-${string}`, string | undefined>>;
  /** Key of a row that should be brought into view. */
  readonly reveal?: string | undefined;
  /** Called when the last rows are drawn. */
  readonly onEnd?: () => void;
}

const heights = { wide: 34, narrow: 60 } as const;
const nearEnd = 20;

/**
 * A grid, or tree grid, of which only the rows in view are in the document. One row takes part in the
 * order of Tab, arrows move between them (WAI-ARIA grid and treegrid patterns).
 */
export function Rows<T>(props: RowsProps<T>): ReactElement {
  const { rows, keyOf, columns } = props;
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf]);
  const body = useRef<HTMLDivElement>(null);
  const { window, drawn, activeAt, moveTo } = useRows(props, keys, body);
  return (
    <div
      className={`rows rows-${props.look}`}
      role={props.place === undefined ? 'grid' : 'treegrid'}
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
    >
      <div role="rowgroup" className="rows-head">
        <div role="row" aria-rowindex={1} className="row">
          {columns.map((name) => (
            <span key={name} role="columnheader" className="cell">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" ref={body} className="rows-body" style={{ height: drawn.height }}>
        {drawn.items.map((item) => {
          const { index } = item;
          const row = rows[index];
          return row === undefined ? null : (
            <Row
              key={keys[index]}
              {...props}
              row={row}
              keys={keys}
              at={index}
              top={window.top(item)}
              isActive={index === activeAt}
              moveTo={moveTo}
            />
          );
        })}
      </div>
    </div>
  );
}

interface Chosen {
  readonly key: string;
  readonly focus: boolean;
}

interface Moving {
  readonly window: RowWindow;
  readonly drawn: Drawn;
  /** Index of the row that takes part in the order of Tab. */
  readonly activeAt: number;
  /** Makes a row the active one and gives it the focus. */
  readonly moveTo: (at: number) => void;
}

function useRows<T>(
  { rows, reveal, isSelected, onEnd }: RowsProps<T>,
  keys: readonly string[],
  body: RefObject<HTMLDivElement | null>,
): Moving {
  const scroller = useScroller();
  const rowHeight = useNarrow() ? heights.narrow : heights.wide;
  const [window] = useState(() => new RowWindow());
  const drawn = useSyncExternalStore(window.subscribe, window.drawn);
  const [chosen, setChosen] = useState<Chosen>();
  const [revealed, setRevealed] = useState<string>();
  const isNew = reveal !== undefined && reveal !== revealed && keys.includes(reveal);
  if (isNew) {
    const at = chosen === undefined ? undefined : rows[keys.indexOf(chosen.key)];
    setRevealed(reveal);
    // Something may stand in several rows: the one that was chosen is as good.
    if (at === undefined || !isSelected(at)) setChosen({ key: reveal, focus: false });
  }
  const active = Math.max(chosen === undefined ? 0 : keys.indexOf(chosen.key), 0);

  useLayoutEffect(() => window.attach(scroller), [window, scroller]);
  useLayoutEffect(() => {
    window.update({ scroller, body: body.current, keys, rowHeight, active });
  });
  const waitsForFocus = useRef(false);
  const goTo = useEffectEvent(({ key, focus }: Chosen) => {
    const at = keys.indexOf(key);
    if (at >= 0) window.show(at);
    waitsForFocus.current = focus;
  });
  useEffect(() => {
    // Only when another row is chosen: new rows must neither scroll the list nor take the focus.
    if (chosen !== undefined) goTo(chosen);
  }, [chosen]);
  // A row that was out of view is drawn a little later.
  const isDrawn = drawn.items.some(({ index }) => index === active);
  useEffect(() => {
    if (chosen === undefined || !isDrawn || !waitsForFocus.current) return;
    waitsForFocus.current = false;
    body.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  }, [body, chosen, isDrawn]);

  const last = drawn.items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - nearEnd) onEnd?.();
  }, [last, rows.length, onEnd]);
  const moveTo = (at: number): void => {
    const key = keys[Math.max(0, Math.min(at, keys.length - 1))];
    if (key !== undefined) setChosen({ key, focus: true });
  };
  return { window, drawn, activeAt: active, moveTo };
}

interface RowProps<T> extends RowsProps<T> {
  readonly row: T;
  readonly keys: readonly string[];
  readonly at: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly moveTo: (at: number) => void;
}

function Row<T>(props: RowProps<T>): ReactElement {
  const { row, at, keys, moveTo, onChoose } = props;
  const place = props.place?.(row);
  const style: CSSProperties & Record<'--level', number> = {
    transform: `translateY(${props.top}px)`,
    '--level': place?.level ?? 0,
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.target !== event.currentTarget || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const step = moves[event.key];
    if (step !== undefined) moveTo(step(at, keys.length));
    else if (event.key === 'Enter' || event.key === ' ') onChoose(row);
    else if (props.onKey?.(event.key, row, (key) => moveTo(keys.indexOf(key))) !== true) return;
    event.preventDefault();
  };
  return (
    <div
      role="row"
      className="row"
      tabIndex={props.isActive ? 0 : -1}
      aria-rowindex={at + 2}
      aria-selected={props.isSelected(row)}
      aria-level={place?.level}
      aria-posinset={place?.position}
      aria-setsize={place?.siblings}
      aria-expanded={place?.isOpen}
      style={style}
      onKeyDown={onKeyDown}
      onClick={() => {
        moveTo(at);
        onChoose(row);
      }}
      {...props.attributes?.(row)}
    >
      {props.renderCells(row)}
    </div>
  );
}

const pageRows = 12;
const moves: Readonly<Record<string, (at: number, length: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + pageRows,
  PageUp: (at) => at - pageRows,
  Home: () => 0,
  End: (_at, length) => length - 1,
};
