import { createContext, use } from 'react';

/** The element that scrolls; the lists in it show only what is in view. */
export const ScrollerContext = createContext<HTMLElement | null>(null);

export const useScroller = (): HTMLElement | null => use(ScrollerContext);
