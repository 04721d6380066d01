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


def share_won(said, bad):
    marked = {document for document, _ in bad}
    documents = sorted({document for row in said for document in row[:2]} | marked)
    won = wins(said, bad)
    lost = dict.fromkeys(documents, 0)
    for one in documents:
        for two in documents:
            part = [row for row in said if set(row[:2]) == {one, two}]
            balance = sum(row[2] if row[0] == one else -row[2] for row in part)
            if one != two and (balance > 0 or (balance == 0 and two in marked and one not in marked)):
                lost[two] += 1
    return {d: won[d] / (won[d] + lost[d]) if won[d] + lost[d] else 0.0 for d in documents}


def reach_won(said, bad):
    """Wins over the closure of the pairs that are won by weight."""
    documents = {document for row in said for document in row[:2]}
    majority = set()
    for one in documents:
        for two in documents:
            balance = sum(
                row[2] * (((row[0], row[1]) == (one, two)) - ((row[0], row[1]) == (two, one))) for row in said
            )
            if balance > 0:
                majority.add((one, two))
    return wins([(p, o, 1.0, None) for p, o in closure(majority)] + [(p, p, 0.0, None) for p in documents], bad)


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


def judgment_groups(said, bad):
    """[(closed pairs, documents not Bad, Bad documents)] of every group."""
    names = list(dict.fromkeys([row[3] for row in said] + [group for _, group in bad]))
    groups = []
    for name in names:
        pairs = closure({row[:2] for row in said if row[3] == name})
        marked = {document for document, group in bad if group == name}
        groups.append((pairs, {document for pair in pairs for document in pair} - marked, marked))
    return groups


def prefs(name, ranking, said, bad, counting="program"):
    """trec_eval's prefs_<name>; the ranking breaks ties by ascending id.

    counting : of Rnonrel: "program" (of groups with several subgroups), "one-subgroup", or "documented".
    """
    groups = judgment_groups(said, bad)
    documents = {document for pairs, good, marked in groups for document in good | marked}
    ranked = [document for document in ranking if document in documents]
    unranked = sorted(documents - set(ranked), key=lambda document: document.encode("utf-8", "surrogateescape"))
    place = {document: i for i, document in enumerate([*ranked, *unranked])}
    kind = name.removesuffix("_ret").removesuffix("_imp")
    which = "ret" if name.endswith("_ret") else "imp" if name.endswith("_imp") else "all"

    def counts(pair):
        n_ranked = sum(document in ranked for document in pair)
        return n_ranked >= {"ret": 2, "imp": 1, "all": 0}[which]

    def met(pair):
        return counts(pair) and pair[0] in ranked and place[pair[0]] < place[pair[1]]

    if kind == "num_prefs_poss":
        return sum(len(pairs) for pairs, _, _ in groups)
    if kind == "num_prefs_ful":
        return sum(met(pair) for pairs, _, _ in groups for pair in pairs)
    if kind == "simp":
        possible = sum(counts(pair) for pairs, _, _ in groups for pair in pairs)
        return sum(met(pair) for pairs, _, _ in groups for pair in pairs) / possible if possible else 0.0
    if kind == "pair":
        shares = []
        for one, two in combinations(sorted(documents), 2):
            votes = [pair for pairs, _, _ in groups for pair in pairs if set(pair) == {one, two}]
            if votes and counts(votes[0]):
                shares.append(sum(map(met, votes)) / len(votes))
        return sum(shares) / len(shares) if shares else 0.0
    if kind == "avgjg":
        shares = [(sum(map(met, pairs)), sum(map(counts, pairs))) for pairs, _, _ in groups]
    else:
        assert kind == "avgjg_Rnonrel"
        one_subgroup = counting == "one-subgroup"
        shares = [limited(group, ranked, place, which, met, counts, one_subgroup) for group in groups]
        if counting != "documented" and not all(poss for _, poss in shares):
            return 0.0
    return sum(ful / poss for ful, poss in shares if poss) / len(groups) if groups else 0.0


def limited(group, ranked, place, which, met, counts, one_subgroup):
    """Fulfilled and possible pairs of a group as if it had as many Bad documents as others."""
    pairs, good, marked = group
    among = set(ranked) if which == "ret" else good | marked
    n_good, n_bad = len(good & among), len(marked & among)
    if n_good >= n_bad:
        extra = n_good - n_bad
        return sum(map(met, pairs)) + len(good & set(ranked)) * extra, sum(map(counts, pairs)) + len(good) * extra
    limit = n_good if one_subgroup or which == "all" else len(good)
    down_the_ranking = sorted(marked & among, key=place.get)
    kept = set(down_the_ranking[:limit])
    inside = [pair for pair in pairs if not (set(pair) & marked - kept) and counts(pair)]
    ful, poss = sum(map(met, inside)), len(inside)
    if one_subgroup:
        for one in down_the_ranking:
            for two in down_the_ranking[:limit]:
                poss += 1
                ful += place[one] < place[two] and one in ranked
    return ful, poss
