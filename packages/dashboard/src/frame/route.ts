export const tabs = ['tree', 'timeline', 'documents', 'handovers'] as const;
export type Tab = (typeof tabs)[number];

/** What the page shows. It is kept behind `#`, so that no id of a case reaches a log of requests. */
export type Route =
  | { readonly page: 'cases' }
  | {
      readonly page: 'case';
      readonly id: string;
      readonly tab: Tab;
      /** Id of what is looked at closely. */
      readonly selected?: string;
    };

const isTab = (text: string | undefined): text is Tab => tabs.some((tab) => tab === text);

/** Anything that names no place of the page is the list of cases. */
export function parseRoute(hash: string): Route {
  const [page, id, tab, selected] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decode);
  if (page !== 'case' || !id) return { page: 'cases' };
  return {
    page: 'case',
    id,
    tab: isTab(tab) ? tab : 'tree',
    ...(selected ? { selected } : {}),
  };
}

export function formatRoute(route: Route): string {
  if (route.page === 'cases') return '#/';
  const { id, tab, selected } = route;
  const parts = ['case', id, tab, ...(selected === undefined ? [] : [selected])];
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
