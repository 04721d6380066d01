"""Measures of preferences, a second time, slowly: loops written from the definitions.

Nothing here imports qrowd or numpy. A ranking is a list of documents, best first. What an assessor said is a list of
(preferred, other, weight, group), and the documents marked as Bad a list of (document, group).
"""

from itertools import combinations
from math import log2


def rank_ascending(scores):
    """Documents by score, equal ones by ascending bytes of their ids."""
    return sorted(scores, key=lambda document: (-scores[document], document.encode("utf-8", "surrogateescape")))


# ---- shares of pairs


def standing(ranking, cutoff):
    """Rank of any document in the ranking up to the cut-off; whatever is not there stands one below its last."""
    seen = ranking[:cutoff]
    return lambda document: seen.index(document) + 1 if document in seen else len(seen) + 1


def ordered(ranking, said, cutoff):
    """(rank of the preferred, rank of the other, weight) of every pair with at least one document ranked."""
    rank, unranked = standing(ranking, cutoff), len(ranking[:cutoff]) + 1
    pairs = [(rank(preferred), rank(other), weight) for preferred, other, weight, _ in said]
    return [pair for pair in pairs if min(pair[:2]) < unranked]


def ppref(ranking, said, cutoff=None):
    pairs = ordered(ranking, said, cutoff)
    total = sum(weight for _, _, weight in pairs)
    return sum(weight for i, j, weight in pairs if i < j) / total if total else 0.0


def wpref(ranking, said, cutoff=None, weight="lower"):
    def of(i, j):
        if weight == "lower":
            return 1 / log2(max(i, j) + 1)
        return 1 / log2(min(i, j) + 1) if weight == "upper" else 1 / (1 + log2(min(i, j)))

    pairs = ordered(ranking, said, cutoff)
    total = sum(of(i, j) * w for i, j, w in pairs)
    return sum(of(i, j) * w for i, j, w in pairs if i < j) / total if total else 0.0


def rpref(ranking, said, cutoff=None):
    total = sum(weight for _, _, weight, _ in said)
    return sum(weight for i, j, weight in ordered(ranking, said, cutoff) if i < j) / total if total else 0.0


def appref(ranking, said, cutoff=None):
    """Mean of ppref@k over the ranks at which rpref@k is higher than before."""
    rises, before = [], 0.0
    for k in range(1, len(ranking[:cutoff]) + 1):
        now = sum(weight for i, j, weight in ordered(ranking, said, k) if i < j)
        if now > before:
            rises.append(ppref(ranking, said, k))
        before = now
    return sum(rises) / len(rises) if rises else 0.0


def nppref(ranking, said, cutoff=None):
    rank, unranked = standing(ranking, cutoff), len(ranking[:cutoff]) + 1
    met = sum(weight for i, j, weight in ordered(ranking, said, cutoff) if i < j)
    best = 0.0
    for one, two in combinations(sorted({document for row in said for document in row[:2]}), 2):
        if rank(one) < unranked or rank(two) < unranked:
            best += max(sum(weight for p, o, weight, _ in said if (p, o) == pair) for pair in ((one, two), (two, one)))
    return met / best if best else 0.0


# ---- levels and compatibility


def wins(said, bad):
    """{document: how many documents it beats}: by weight, or where nothing else decides because the other is Bad."""
    marked = {document for document, _ in bad}
    documents = sorted({document for row in said for document in row[:2]} | marked)

    def beats(one, two):
        balance = sum(weight * (((p, o) == (one, two)) - ((p, o) == (two, one))) for p, o, weight, _ in said)
        return balance > 0 or (balance == 0 and two in marked and one not in marked)

    return {one: sum(beats(one, two) for two in documents if two != one) for one in documents}


def rbo(one, two, p, depth):
    """Rank-biased overlap to a depth, not normalised."""
    return sum(p ** (i - 1) * len(set(one[:i]) & set(two[:i])) / i for i in range(1, depth + 1))


def compatibility(ranking, levels, p=0.95, depth=1000):
    """levels : {document: level}; those above 0 make up the ideal ranking, ties in the ranking's own order."""
    place = {document: i for i, document in enumerate(ranking)}
    ideal = sorted((d for d in levels if levels[d] > 0), key=lambda d: (-levels[d], place.get(d, len(ranking))))
    depth = min(depth, 1000)
    best = rbo(ideal, ideal, p, depth)
    return rbo(ranking, ideal, p, depth) / best if best else 0.0


# ---- trec_eval


def closure(pairs):
    """Pairs that follow over chains, but within a set of documents that lead to one another only what was given."""
    better = {}
    for one, two in pairs:
        better.setdefault(one, set()).add(two)

    def reachable(start):
        found, open_ones = set(), [start]
        while open_ones:
            for following in better.get(open_ones.pop(), ()):
                if following not in found:
                    found.add(following)
                    open_ones.append(following)
        return found

    reach = {document: reachable(document) for pair in pairs for document in pair}
    implied = {(one, two) for one in reach for two in reach[one] if one != two and one not in reach[two]}
    return implied | set(pairs)
