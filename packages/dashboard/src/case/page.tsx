import {
  useDeferredValue,
  useMemo,
  useRef,
  useState,
  type ReactElement,
  type RefObject,
} from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import type { CaseView } from 'throughline/model';
import { useCase, useTimeline } from '../data/queries.ts';
import { tabs, type Route, type Tab as TabName } from '../frame/route.ts';
import { Failure, Loading } from '../ui/notice.tsx';
import { ScrollerContext } from '../ui/scroller.ts';
import { SearchBox } from '../ui/search-box.tsx';
import { CaseIndex } from './case-index.ts';
import { CaseHead } from './head.tsx';
import { DetailsPane } from './details-pane.tsx';
import { DocumentsTab } from './documents-tab.tsx';
import { History } from './history.ts';
import { HandoversTab } from './handovers-tab.tsx';
import { TimelineTab } from './timeline-tab.tsx';
import { TreeTab } from './tree-tab.tsx';
import type { TabProps } from './tab-props.ts';

type CaseRoute = Extract<Route, { page: 'case' }>;

interface CasePageProps {
  readonly route: CaseRoute;
  readonly go: (to: Route, how?: 'push' | 'replace') => void;
}

const views: Readonly<Record<TabName, readonly [string, (props: TabProps) => ReactElement]>> = {
  tree: ['Tree', TreeTab],
  timeline: ['Timeline', TimelineTab],
  documents: ['Documents', DocumentsTab],
  handovers: ['Hand-overs', HandoversTab],
};
const isTabName = (key: unknown): key is TabName => tabs.some((tab) => tab === key);

/** One case: what is wrong, what it cost, then as a tree, a timeline and tables; details beside it. */
export function CasePage({ route, go }: CasePageProps): ReactElement {
  const query = useCase(route.id);
  const timeline = useTimeline(route.id);
  const { data, error } = query;
  // The tree is in the order of the timeline, and would jump if it were shown before.
  if (data === undefined || (timeline.isPending && error === null)) {
    return (
      <main className="scroller">
        <title>Case · Throughline</title>
        {error === null ? (
          <Loading what="the case" />
        ) : (
          <Failure error={error} retry={() => void query.refetch()} />
        )}
      </main>
    );
  }
  return <Case query={query} timeline={timeline} view={data} route={route} go={go} />;
}

interface CaseProps extends CasePageProps {
  readonly view: CaseView;
  readonly query: ReturnType<typeof useCase>;
  readonly timeline: ReturnType<typeof useTimeline>;
}

function Case({ view, query, timeline, route, go }: CaseProps): ReactElement {
  const assertions = timeline.data?.assertions;
  const history = useMemo(() => new History(assertions ?? []), [assertions]);
  const index = useMemo(() => new CaseIndex(view, history), [view, history]);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const [find, setFind] = useState('');
  const wanted = useDeferredValue(find);
  const select = (id: string | undefined): void => {
    const { selected: _before, ...rest } = route;
    go(id === undefined ? rest : { ...rest, selected: id }, 'replace');
  };
  const shared: TabProps = {
    index,
    timeline,
    find: wanted,
    selected: route.selected,
    select,
  };
  return (
    <div className="case">
      <main className="scroller" ref={setScroller}>
        <ScrollerContext value={scroller}>
          <CaseHead
            index={index}
            query={query}
            select={select}
            show={(tab, words) => {
              setFind(words);
              go({ ...route, tab }, 'push');
              place.current?.scrollIntoView();
            }}
          />
          <CaseTabs place={place} find={find} setFind={setFind} {...{ route, go, shared }} />
        </ScrollerContext>
      </main>
      <DetailsPane
        index={index}
        caseId={route.id}
        selected={route.selected}
        select={select}
        showInTimeline={(id) => {
          setFind(id);
          go({ ...route, tab: 'timeline' }, 'push');
        }}
      />
    </div>
  );
}

interface CaseTabsProps extends CasePageProps {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly find: string;
  readonly setFind: (words: string) => void;
  readonly shared: TabProps;
}

/** The views of a case, one at a time, and the search in them. */
function CaseTabs({ route, go, place, find, setFind, shared }: CaseTabsProps): ReactElement {
  return (
    <Tabs
      className="tabs"
      ref={place}
      selectedKey={route.tab}
      onSelectionChange={(tab) => {
        if (isTabName(tab)) go({ ...route, tab }, 'push');
      }}
    >
      <div className="tabs-line">
        <TabList aria-label="Views of the case" className="tab-list">
          {tabs.map((tab) => (
            <Tab key={tab} id={tab} className="tab">
              {views[tab][0]}
            </Tab>
          ))}
        </TabList>
        <SearchBox
          label="Find in this case"
          placeholder="Find in this case"
          value={find}
          onChange={setFind}
        />
      </div>
      {tabs.map((tab) => {
        const [, View] = views[tab];
        return (
          <TabPanel key={tab} id={tab} className="tab-panel">
            <View {...shared} />
          </TabPanel>
        );
      })}
    </Tabs>
  );
}
