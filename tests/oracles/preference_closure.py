"""Chains, cycles, closure and Bad marks a second time, slowly: every path is walked, every triple looked at.

What an assessor said of a topic is a list of (preferred, other), in the order it was said.
"""

from itertools import combinations, permutations


def held(said):
    """The set of ordered pairs that stand."""
    stand = set()
    for one, two in {tuple(sorted(pair)) for pair in said}:
        ways = [pair for pair in said if set(pair) == {one, two}]
        up, down = ways.count((one, two)), ways.count((two, one))
        if up != down:
            stand.add((one, two) if up > down else (two, one))
    return stand


def paths(stand, start, seen=()):
    """Every document that some path without repetition leads to from `start`."""
    found = set()
    for one, two in stand:
        if one == start and two not in seen:
            found |= {two} | paths(stand, two, (*seen, start))
    return found


def reach(stand):
    documents = {document for pair in stand for document in pair}
    return {document: paths(stand, document) for document in documents}


def components(stand):
    """Sets of two documents or more of which each leads to every other."""
    leads = reach(stand)
    found = {frozenset(two for two in leads[one] if one in leads[two]) | {one} for one in leads}
    return {component for component in found if len(component) > 1}


def shortest_way_round(stand, component):
    for length in range(2, len(component) + 1):
        for way in permutations(sorted(component), length):
            if all(step in stand for step in zip(way, (*way[1:], way[0]), strict=True)):
                return length
    return None


def closure(said, bad, compared):
    """{pair: "judged" | "chain" | "bad"}."""
    stand = held(said)
    found = dict.fromkeys(stand, "judged")
    leads = reach(stand)
    for one in leads:
        for two in leads[one] - {one}:
            if one not in leads[two]:
                found.setdefault((one, two), "chain")
    for good in compared - bad:
        for marked in bad:
            if (good, marked) not in found and (marked, good) not in found:
                found[good, marked] = "bad"
    return found


def triples(stand):
    """(chains, kept, triples, cyclic)."""
    documents = {document for pair in stand for document in pair}
    asked = {frozenset(pair) for pair in stand}
    chains = kept = 0
    for i, j, k in permutations(documents, 3):
        if (i, j) in stand and (j, k) in stand and frozenset((i, k)) in asked:
            chains += 1
            kept += (i, k) in stand
    full = [three for three in combinations(documents, 3) if all(frozenset(p) in asked for p in combinations(three, 2))]
    cyclic = sum(
        any((i, j) in stand and (j, k) in stand and (k, i) in stand for i, j, k in permutations(three))
        for three in full
    )
    return chains, kept, len(full), cyclic


def tested(said):
    """Chains i > j > k whose pair i, k was first judged after both others; how many of them have i > k."""
    stand = held(said)
    first = {}
    for place, pair in enumerate(said):
        first.setdefault(frozenset(pair), place)
    chains = [
        (i, k)
        for i, j in stand
        for one, k in stand
        if one == j
        and k != i
        and first.get(frozenset((i, k)), -1) > max(first[frozenset(p)] for p in ((i, j), (j, k)))
        and {(i, k), (k, i)} & stand
    ]
    return len(chains), sum(pair in stand for pair in chains)
