"""Reads card terms out of quoted sentences and recomputes rewards against them.

The twin of check.mjs: both must give equal answers. Knows no bank, no card, no protocol.
"""

import re

CATEGORIES = {
    "travel": ["travel"],
    "software": ["software", "saas"],
    "media": ["media", "advertising"],
    "green": ["green", "sustainable", "eco-friendly"],
    "operations": ["operations"],
    "transportation": ["transportation", "logistics"],
    "groceries": ["groceries"],
    "dining": ["dining"],
    "entertainment": ["entertainment"],
    "utilities": ["utilities"],
    "shopping": ["shopping"],
}


def pattern(text):
    return re.compile(text, re.IGNORECASE | re.ASCII)


RATE = pattern(
    r"(?:(\d) × )?(?:(?<![\d.])(\d{1,3}(?:\.\d{1,2})?)%"
    r"|\$?(?<![\d.])(\d{1,3}(?:\.\d{1,2})?) (?:\w+ )?points? per dollar)"
)
OTHER_SCOPE = pattern(r"\b(?:other|outside|standard|non-\w+|not)\b")
ALL_SCOPE = pattern(
    r"\b(?:all (?:eligible )?(?:purchases|categories|spend)|eligible (?:purchases|spend)"
    r"|each posted purchase|on those transactions)\b"
)
NOT_A_RATE = pattern(
    r"\b(?:apr|apy|fee|fees|rebate|discount|reduction|off|conversion|example)\b|\bnot earn\b"
)
EARNING = pattern(r"\b(?:earn|earns|earned|cash back|back|points)\b")
MULTIPLIED = pattern(r"multiplied by")
CLAUSE = re.compile(r", while | while |; ")
EXCLUSION = pattern(r"\b(?:merchants|retailers)\b[^\n]*?\b(?:not earn|earn\s+\*\*0%)[^\n]*")
PER_DOLLAR = pattern(r"(?<![\d.])(\d{1,3}(?:\.\d{1,2})?) points? per dollar")
CONDITIONAL = pattern(r"\bmonths\b|\bafter\b")
ITEM = re.compile(r"^\s*- (.{1,60})$", re.ASCII)
ONLY = pattern(r"\bcharging only qualifies for (\w+) rewards[^:\n]*: ([^.\n]+)\.")
TIMES = pattern(r"\b(\d)x cash back\b|\bmultiplied by (\d)\b|\bearn (\d) × ")
MONTHS = pattern(r"\b(?:first|lasts) (\d{1,2}) months\b")
START = pattern(r"\b(?:start date:|starting) (\d{4}-\d{2}-\d{2})")
END = pattern(r"\b(?:end date:|ending) (\d{4}-\d{2}-\d{2})")
CLAIM = pattern(r"\bclaim(?:ed)?\b")
POINT = re.compile(r"\b1 point = \$0\.(?!00)(\d{2})(?!\d)", re.ASCII)
DATE = re.compile(r"(\d{2})/(\d{2})/(\d{4})", re.ASCII)
AMOUNT = re.compile(r"\$?(\d{1,3}(?:,\d{3}){0,2}|\d{1,9})\.(\d{2})", re.ASCII)
POINTS = re.compile(r"(\d{1,9}) points", re.ASCII)
CHARGING = pattern(r"charg")


def hundredths(text):
    """Hundredths: of a percent, or of a point per dollar."""
    whole, _, fraction = text.partition(".")
    return int(whole) * 100 + int(fraction.ljust(2, "0"))


def word_in(text, word):
    return pattern(r"(?<![\w-])" + re.escape(word) + r"(?!\w)").search(text) is not None


def scopes_of(clause):
    if OTHER_SCOPE.search(clause):
        return ["other"]
    named = [name for name, words in CATEGORIES.items() if any(word_in(clause, w) for w in words)]
    if named:
        return named
    return ["all"] if ALL_SCOPE.search(clause) else []


def clauses_of(quote):
    """A sentence that states several rates is read clause by clause."""
    return CLAUSE.split(quote) if len(list(RATE.finditer(quote))) > 1 else [quote]


def read_rates(term):
    found = []
    for clause in clauses_of(term["quote"]):
        rates = list(RATE.finditer(clause))
        if len(rates) != 1 or NOT_A_RATE.search(clause) or not EARNING.search(clause):
            continue
        times, percent, points = rates[0].groups()
        for scope in scopes_of(clause):
            found.append(
                {
                    "kind": "rate",
                    "scope": scope,
                    "value": hundredths(percent if percent is not None else points),
                    "inPoints": percent is None,
                    "promotional": times is not None or MULTIPLIED.search(clause) is not None,
                    "term": term,
                }
            )
    return found


def read_exclusions(term):
    """'The following merchants do NOT earn the bonus …' with the list that follows."""
    stated = EXCLUSION.search(term["quote"])
    if stated is None:
        return []
    instead = list(RATE.finditer(stated.group(0)))
    points = list(PER_DOLLAR.finditer(stated.group(0)))
    if not instead:
        return []
    value = hundredths(points[-1].group(1) if points else instead[-1].group(2))
    found = []
    conditional = False
    for line in term["quote"][stated.start() :].split("\n"):
        if line.strip().startswith(("**", "#")):
            conditional = CONDITIONAL.search(line) is not None
        item = ITEM.match(line)
        if item is not None:
            found.append(
                {
                    "kind": "exclusion",
                    "merchant": item.group(1).strip(),
                    "value": value,
                    "inPoints": bool(points),
                    "conditional": conditional,
                    "term": term,
                }
            )
    return found


def read_only_qualifies(term):
    """'EV charging only qualifies … networks: A, B, or C.'"""
    stated = ONLY.search(term["quote"])
    if stated is None:
        return []
    names = [name.strip() for name in re.split(r",? or |, ", stated.group(2))]
    return [{"kind": "only", "category": stated.group(1).lower(), "names": names, "term": term}]


def first_group(match):
    return None if match is None else next(group for group in match.groups() if group is not None)


def read_promotion(term):
    """'2x cash back … for the first 6 months', its window, and whether it has to be claimed."""
    text = term["quote"]
    times = first_group(TIMES.search(text))
    months = first_group(MONTHS.search(text))
    part = {
        "times": None if times is None else int(times),
        "months": None if months is None else int(months),
        "start": first_group(START.search(text)),
        "end": first_group(END.search(text)),
        "claimed": True if CLAIM.search(text) else None,
    }
    if all(value is None for value in part.values()):
        return []
    return [{"kind": "promotion", **part, "term": term}]


def read_point_value(term):
    """'1 point = $0.01': what a point is worth, in cents."""
    stated = POINT.search(term["quote"])
    return [] if stated is None else [{"kind": "point", "cents": int(stated.group(1)), "term": term}]


def read_terms(terms):
    """Everything the quoted terms state. Terms without a card hold for every card."""
    facts = []
    for term in terms:
        exclusions = read_exclusions(term)
        facts += exclusions + read_only_qualifies(term) + read_promotion(term)
        facts += read_point_value(term)
        if not exclusions:
            facts += read_rates(term)
    return facts


def promotions_of(facts):
    """Promotions put together from the sentences of one document."""
    by_document = {}
    for fact in facts:
        if fact["kind"] != "promotion":
            continue
        whole = by_document.setdefault(fact["term"]["documentId"], {})
        for key in ("times", "months", "start", "end", "claimed"):
            if whole.get(key) is None:
                whole[key] = fact[key]
        if fact["times"] is not None:
            whole.setdefault("rule", fact["term"])
    return [
        one for one in by_document.values() if one["times"] is not None and one["months"] is not None
    ]


def iso_date(text):
    """MM/DD/YYYY to YYYY-MM-DD, so that dates compare as text."""
    parts = DATE.fullmatch(text)
    return None if parts is None else f"{parts[3]}-{parts[1]}-{parts[2]}"


def add_months(date, months):
    year, month, day = (int(part) for part in date.split("-"))
    total = month - 1 + months
    return f"{year + total // 12}-{total % 12 + 1:02d}-{day:02d}"


def promotion_for(facts, date, opened):
    """The promotion that multiplies a purchase; 'unknown' where a term leaves it open."""
    for promotion in promotions_of(facts):
        if opened is None:
            return {"unknown": "the day the card was opened is not given"}
        start, end = promotion["start"], promotion["end"]
        in_window = promotion["claimed"] is True or (
            (start is None or opened >= start) and (end is None or opened <= end)
        )
        if not in_window or date < opened or date >= add_months(opened, promotion["months"]):
            continue
        if promotion["claimed"] is True:
            return {"unknown": "a promotion applies only if it was claimed"}
        return promotion
    return None


def plain_first(rates, scope):
    found = [rate for rate in rates if rate["scope"] == scope]
    plain = [rate for rate in found if not rate["promotional"]]
    return plain or found


def known_category(category):
    return next(
        (name for name, words in CATEGORIES.items() if name == category or category in words), None
    )


def rate_for(facts, transaction):
    """The rate a purchase earns by the terms, or why none can be told."""
    merchant = transaction["merchant"]
    excluded = next(
        (f for f in facts if f["kind"] == "exclusion" and word_in(merchant, f["merchant"])), None
    )
    if excluded is not None and excluded["conditional"]:
        return {"why": "the terms depend on how long the subscription has run"}
    rates = [fact for fact in facts if fact["kind"] == "rate"]
    known = known_category(transaction["category"].lower())
    bonus = [] if known is None else plain_first(rates, known)
    standard = plain_first(rates, "other") or plain_first(rates, "all")
    if excluded is not None and (bonus or excluded["value"] == 0):
        return excluded
    only = next((f for f in facts if f["kind"] == "only" and f["category"] == known), None)
    outside = (
        only is not None
        and CHARGING.search(merchant) is not None
        and not any(word_in(merchant, name) for name in only["names"])
    )
    if outside and standard:
        return {**standard[0], "term": only["term"]}
    chosen = bonus or standard
    if not chosen:
        return {"why": "no term given states a rate for this card and category"}
    first = chosen[0]
    if any((r["value"], r["inPoints"]) != (first["value"], first["inPoints"]) for r in chosen):
        return {"why": "the terms given state different rates"}
    return first


def cents_of(amount):
    """'$1,247.99' in cents; None for anything else."""
    parts = AMOUNT.fullmatch(amount)
    return None if parts is None else int(parts[1].replace(",", "")) * 100 + int(parts[2])


def expect(facts, transaction, opened):
    """Expected points of one purchase, or why they can't be told."""
    cents = cents_of(transaction["amount"])
    paid = POINTS.fullmatch(transaction["rewards_earned"])
    date = iso_date(transaction["date"])
    if transaction["status"] != "COMPLETED":
        return {"why": "the purchase is not completed"}
    if cents is None or paid is None or date is None:
        return {"why": "amount, date or rewards are not in a known form"}
    rate = rate_for(facts, transaction)
    if "why" in rate:
        return rate
    worth = next((fact for fact in facts if fact["kind"] == "point"), None)
    if not rate["inPoints"] and worth is None:
        return {"why": "no term given states what a point is worth"}
    promotion = promotion_for(facts, date, opened)
    if promotion is not None and "unknown" in promotion:
        return {"why": promotion["unknown"]}
    times = 1 if promotion is None else promotion["times"]
    divisor = 10_000 if rate["inPoints"] else 10_000 * worth["cents"]
    rule = rate["term"] if promotion is None else promotion["rule"]
    # Whole numbers all the way: the bank cuts fractions off.
    expected = cents * rate["value"] * times // divisor
    return {"paid": int(paid[1]), "expected": expected, "rule": rule}


def check(transactions, terms, cards):
    """Recomputes every transaction.

    rows: wrong by more than one point. withinOnePoint: off by a single point, which is how a
    fraction was rounded, not which rate was applied.
    """
    opened = {held["card"]: iso_date(held["opened"]) for held in cards}
    facts = read_terms(terms)
    answer = {"rows": [], "checked": 0, "withinOnePoint": [], "notAnswerable": []}
    for transaction in transactions:
        card = transaction["card"]
        own = [fact for fact in facts if fact["term"].get("card") in (None, card)]
        found = expect(own, transaction, opened.get(card))
        if "why" in found:
            answer["notAnswerable"].append(
                {"transaction_id": transaction["transaction_id"], "why": found["why"]}
            )
            continue
        answer["checked"] += 1
        missing = found["expected"] - found["paid"]
        if missing == 0:
            continue
        rule = found["rule"]
        row = {
            "transaction_id": transaction["transaction_id"],
            "merchant": transaction["merchant"],
            "date": transaction["date"],
            "card": card,
            "expected": found["expected"],
            "paid": found["paid"],
            "missing": missing,
            "unit": "points",
            "rule": {"documentId": rule["documentId"], "quote": rule["quote"]},
        }
        answer["rows" if abs(missing) > 1 else "withinOnePoint"].append(row)
    return answer
