import { stem } from './terms.ts';

/**
 * What a question says, and the words in which texts answer it. Common knowledge of English, one row
 * a relation; a word met on the left lets those on the right count a little.
 */
const rows: readonly (readonly [string, string])[] = [
  [
    'performer performed performs sang sung sings',
    'singer band musician album song single recorded artist rapper released performed sung',
  ],
  [
    'cast actor actress starring stars plays portrayed portrays',
    'starring stars cast played plays role actor actress portrayed',
  ],
  ['author wrote writer written', 'wrote written novel book author writer poet playwright play'],
  ['director directed', 'directed director film'],
  ['producer produced', 'produced producer production'],
  [
    'composer composed lyricist lyrics',
    'composed composer music opera symphony lyrics wrote written',
  ],
  ['screenwriter screenplay', 'screenplay wrote written'],
  ['character characters', 'character protagonist role named'],
  ['genre', 'genre music film novel style'],
  ['instrument', 'guitar piano violin drums guitarist pianist player'],
  ['spouse wife husband married', 'married wife husband spouse marriage'],
  [
    'father mother parent son daughter child children',
    'son daughter father mother born child children parents',
  ],
  ['sibling brother sister', 'brother sister sibling'],
  ['born birth birthplace', 'born birth native raised'],
  ['die died death', 'died death killed'],
  ['buried burial', 'buried cemetery grave tomb'],
  [
    'educated education university college studied doctorate',
    'university college school studied graduated educated attended degree',
  ],
  ['employer employed works worked', 'worked professor employed joined staff company university'],
  ['occupation profession job', 'actor writer politician player singer worked career'],
  ['award prize won winner', 'won award prize medal awarded winner champion'],
  [
    'where located location administrative territorial entity',
    'located county district province municipality region state town city village situated',
  ],
  ['headquarters headquartered based', 'headquarters headquartered based offices'],
  ['country citizenship nationality', 'country national republic kingdom citizen born'],
  ['continent', 'continent africa asia europe america antarctica oceania'],
  [
    'border borders bordered shares',
    'border bordered adjacent neighboring bounded east west north south counties',
  ],
  [
    'sports team plays played member',
    'played player club team league footballer baseball coach signed',
  ],
  ['league division', 'league division championship club'],
  ['coach manager', 'coach manager coached managed'],
  ['political party politician', 'party politician member elected'],
  ['military army branch', 'army navy force served military regiment'],
  [
    'founded founder inception established start started formed began',
    'founded established formed created began started incorporated founder',
  ],
  ['dissolve dissolved end ended abolished', 'dissolved ended abolished defunct closed until'],
  ['mouth watercourse river turn flows', 'river tributary flows joins empties confluence mouth'],
  ['mountain range peak', 'mountain mountains range peak'],
  ['label record', 'records label released signed'],
  ['owner owned owns', 'owned owner acquired bought subsidiary'],
  ['operator operated operates', 'operated operator run'],
  [
    'company manufacturer made developer developed publisher published',
    'developed published manufactured company made produced developer publisher',
  ],
  [
    'leader ruled ruler charge head president governor',
    'leader president minister ruled ruler governor king emperor head chairman',
  ],
  ['capital', 'capital city seat'],
  ['largest biggest highest most', 'largest biggest highest most'],
  ['population people live inhabitants', 'population inhabitants census residents people'],
  ['language speak spoken', 'language speak spoken'],
  ['religion religious', 'religion religious church faith'],
  ['ethnic race', 'ethnic white black asian hispanic population'],
  ['nickname nicknamed', 'nickname nicknamed known called'],
  ['stand abbreviation acronym', 'stands abbreviated known'],
  ['date year', 'year date'],
  ['released release published', 'released published release'],
  ['war conflict battle', 'war battle conflict fought'],
  ['part', 'part division subsidiary member'],
  ['network channel broadcast aired', 'network channel broadcast aired television premiered'],
  ['invented inventor invent discovered', 'invented discovered inventor discovery developed'],
  ['designed architect designer', 'designed architect designer built'],
  ['cost price much paid', 'cost price million billion dollars'],
  ['cause causes caused trigger', 'cause caused due because lead trigger resulted'],
  ['effect impact affect consequence', 'effect affect impact increase decrease reduce result lead'],
  ['treatment treat drug therapy', 'treatment treated therapy drug'],
  ['symptom symptoms', 'symptoms fever cough signs'],
  ['method methods measured technique', 'using used method measured performed assay technique'],
  [
    'test tested detect detection diagnose diagnosis identify',
    'test tested detected detection diagnosis diagnostic identified assay sample',
  ],
  ['purpose aim goal study objective', 'aim aimed purpose objective study investigated'],
  ['conclusion summary suggest result results', 'conclude conclusion results suggest showed found'],
  [
    'difficult difficulty challenge limitation problem',
    'difficult challenge limitation however problem lack',
  ],
  ['advantage benefit', 'advantage benefit improve effective'],
  ['prevent prevention avoid', 'prevent prevention avoid control measures protect'],
  ['recommend should recommended', 'should must recommend suggest needed'],
  [
    'reduce reduction decrease decline',
    'reduced decreased declined decrease decline lower fewer fell',
  ],
  ['increase growth grow', 'increased grew higher rise rose growth'],
  ['rate percentage proportion percent', 'rate percent proportion percentage'],
  ['differ different difference compare', 'differ different whereas compared than unlike'],
  ['similar similarity', 'similar like identity homology resemble'],
  ['composed consist structure made', 'composed consist contain structure comprises made'],
  ['size length long', 'length size long bp kb nucleotides'],
  ['mechanism action work', 'mechanism inhibits binds blocks action'],
  ['function role', 'function role involved responsible required'],
  ['transmitted transmission spread', 'transmission transmitted spread contact droplets infected'],
  ['origin source come', 'origin source derived originated reservoir'],
  [
    'patients subjects participants studied sample',
    'patients enrolled recruited included subjects participants collected',
  ],
  ['age old ages', 'age aged years old'],
  ['duration time period', 'days weeks months years hours period'],
  ['define definition meaning mean', 'defined definition refers known means called'],
  ['risk factor', 'risk factor associated'],
];

const byTerm: ReadonlyMap<string, readonly string[]> = (() => {
  const map = new Map<string, string[]>();
  for (const [asked, answered] of rows) {
    for (const word of asked.split(' ')) {
      const known = map.get(stem(word)) ?? [];
      map.set(stem(word), [...known, ...answered.split(' ').map(stem)]);
    }
  }
  return map;
})();

/** Terms that tell an answer to a query with these terms, each with the one of these it stands for. */
export function expansionsOf(query: string, terms: readonly string[]): [string, string][] {
  const asked = [...terms, ...(query.toLowerCase().match(/\b(?:where|how|why|should)\b/g) ?? [])];
  return asked.flatMap((word) =>
    (byTerm.get(word) ?? []).map((term): [string, string] => [term, word]),
  );
}

/** How an answer to a kind of question looks, the most telling question words first. */
const kinds: readonly (readonly [asked: RegExp, answered: RegExp])[] = [
  [
    /\b(?:when|(?:what|which) (?:year|date)|date of|inception|how old)\b/i,
    /\b(?:1\d{3}|20\d{2}|January|February|March|April|May|June|July|August|September|October|November|December|century)\b/,
  ],
  [
    /\b(?:how (?:many|much|long|far)|what (?:percent|amount)|size|ages?|percentage|length|weight|duration|rate|number of|population)\b/i,
    /(?<![[\d,–-]\s?)\b\d+(?![\d,\s–-]*\])|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|billion|percent|half|third|quarter)\b/,
  ],
  [
    /\b(?:who|whom|whose|where|performer|author|director|composer|spouse|father|mother|producer|child|sibling|founded by|country|city|state|county|location|place)\b/i,
    /(?<=[\p{L}\d,;:–-]['’”")]*\s+)\p{Lu}/u,
  ],
];

/** What a sentence that answers the query is likely to hold: a date, a number, a name. */
export function answerShape(query: string): RegExp | undefined {
  return kinds.find(([asked]) => asked.test(query))?.[1];
}
