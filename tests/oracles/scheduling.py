"""Scheduling the slow way: sets of pairs, every possible end of a session, formulas as they are written."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import log2


def closure(said):
    """Pairs implied by what was said: chains count unless they go round in a circle."""
    documents = {d for pair in said for d in pair}

    def reachable(start):
        found, todo = set(), [start]
        while todo:
            for better, worse in said:
                if better == todo[-1] and worse not in found:
                    found.add(worse)
                    todo.insert(0, worse)
            todo.pop()
        return found

    below = {d: reachable(d) for d in documents}
    return set(said) | {(a, b) for a in documents for b in below[a] if a != b and a not in below[b]}


def judged_even(state, a, b):
    """The state after a further judgment: a and b are the same. Nothing follows from it."""
    seen = state.seen.copy()
    seen[[a, b]] = True
    return replace(state, seen=seen, n_preferences=state.n_preferences + 1, even=(*state.even, (a, b)))


def implied(n, said, bad):
    """Every pair (better, worse) that counts: the closure, and what is not Bad over what is, where nothing else is."""
    closed = closure(said)
    marks = {(a, b) for a in range(n) for b in range(n) if a not in bad and b in bad and (b, a) not in closed}
    return closed | marks


def open_pairs(n, said, bad):
    known = implied(n, said, bad)
    return [
        (a, b)
        for a, b in combinations(range(n), 2)
        if a not in bad and b not in bad and (a, b) not in known and (b, a) not in known
    ]


def score(ranking, pairs, weight="none"):
    """ppref or wpref of a list of documents over pairs (better, worse)."""
    limit = len(ranking) + 1
    rank = {d: place for place, d in enumerate(ranking, start=1)}
    right = total = 0.0
    for better, worse in pairs:
        one, two = rank.get(better, limit), rank.get(worse, limit)
        if one == two:  # neither is ranked
            continue
        at = {"none": 1, "lower": max(one, two), "upper": min(one, two)}[weight]
        w = 1.0 if weight == "none" else 1 / log2(at + 1)
        total += w
        right += w if one < two else 0.0
    return right / total if total else 0.0


def ends(n, said, bad, seen, later_bad):
    """Every set of pairs that a session may end with, whichever pair is shown next and whatever is answered.

    A pair is shown only if it is open; the answer is a preference, or one or both of the two are marked as Bad.
    """

    @cache
    def follow(said, bad, seen):
        shown = open_pairs(n, said, bad)
        if not shown:
            return {frozenset(implied(n, said, bad))}
        found = set()
        for a, b in shown:
            now = seen | {a, b}
            found |= follow(frozenset(closure(said | {(a, b)})), bad, now)
            found |= follow(frozenset(closure(said | {(b, a)})), bad, now)
            may = [d for d in (a, b) if later_bad == "any" or (later_bad == "unseen" and d not in seen)]
            for marked in [{d} for d in may] + ([set(may)] if len(may) == 2 else []):
                found |= follow(said, bad | marked, seen | marked)
        return found

    return follow(frozenset(closure(said)), frozenset(bad), frozenset(seen))


def utility(n, said, bad, rankings, kind, p, weight="none"):
    """{(a, b): expected utility} of open pairs, as written; p(a, b) that a is preferred."""
    known = implied(n, said, bad)
    both_bad = [(a, b) for a, b in combinations(sorted(bad), 2) if (a, b) not in known and (b, a) not in known]

    def w(ranking, a, b):
        """Weight of the pair, + if a stands higher, - if b does."""
        value = score(ranking, [(a, b)])
        limit = len(ranking) + 1
        one, two = (ranking.index(d) + 1 if d in ranking else limit for d in (a, b))
        if one == two:
            return 0.0
        size = {"none": 1.0, "lower": 1 / log2(max(one, two) + 1), "upper": 1 / log2(min(one, two) + 1)}[weight]
        return size if value else -size

    whole = [sum(abs(w(r, *pair)) for pair in combinations(range(n), 2) if pair not in both_bad) for r in rankings]

    def gain(a, b):
        new = {(x, y) for x, y in closure(said | {(a, b)}) - closure(said) if x not in bad and y not in bad}
        total = 0.0
        for e, f in combinations(range(len(rankings)), 2):
            one, two = rankings[e], rankings[f]
            if kind == "printed":
                pairs = [(a, b)] + [(a, i) for i in range(n) if (b, i) in known]
                pairs += [(i, b) for i in range(n) if (i, a) in known]
                total += sum(abs(w(one, *pair) - w(two, *pair)) for pair in pairs)
            elif kind == "settled":
                total += sum(abs(w(one, *pair) / (whole[e] or 1) - w(two, *pair) / (whole[f] or 1)) for pair in new)
            else:
                moved = sum(max(w(one, *pair), 0) / (whole[e] or 1) for pair in new)
                total += abs(moved - sum(max(w(two, *pair), 0) / (whole[f] or 1) for pair in new))
        return total

    return {(a, b): p(a, b) * gain(a, b) + p(b, a) * gain(b, a) for a, b in open_pairs(n, said, bad)}
