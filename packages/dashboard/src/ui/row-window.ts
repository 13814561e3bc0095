import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/react-virtual';

/** What of a list is to be drawn. */
export interface Drawn {
  readonly items: readonly VirtualItem[];
  /** Pixels that the whole list is high. */
  readonly height: number;
}

export interface Shape {
  readonly scroller: HTMLElement | null;
  /** The element that holds the rows; what stands above it scrolls away with it. */
  readonly body: HTMLElement | null;
  readonly keys: readonly string[];
  readonly rowHeight: number;
  /** Stays in the document wherever the reader scrolls: it holds the focus. */
  readonly active: number;
}

const overscan = 8;
/** What sticks to the top over the rows: the tabs and the names of the columns. */
const stuckAbove = 112;

/**
 * The rows of a list that are in view. A store outside of React, since it changes with every scroll:
 * it is told of the list's shape after each rendering, and tells what to draw.
 */
export class RowWindow {
  readonly #listeners = new Set<() => void>();
  readonly #virtual: Virtualizer<HTMLElement, HTMLElement>;
  #drawn: Drawn = { items: [], height: 0 };
  #shape: Shape = { scroller: null, body: null, keys: [], rowHeight: 1, active: 0 };

  constructor() {
    this.#virtual = new Virtualizer(this.#options(0));
  }

  /** Follows the list's place and size until told to stop. */
  attach(scroller: HTMLElement | null): () => void {
    // The names by which the library's own adapters tell it of these two moments.
    const unmount = this.#virtual['_didMount']();
    const sizes = new ResizeObserver(() => this.update(this.#shape));
    // What stands above the rows may grow by itself.
    for (const part of scroller?.children ?? []) sizes.observe(part);
    return () => {
      sizes.disconnect();
      unmount();
    };
  }

  /** Takes the list's shape; does nothing when it is as it was. */
  update(shape: Shape): void {
    const before = this.#shape;
    this.#shape = shape;
    const margin = this.#margin();
    if (isSame(shape, before) && margin === this.#virtual.options.scrollMargin) return;
    this.#virtual.setOptions(this.#options(margin));
    if (shape.rowHeight !== before.rowHeight) this.#virtual.measure();
    this.#virtual['_willUpdate']();
    this.#draw();
  }

  /** Scrolls as little as brings a row into view. */
  show(at: number): void {
    this.#virtual.scrollToIndex(at, { align: 'auto' });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly drawn = (): Drawn => this.#drawn;

  #draw(): void {
    const items = this.#virtual.getVirtualItems();
    const height = this.#virtual.getTotalSize();
    if (items === this.#drawn.items && height === this.#drawn.height) return;
    this.#drawn = { items, height };
    for (const listener of this.#listeners) listener();
  }

  #options(
    scrollMargin: number,
  ): ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0] {
    const { scroller, keys, rowHeight, active } = this.#shape;
    return {
      count: keys.length,
      getScrollElement: () => scroller,
      estimateSize: () => rowHeight,
      getItemKey: (at) => keys[at] ?? at,
      overscan,
      scrollMargin,
      scrollPaddingStart: stuckAbove,
      scrollPaddingEnd: rowHeight,
      rangeExtractor: (range) => {
        const shown = defaultRangeExtractor(range);
        return active >= keys.length || shown.includes(active)
          ? shown
          : [...shown, active].toSorted((a, b) => a - b);
      },
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => this.#draw(),
    };
  }

  /** Pixels from the start of what scrolls to the first row. */
  #margin(): number {
    const { body, scroller } = this.#shape;
    if (body === null || scroller === null) return 0;
    const [rows, view] = [body.getBoundingClientRect(), scroller.getBoundingClientRect()];
    return Math.round(rows.top - view.top + scroller.scrollTop);
  }

  /** Where a row begins, from the first row on. */
  top({ start }: VirtualItem): number {
    return start - (this.#virtual.options.scrollMargin ?? 0);
  }
}

const isSame = (a: Shape, b: Shape): boolean =>
  a.scroller === b.scroller &&
  a.body === b.body &&
  a.keys === b.keys &&
  a.rowHeight === b.rowHeight &&
  a.active === b.active;
