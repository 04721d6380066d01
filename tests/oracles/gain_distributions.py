"""Gain distributions a second time, slowly, from section 6.1 of Maddalena et al. (2017), ICTIR.

A document's gain is a list of atoms (gain, weight); a list of documents is a list of such lists, [] where unjudged. A
sum of independent gains is enumerated: every combination of atoms with its probability.
"""

from itertools import pairwise, product
from math import fsum, log2, prod, sqrt


def shares(atoms):
    """[(gain, probability)]; a document that nobody judged surely gains 0."""
    if not atoms:
        return [(0.0, 1.0)]
    total = fsum(weight for _, weight in atoms)
    return [(gain, weight / total) for gain, weight in atoms]


def mean(distribution):
    return fsum(gain * p for gain, p in distribution)


def variance(distribution):
    centre = mean(distribution)
    return fsum((gain - centre) ** 2 * p for gain, p in distribution)


def end(atoms, q):
    """The smallest gain such that gains up to it have a share of at least q."""
    ordered = sorted(shares(atoms))
    for gain, _ in ordered:
        if fsum(p for other, p in ordered if other <= gain) >= q - 1e-12:
            return gain
    return ordered[-1][0]


def weight(rank, dcg="log2"):
    if dcg == "log2":
        return 1 / log2(rank + 1)
    if dcg == "zipf":
        return 1 / rank
    return 1.0 if rank == 1 else 1 / log2(rank)


def constant(k, dcg="log2"):
    """C@k."""
    return fsum(weight(rank, dcg) for rank in range(1, k + 1))


def padded(documents, k):
    """The first k documents; beyond the end of the list nothing is gained."""
    return documents[:k] + [[]] * (k - len(documents))


def the_sum(documents, k, dcg="log2"):
    """[(DCG, probability)] of all combinations."""
    atoms = [shares(one) for one in padded(documents, k)]
    found = []
    for chosen in product(*atoms):
        value = fsum(gain * weight(rank, dcg) for rank, (gain, _) in enumerate(chosen, start=1))
        found.append((value, prod(p for _, p in chosen)))
    return found


def the_mixture(documents, k, dcg="log2"):
    """[(gain, probability)]: the gain at rank r has the weight w_r / C."""
    found = []
    for rank, one in enumerate(padded(documents, k), start=1):
        for gain, p in shares(one):
            found.append((gain, p * weight(rank, dcg) / constant(k, dcg)))
    return found


def cumulated(documents, k, dcg="log2", cumulate="sum"):
    return the_sum(documents, k, dcg) if cumulate == "sum" else the_mixture(documents, k, dcg)


def over_assessors(documents, weights, k, dcg="log2"):
    """[(DCG, probability)]: everybody's own DCG; documents are {assessor: gain}, who did not judge one takes its mean.

    weights : {assessor: weight} of everybody who judged something in the topic.
    """
    found = []
    for who, chance in weights.items():
        own = 0.0
        for rank, one in enumerate(documents[:k], start=1):
            if one:
                usual = mean(shares([(gain, weights[other]) for other, gain in one.items()]))
                own += one.get(who, usual) * weight(rank, dcg)
        found.append((own, chance / fsum(weights.values())))
    return found


def interval(documents, k, dcg="log2", low=0.0, high=1.0):
    """(lower, upper) DCG."""
    ends = [0.0, 0.0]
    for rank, one in enumerate(padded(documents, k), start=1):
        if one:
            ends[0] += end(one, low) * weight(rank, dcg)
            ends[1] += end(one, high) * weight(rank, dcg)
    return tuple(ends)


def ideal(pool):
    """All documents of a topic, from the highest mean gain."""
    return sorted(pool, key=lambda atoms: -mean(shares(atoms)))


def aandcg(documents, pool, k, dcg="log2", cumulate="sum", normalise="subtract"):
    """(mean, s.d.) of agreement-aware nDCG."""
    found = cumulated(documents, k, dcg, cumulate)
    over = constant(k, dcg) if cumulate == "sum" else 1.0
    here, sd = mean(found) / over, sqrt(variance(found)) / over
    best = mean(cumulated(ideal(pool), k, dcg, "mixture"))
    if normalise == "subtract":
        return here - best, sd
    return (here / best, sd / best) if best > 0 else (0.0, 0.0)


def histogram(distribution, edges):
    """Probability of each bin; one holds its lower edge, the last its upper too."""
    found = []
    for low, high in pairwise(edges):
        last = high == edges[-1]
        found.append(fsum(p for gain, p in distribution if low <= gain < high or (last and gain == high)))
    return found
