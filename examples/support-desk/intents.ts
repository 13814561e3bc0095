/**
 * What customers write about, and what the desk then has to look up.
 *
 * A table in the bank's own words: a customer says "something seems off with my cash back", the
 * documents say "dispute" and "representation". No model, no case: one row per kind of request.
 */
import { of, type Intent } from './intent.ts';

const wrong =
  /\b(wrong|off|right|incorrect|error|odd\w*|missing|low|high|add up|discrepan\w*|less than|shorting|short|never (?:got|received)|should be|figure out|understand\w*|audit|dispute)\b/i;
const rewards = /\b(cash ?back|rewards?(?! card)|points)\b/i;
const debit = /\b(debit|wallet|atm card)\b/i;
const creditCard = /\b(credit cards?|rewards card|card)\b/i;
const charge = /\b(charges?|charged|transactions?|purchases?|disputes?|disputing)\b/i;
const notMine =
  /\b(disput\w+|fraud\w*|unauthori[sz]ed|don't recogni[sz]e|never (?:made|used)|stolen card|duplicate|higher than (?:it should|expected))\b/i;
const looking =
  /\b(open(?:ing)?|looking for|apply|sign up|swap|switch|find|recommend|which|best|maximi[sz]e|new)\b/i;
const lost = /\b(lost|stolen|stole|missing)\b/i;
const bankAccount = /\b(checking|savings?|debit|atm|wallet|interest|deposit\w*|bank account)\b/i;

/** The desk's playbook, most telling rows first. */
export const intents: readonly Intent[] = [
  {
    name: 'cash back looks wrong',
    when: [rewards, wrong],
    unless: /\b(rebate|sign-?up bonus|interest|flyers?)\b/i,
    ask: [
      ...of(
        'procedures',
        'submitting a cash back dispute',
        'rewards points cash back representation',
      ),
      ...of('cards', 'earn cash back points rate on purchases'),
      ...of(
        'procedures',
        'applying resolved cash back dispute corrections',
        'points rounding policy',
      ),
      ...of(
        'cards',
        'getting started apply eligibility',
        'exceptions exclusions merchants standard rate',
        'double triple cash back promo earning period',
      ),
      ...of(
        'procedures',
        'rewards redemption options value of a point',
        'missing cash back get help',
      ),
    ],
  },
  {
    name: 'annual fee rebate',
    when: [/\b(rebate|annual fee)\b/i, /\b(rebate|qualify|waive\w*)\b/i],
    unless: /\batm\b/i,
    ask: [
      ...of('cards', 'annual fee rebate eligibility calculation', 'monthly spend threshold rebate'),
      ...of('cards', 'getting started annual fee', 'earning cash back'),
    ],
  },
  {
    name: 'dispute a card charge',
    when: [charge, notMine],
    unless: /\b(debit|interest payments?|cash ?back|rewards statements?|pending disputes?)\b/i,
    ask: of(
      'procedures',
      'filing a credit card transaction dispute',
      'provisional credit eligibility guidelines credit card',
      'order replacement credit card',
      'checking user dispute history',
      'find credit card numbers online',
      'checking pending replacement card orders',
    ),
  },
  {
    name: 'dispute a debit card charge',
    when: [
      debit,
      charge,
      /\b(disput\w+|fraud\w*|unauthori[sz]ed|never made|don't recogni[sz]e)\b/i,
    ],
    ask: of(
      'procedures',
      'filing a debit card transaction dispute',
      'debit card provisional credit guidelines',
      'ATM dispute special procedures',
      'recurring payment disputes stop future payments subscription',
      'checking debit card dispute status',
      'retrieving debit card information',
      'retrieving bank account transaction history',
      'unauthorized debit card transaction',
      'regulation E consumer protections',
      'closing cancelling a debit card',
      'debit card replacement options',
      'ordering a debit card',
    ),
  },
  {
    name: 'lost or stolen card',
    when: [lost, /\b(wallet|cards?|purse|handbag)\b/i],
    unless: /\b(disput\w+|cash ?back|rewards?)\b/i,
    ask: [
      ...of(
        'procedures',
        'lost stolen card cross-product security protocol',
        'freezing and unfreezing a debit card',
        'closing cancelling a debit card',
        'debit card replacement options by account tier',
        'retrieving debit card information',
        'ordering a debit card',
      ),
      ...of('checking', 'account at a glance debit card'),
    ],
  },
  {
    name: 'lost or stolen credit card',
    when: [lost, /\b(credit cards?|rewards card|ecocard)\b/i],
    unless: /\bdisput\w+\b/i,
    ask: of(
      'procedures',
      'order replacement credit card',
      'credit card replacement shipping options and fees',
      'filing a credit card transaction dispute',
    ),
  },
  {
    name: 'replacement card',
    when: [/\b(replacements?|replaced?|damaged|expired)\b/i, creditCard],
    unless: /\b(debit|wallet)\b/i,
    ask: of(
      'procedures',
      'order replacement credit card',
      'checking pending replacement card orders',
      'credit card replacement shipping options and fees',
    ),
  },
  {
    name: 'debit card declined',
    when: [debit, /\bdeclin\w+\b/i],
    ask: of(
      'procedures',
      'common error codes card declined',
      'managing debit card security alerts and blocks',
      'freezing and unfreezing a debit card',
      'retrieving debit card information',
      'lower balance than expected negative balance',
      'authorization hold',
      'retrieving bank account transaction history',
      'ordering a debit card',
      'debit card replacement options',
    ),
  },
  {
    name: 'credit card declined',
    when: [/\bcredit card\b|\brewards card\b/i, /\b(declin\w+|won't go through|blocked)\b/i],
    unless: /\btravel\w*\b/i,
    ask: of(
      'procedures',
      'credit card purchase decline diagnostic procedure',
      'trouble making purchases card',
    ),
  },
  {
    name: 'PIN locked or forgotten',
    when: [/\bpins?\b/i],
    unless: /\bsubscription\b/i,
    ask: of(
      'procedures',
      'PIN lock investigation protocol',
      'resetting or changing a debit card PIN',
      'retrieving debit card information',
      'managing debit card security alerts and blocks',
      'closing cancelling a debit card',
      'ordering a debit card',
      'debit card replacement options',
      'retrieving bank account transaction history',
    ),
  },
  {
    name: 'close a credit card',
    when: [
      /\b(close|cancel|closing|get rid of)\b/i,
      /\b(rewards card|credit cards?|ecocard|crypto-cash|cards)\b/i,
    ],
    unless: /\b(debit|wallet|disput(?:e|ing) (?:some|a|the)|open both)\b/i,
    ask: [
      ...of(
        'procedures',
        'processing credit card account closures',
        'credit card retention protocol',
        'paying off credit card balance from checking account',
        'checking pending replacement card orders',
        'checking user dispute history',
        'applying a credit card statement credit',
        'downgrading a credit card to a no-annual-fee card',
        'how can I close a credit card account',
      ),
      ...of('cards', 'getting started annual fee'),
    ],
  },
  {
    name: 'close a bank account',
    when: [/\b(close|closing|swap)\b/i, /\b(account|checking|savings)\b/i],
    unless: /\bcredit cards?\b(?! and)/i,
    ask: of(
      'procedures',
      'closing personal checking accounts',
      'what to know before closing your account',
    ),
  },
  {
    name: 'credit limit increase',
    when: [/\b(credit )?limit\b/i, /\b(increase|raise|higher|more)\b/i],
    unless: /\b(debit|atm|everyone ?pay|sending)\b/i,
    ask: of(
      'procedures',
      'how can I request a CLI credit limit increase',
      'CLI eligibility requirements by card tier',
      'CLI payment history approval criteria',
      'processing CLI approvals and denials',
      'checking pending replacement card orders',
      'checking user dispute history',
    ),
  },
  {
    name: 'refer somebody for an account',
    when: [
      /\b(refer(?:ral|rals|red|ring)?)\b/i,
      /\b(accounts?|gold years|sky blue|checking|business)\b/i,
    ],
    ask: [
      ...of(
        'procedures',
        'checking account referral program terms and restrictions',
        'FAQ checking account referrals',
      ),
      { of: 'choice', text: 'referral program bonus referrer' },
    ],
  },
  {
    name: 'refer somebody for a card',
    when: [/\b(refer(?:ral|rals|red|ring)?)\b/i, /\bcards?\b/i],
    ask: [
      ...of(
        'procedures',
        'credit card referral offers and restrictions',
        'credit card referral statuses',
        'generating a credit card referral link',
        'refer a friend and earn rewards',
      ),
      { of: 'choice', text: 'referral program earn rewards for referring', kinds: ['credit-card'] },
    ],
  },
  {
    name: 'ATM fees look wrong',
    when: [/\batms?\b/i, /\b(fees?|charged)\b/i, wrong],
    unless: /\bdisput\w+\b/i,
    ask: [
      ...of(
        'checking',
        'out-of-network foreign ATM fees',
        'account at a glance',
        'ATM fee rebates benefits',
      ),
      ...of(
        'procedures',
        'applying credits and rebates to checking accounts',
        'retrieving bank account transaction history',
      ),
    ],
  },
  {
    name: 'interest looks wrong',
    when: [/\b(interest|savings? accounts?)\b/i, wrong],
    unless: /\b(credit limit|pay interest|charged interest|open(?:ing)?|atm)\b/i,
    ask: [
      ...of(
        'savings',
        'complete guide specifications requirements interest rate APY',
        'how interest is calculated and paid',
      ),
      ...of(
        'procedures',
        'linked checking account APY boosts for savings accounts',
        'linked checking account APY boost selection policy',
        'credit card APY bonuses stacking policy',
        'applying credits to savings accounts',
        'submitting interest discrepancy reports',
        'retrieving bank account transaction history',
      ),
      ...of('savings', 'credit card APY bonuses'),
      ...of('checking', 'account at a glance APY boost linked savings'),
    ],
  },
  {
    name: 'open a checking account',
    when: [looking, /\bchecking\b/i],
    unless: /\b(refer\w*|not interested in .*checking)\b/i,
    ask: of('procedures', 'opening personal checking accounts'),
  },
  {
    name: 'open a business checking account',
    when: [looking, /\bbusiness checking\b/i],
    unless: /\brefer\w*\b/i,
    ask: of(
      'procedures',
      'opening business checking accounts',
      'business checking account promotion',
    ),
  },
  {
    name: 'open a savings account',
    when: [looking, /\bsavings?\b/i],
    ask: of('procedures', 'opening personal savings accounts'),
  },
  {
    name: 'choose with ATM fees in mind',
    when: [looking, /\batms?\b|\babroad\b/i],
    unless: wrong,
    ask: of('choice', 'ATM fees out-of-network foreign withdrawal'),
  },
  {
    name: 'choose a product',
    when: [looking, /\b(account|accounts|checking|savings|credit card|card)\b/i],
    unless:
      /\b(refer\w*|disput\w+|declin\w+|close my|frozen|lost|stolen)\b(?!.*\b(?:open|opening)\b)/i,
    ask: of(
      'choice',
      'at a glance complete guide getting started eligibility annual fee specifications requirements',
    ),
  },
  {
    name: 'choose for interest',
    when: [looking, /\b(interest|earn|apy|return)\b/i, /\bsavings?\b/i],
    unless: /\binterest payments?\b/i,
    ask: [
      ...of('procedures', 'linked checking account APY boosts for savings accounts'),
      { of: 'choice', text: 'credit card APY bonuses', kinds: ['savings'] },
    ],
  },
  {
    name: 'sign-up bonus or promotional offer',
    when: [/\b(promo\w*|sign-?up bonus|flyers?|offer)\b/i],
    unless: /\brefer\w*\b/i,
    ask: [
      { of: 'choice', text: 'new customer promo offer bonus', kinds: ['credit-card'] },
      { of: 'choice', text: 'apply getting started eligibility', kinds: ['credit-card'] },
      ...of('procedures', 'human agent transfer reason codes'),
    ],
  },
  {
    name: 'card payment not shown',
    when: [
      /\b(paid|payment)\b/i,
      /\b(unpaid|not (?:showing|reflected|posted)|still shows?|deducted)\b/i,
    ],
    ask: of('procedures', 'backend incident payment deducted not reflected statement'),
  },
  {
    name: 'credit score dropped',
    when: [
      /\bcredit (?:score|bureau|karma|report\w*)\b|\bdelinquen\w+\b/i,
      /\b(drop\w*|report\w*|delinquen\w+|wrong)\b/i,
    ],
    ask: of('procedures', 'backend incident erroneous credit bureau reporting delinquency'),
  },
  {
    name: 'recent transactions and balance',
    when: [/\b(recent transactions|balance|statement)\b/i, /\b(show|see|check|view|higher)\b/i],
    unless: /\b(cash ?back|rewards?|interest|atm)\b/i,
    ask: [
      ...of(
        'procedures',
        'order replacement credit card fraud',
        'filing a credit card transaction dispute',
      ),
      ...of('anything', 'account recovery verification bypass code'),
    ],
  },
  {
    name: 'change contact data',
    when: [/\b(change|update)\b/i, /\b(e-?mail|phone|address|name)\b/i],
    ask: [
      ...of('procedures', 'human agent transfer reason codes verification failed'),
      ...of('anything', 'account recovery bypass code', 'retrieving customer account information'),
    ],
  },
  {
    name: 'speak to a person',
    when: [/\b(human|person|representative|supervisor|agent)\b/i],
    ask: of('procedures', 'human agent transfer reason codes'),
  },
  {
    name: 'travel with a card',
    when: [/\btravel\w*\b/i, creditCard],
    ask: [
      ...of('procedures', 'human agent transfer reason codes'),
      ...of('cards', 'travel benefits foreign transaction fee'),
    ],
  },
  {
    name: 'offer received by mail',
    when: [/\b(letter|mail|flyers?)\b/i],
    unless: /\be-?mail\b/i,
    ask: of('procedures', 'human agent transfer reason codes'),
  },
  {
    name: 'deposit a check',
    when: [
      /\bchecks?\b(?! (?:my|your|our|the|on|out|if|what|it)\b)/i,
      /\bdeposit\w*|cash (?:a|my)\b/i,
    ],
    ask: of('procedures', 'depositing a check into your account', 'mobile deposit limits hold'),
  },
  {
    name: 'direct deposit',
    when: [/\b(direct deposit|paycheck|payroll|salary)\b/i],
    unless: /\bopen\b/i,
    ask: of(
      'anything',
      'direct deposit delay inquiries protocol',
      'direct deposits setup and timing',
    ),
  },
  {
    name: 'move money between accounts',
    when: [/\b(transfer|move|moving)\b/i, /\b(money|funds|between)\b/i],
    unless: /\b(already moved|human|agent)\b/i,
    ask: of(
      'procedures',
      'transferring funds between bank accounts',
      'moving money between your accounts',
    ),
  },
  {
    name: 'overdraft',
    when: [/\boverdr\w+\b/i],
    unless: looking,
    ask: of('checking', 'overdraft fees and protection'),
  },
  {
    name: 'activate a debit card',
    when: [debit, /\bactivat\w+\b/i],
    ask: of('procedures', 'activating a debit card', 'ordering a debit card'),
  },
  {
    name: 'raise a debit card limit',
    when: [debit, /\b(limit|larger|large)\b/i],
    ask: of('procedures', 'requesting temporary debit card limit increase'),
  },
  {
    name: 'redeem rewards',
    when: [rewards, /\b(redeem\w*|use|spend|convert|worth)\b/i],
    unless: wrong,
    ask: [
      ...of('procedures', 'credit card rewards redemption options'),
      ...of('cards', 'redeeming rewards minimum'),
    ],
  },
  {
    name: 'account service',
    when: [bankAccount],
    unless: /\b(cash ?back|rewards statements?|statement three days)\b/i,
    ask: of('procedures', 'retrieving customer account information'),
  },
  {
    name: 'card account service',
    when: [/\b(close|closing|limit increase)\b/i, creditCard],
    ask: of('procedures', 'retrieving customer account information'),
  },
];
