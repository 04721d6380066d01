"""trec_eval's other measures in obvious loops, from what the program's own texts say of them.

A ranking is a list of documents, best first; grades map judged documents to grades.
"""

from math import floor, log, log2

from oracles.measures import dcg, gain_of, number_relevant, precision, relevant


def found(ranking, grades, rel):
    return [document for document in ranking if relevant(document, grades, rel)]


def nonrelevant_retrieved(ranking, grades, rel):
    return len([document for document in ranking if document in grades and grades[document] < rel])


def set_precision(ranking, grades, rel):
    return len(found(ranking, grades, rel)) / len(ranking) if ranking else 0.0


def set_relative_precision(ranking, grades, rel):
    best = min(len(ranking), number_relevant(grades, rel))
    return len(found(ranking, grades, rel)) / best if best else 0.0


def set_recall(ranking, grades, rel):
    total = number_relevant(grades, rel)
    return len(found(ranking, grades, rel)) / total if total else 0.0


def set_map(ranking, grades, rel):
    return set_precision(ranking, grades, rel) * set_recall(ranking, grades, rel)


def set_f(ranking, grades, x, rel):
    p, r = set_precision(ranking, grades, rel), set_recall(ranking, grades, rel)
    if p == 0:
        return 0.0
    return (x + 1) / (x / r + 1 / p)


def utility(ranking, grades, worth, n_collection, rel):
    hits = len(found(ranking, grades, rel))
    misses = number_relevant(grades, rel) - hits
    noise = len(ranking) - hits
    rest = n_collection - hits - misses - noise
    return worth[0] * hits + worth[1] * noise + worth[2] * misses + worth[3] * rest


def relative_precision(ranking, grades, k, rel):
    total = number_relevant(grades, rel)
    return precision(ranking, grades, k, rel) / (min(k, total) / k) if total else 0.0


def unjudged(ranking, grades, k):
    return len([document for document in ranking[:k] if document not in grades]) / k


def interpolated(ranking, grades, recall, rel):
    """The highest precision at any rank at which this many relevant documents have been seen."""
    needed = floor(recall * number_relevant(grades, rel) + 0.9)
    best = 0.0
    for k in range(1, len(ranking) + 1):
        if len(found(ranking[:k], grades, rel)) >= needed:
            best = max(best, precision(ranking, grades, k, rel))
    return best


def eleven_points(ranking, grades, rel):
    return sum(interpolated(ranking, grades, i / 10, rel) for i in range(11)) / 11


def precision_at_multiple(ranking, grades, multiple, rel):
    k = floor(multiple * number_relevant(grades, rel) + 0.9)
    return precision(ranking, grades, k, rel) if k else 0.0


def inferred(ranking, grades, pool, rel):
    """Yilmaz & Aslam: expected precision at each relevant document, from the judged sample of the pool above it."""
    total = 0.0
    for k, document in enumerate(ranking, start=1):
        if not relevant(document, grades, rel):
            continue
        above = ranking[: k - 1]
        pooled = [d for d in above if d in pool]
        judged = [d for d in pooled if d in grades]
        good = [d for d in judged if grades[d] >= rel]
        expected = 1 / k
        if above:
            share = (len(good) + 0.00001) / (len(judged) + 0.00002)
            expected += (k - 1) / k * len(pooled) / (k - 1) * share
        total += expected
    return total / number_relevant(grades, rel) if total else 0.0


def precisions(ranking, grades, rel):
    return sum(
        precision(ranking, grades, k, rel)
        for k, document in enumerate(ranking, start=1)
        if relevant(document, grades, rel)
    )


def yaap(ranking, grades, rel):
    total = precisions(ranking, grades, rel)
    return log((1 + total) / (1 + number_relevant(grades, rel) - total))


def binary_gain(ranking, grades, rel):
    total = 0.0
    for i, document in enumerate(ranking):
        if relevant(document, grades, rel):
            nonrelevant_above = i - len(found(ranking[:i], grades, rel))
            total += 1 / log2(2 + nonrelevant_above)
    return total / number_relevant(grades, rel) if total else 0.0


def gain(document, grades, gains):
    return gain_of(grades[document], gains) if document in grades else 0.0


def ideal(grades, gains):
    """The documents with a gain, highest first."""
    ordered = sorted(grades, key=lambda document: -gain(document, grades, gains))
    return [document for document in ordered if gain(document, grades, gains) > 0]


def ideal_dcg(grades, gains):
    return dcg(ideal(grades, gains), grades, None, gains)


def ndcg_at(ranking, grades, k, gains):
    return dcg(ranking, grades, k, gains) / dcg(ideal(grades, gains), grades, k, gains)


def ndcg_by_relevant(ranking, grades, gains):
    best = ideal(grades, gains)
    if not best:
        return 0.0
    ranks = [k for k, document in enumerate(ranking, start=1) if gain(document, grades, gains) > 0]
    total = sum(ndcg_at(ranking, grades, k, gains) for k in ranks)
    missed = len(best) - len(ranks)
    return (total + missed * dcg(ranking, grades, None, gains) / ideal_dcg(grades, gains)) / len(best)


def ndcg_by_level(ranking, grades, gains):
    best = [gain(document, grades, gains) for document in ideal(grades, gains)]
    if not best:
        return 0.0
    ends = [k for k in range(1, len(best)) if best[k] != best[k - 1]] + [len(best)]
    if len(ranking) > len(best) + 1:
        ends.append(len(ranking))
    return sum(ndcg_at(ranking, grades, k, gains) for k in ends) / len(ends)


def normalised_gain(ranking, grades, gains):
    best = [gain(document, grades, gains) for document in ideal(grades, gains)]
    if not best:
        return 0.0
    total = 0.0
    for k, document in enumerate(ranking, start=1):
        own = gain(document, grades, gains)
        cost = sum(max(1.0, one) for one in (best + [0.0] * k)[:k])
        gained = sum(gain(other, grades, gains) for other in ranking[:k])
        if own:
            total += own / log2(2 + cost - gained)
    return total / sum(best)


def rbp(ranking, grades, p, gains):
    """Gains brought to 0 to 1 where any level of the topic, or any that is named, has another."""
    every = {level: gain_of(level, gains) for level in {*range(int(max(grades.values())) + 1), *grades.values()}}
    if isinstance(gains, dict):
        every |= gains
    low, high = min(every.values()), max(every.values())
    total = 0.0
    for i, document in enumerate(ranking):
        if document in grades:
            own = gain(document, grades, gains)
            if (low < 0 or high > 1) and high > low:
                own = (own - low) / (high - low)
            total += own * p**i
    return (1 - p) * total


def rbp_residual(ranking, grades, p):
    others = [i for i, document in enumerate(ranking) if document not in grades]
    return (1 - p) * sum(p**i for i in others) + p ** len(ranking) if others else 0.0
