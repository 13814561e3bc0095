import type { Page } from 'playwright-core';

/** What is wrong with the looks of the page as it stands; empty when nothing is. */
export const faultsOf = (page: Page): Promise<string[]> => page.evaluate(faults);

/** Runs in the page: contrast of every text, what sticks out at the side, what is too small to touch. */
function faults(): string[] {
  const found: string[] = [];
  const leastContrast = 4.5;
  const leastTarget = 24;

  type Colour = readonly [r: number, g: number, b: number, alpha: number];
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colourOf = (text: string): Colour => {
    if (canvas === null) throw new Error('no canvas');
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r = 0, g = 0, b = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, alpha / 255];
  };
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (at: 0 | 1 | 2): number => top[at] * top[3] + below[at] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const groundOf = (element: Element | null): Colour => {
    if (element === null) return [255, 255, 255, 1];
    const own = colourOf(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, groundOf(element.parentElement));
  };
  const light = ([r, g, b]: Colour): number => {
    const [lr = 0, lg = 0, lb = 0] = [r, g, b].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * lr + 0.7152 * lg + 0.0722 * lb;
  };
  const contrast = (a: Colour, b: Colour): number => {
    const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? '';
    if (element === null || text === '' || element.closest('.unseen, noscript, [data-disabled]'))
      continue;
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) continue;
    const ground = groundOf(element);
    const ratio = contrast(over(colourOf(getComputedStyle(element).color), ground), ground);
    if (ratio < leastContrast) found.push(`contrast ${ratio.toFixed(2)}: ${text.slice(0, 40)}`);
  }
  for (const scroller of [
    document.documentElement,
    ...document.querySelectorAll('.scroller, .details'),
  ]) {
    if (scroller.scrollWidth > scroller.clientWidth + 1) {
      found.push(
        `${scroller.className || 'page'} is ${scroller.scrollWidth} wide in ${scroller.clientWidth}`,
      );
    }
  }
  for (const target of document.querySelectorAll(
    'button, a, input, [role=tab], [role=row][tabindex]',
  )) {
    const { width, height } = target.getBoundingClientRect();
    // React Aria clips buttons away that are for screen readers alone.
    const isClipped = target.closest('[style*="clip-path"]') !== null;
    const isShown = !isClipped && getComputedStyle(target).visibility === 'visible' && width > 1;
    if (isShown && height < leastTarget && matchMedia('(max-width: 760px)').matches) {
      found.push(`${Math.round(height)} px high: ${target.textContent.slice(0, 40)}`);
    }
  }
  return found;
}
