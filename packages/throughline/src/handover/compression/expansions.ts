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
  ['author wrote writer written', 'wrote written novel book author writer poet playwright play'],
  ['director directed', 'directed director film'],
  ['producer produced', 'produced producer production'],
  ['composer composed', 'composed composer music opera symphony'],
  ['spouse wife husband married', 'married wife husband spouse marriage'],
  [
    'father mother parent son daughter child children',
    'son daughter father mother born child children parents',
  ],
  ['sibling brother sister', 'brother sister sibling'],
  ['born birth birthplace', 'born birth native raised'],
  ['die died death', 'died death killed'],
  [
    'educated education university college studied doctorate',
    'university college school studied graduated educated attended degree',
  ],
  [
    'where located location administrative territorial entity',
    'located county district province municipality region state town city village situated',
  ],
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
  ['political party politician', 'party politician member elected'],
  [
    'founded founder inception established start started formed began',
    'founded established formed created began started incorporated founder',
  ],
  ['dissolve dissolved end ended abolished', 'dissolved ended abolished defunct closed until'],
  ['mouth watercourse river turn flows', 'river tributary flows joins empties confluence mouth'],
  ['label record', 'records label released signed'],
  ['owner owned owns', 'owned owner acquired bought'],
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
  ['named name', 'named name renamed called'],
  ['date year', 'year date'],
  ['war conflict battle', 'war battle conflict fought'],
  ['part', 'part division subsidiary member'],
  ['cause causes caused trigger', 'cause caused due because lead trigger'],
  ['treatment treat drug therapy', 'treatment treated therapy drug'],
  ['symptom symptoms', 'symptoms fever cough signs'],
  ['method methods measured', 'using used method measured performed'],
  ['purpose aim goal study', 'aim aimed purpose objective study investigated'],
  ['conclusion summary suggest result results', 'conclude conclusion results suggest showed found'],
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

/** Terms that tell an answer to a query with these terms. */
export function expansionsOf(query: string, terms: readonly string[]): string[] {
  const asked = /\bwhere\b/i.test(query) ? [...terms, 'where'] : terms;
  return asked.flatMap((term) => byTerm.get(term) ?? []);
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
