"""AWARE, slow and obvious: from the equations, in loops over topics, systems and replicates, on nested lists.

Ferrante, Ferro, Maistro (2017), AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors. ACM TOIS 36(2).
`mine` and `theirs` are score tables [topic][system] of an assessor and of a random assessor; a row of None is a topic
without a score. Equation numbers are the paper's; where the paper is silent the project's decisions are followed.
"""

import math

GAPS = ("fro", "rmse", "kld", "tau", "apc")
GRANULARITIES = ("sgl", "tpc")
WEIGHTS = ("md", "msd", "med")
ESTIMATORS = tuple(f"{g}_{gap}_{w}" for g in GRANULARITIES for gap in GAPS for w in WEIGHTS)


# --- Correlations of two lists of scores ------------------------------------------------------------------------------


def sign(x):
    return (x > 0) - (x < 0)


def tau_a(x, y):
    """Equation 14: tied pairs count among the pairs, and for nothing."""
    m = len(x)
    balance = 0
    for i in range(m):
        for j in range(i):
            balance += sign(x[i] - x[j]) * sign(y[i] - y[j])
    return balance / (m * (m - 1) / 2)


def tau_ap_of_orders(walked, reference):
    """Equation 17 for two orders without ties, lists of items from first to last."""
    place = {item: rank for rank, item in enumerate(reference)}
    total = 0.0
    for i in range(1, len(walked)):  # from the second item on
        right = sum(place[above] < place[walked[i]] for above in walked[:i])
        total += right / i
    return 2 / (len(walked) - 1) * total - 1


def an_order(scores, random):
    """The items by falling score, those of equal score in random order."""
    lots = [random.random() for _ in scores]
    return sorted(range(len(scores)), key=lambda i: (-scores[i], lots[i]))


def tau_ap_sampled(walked, reference, n, random):
    """The mean over n independent random orders of the ties of both lists (the paper's section 5.5 takes 100)."""
    return sum(tau_ap_of_orders(an_order(walked, random), an_order(reference, random)) for _ in range(n)) / n


def harmonic(n):
    return sum(1 / k for k in range(1, n + 1))


def tau_ap(walked, reference):
    """The expectation of `tau_ap_sampled`, by the formula of the decisions: group by group of the walked list."""
    total = 0.0
    for score in sorted(set(walked), reverse=True):
        group = [i for i in range(len(walked)) if walked[i] == score]
        ahead = [i for i in range(len(walked)) if walked[i] > score]
        p, t = len(ahead), len(group)
        if p == 0:
            total += (t - 1) / 2
            continue
        above = 0.0  # sum of P_i
        for i in group:
            for j in ahead:
                above += 1.0 if reference[j] > reference[i] else 0.5 if reference[j] == reference[i] else 0.0
        total += (harmonic(p + t - 1) - harmonic(p - 1)) / t * above
        total += sum((k - 1) / (p + k - 1) for k in range(1, t + 1)) / 2
    return 2 / (len(walked) - 1) * total - 1


# --- Densities --------------------------------------------------------------------------------------------------------


def density(scores, bandwidth=0.015, n_points=100, floor=1e-12):
    """Equation 10 with a Gaussian kernel on equally spaced points of [0, 1], summing to 1, then floored."""
    points = [k / (n_points - 1) for k in range(n_points)]
    raw = []
    for point in points:
        total = 0.0
        for score in scores:
            z = (point - score) / bandwidth
            total += math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        raw.append(total / (len(scores) * bandwidth))
    return [max(value / sum(raw), floor) for value in raw]


def kld(x, y):
    """Equation 11: what is lost when the density of y stands for that of x."""
    return sum(f * math.log(f / g) for f, g in zip(density(x), density(y), strict=True))


# --- Gaps, equations 5 to 19, and their normalisation, 20 to 24 -------------------------------------------------------


def means_over_topics(table):
    return [sum(row[s] for row in table) / len(table) for s in range(len(table[0]))]


def frobenius(mine, theirs):
    squares = 0.0
    for row, other in zip(mine, theirs, strict=True):
        for a, b in zip(row, other, strict=True):
            squares += (a - b) ** 2
    return math.sqrt(squares)


def rmse(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / len(x))


def flat(table):
    return [score for row in table for score in row]


def similarity(gap, mine, theirs, walked="theirs", beta=1.0, against="random"):
    """1 for equal to the other assessor, 0 for as different as can be: the single score granularity.

    The topic-by-topic one is this of a table with one row (equations 6, 9, 13, 16 and 19).
    walked : whose list equation 17 walks down; the other is its reference.
    against : "random", where -1 counts as 1 (equations 23, 24), or "gold", where no correlation below 0 counts. Where
        the assessor ranks no system above another there is no correlation, and the accuracy that follows is 0.
    """
    n_topics, n_systems = len(mine), len(mine[0])
    if gap == "fro":
        return 1 - frobenius(mine, theirs) / math.sqrt(n_topics * n_systems)
    if gap == "kld":
        return math.exp(-beta * kld(flat(mine), flat(theirs)))
    x, y = means_over_topics(mine), means_over_topics(theirs)
    if gap == "rmse":
        return 1 - rmse(x, y)
    x, y = ([round(score, 12) for score in scores] for scores in (x, y))  # rounding errors are no ranks
    if min(x) == max(x):
        return 1.0 if against == "random" else 0.0
    r = tau_a(x, y) if gap == "tau" else tau_ap(y, x) if walked == "theirs" else tau_ap(x, y)
    return abs(r) if against == "random" else max(r, 0.0)


def scored(table):
    return [t for t, row in enumerate(table) if row is not None]


def mean_similarity(granularity, gap, mine, replicates, **options):
    """Algorithms 1 and 2: every replicate's gap normalised, then their mean; per topic, nan where there is no score.

    The single score granularity compares on the topics where the assessor has a score.
    """
    topics = scored(mine)
    result = [math.nan] * len(mine)
    if not topics:
        return result
    if granularity == "sgl":
        parts = [similarity(gap, [mine[t] for t in topics], [r[t] for t in topics], **options) for r in replicates]
        for t in topics:
            result[t] = sum(parts) / len(parts)
    else:
        for t in topics:
            parts = [similarity(gap, [mine[t]], [r[t]], **options) for r in replicates]
            result[t] = sum(parts) / len(parts)
    return result


# --- Weights, equations 25 to 27 --------------------------------------------------------------------------------------


def weight(name, similarities):
    """The equations as printed: of similarities; given dissimilarities instead, the other polarity."""
    if name == "md":
        return min(similarities)
    if name == "msd":
        return min(s**2 for s in similarities)
    return sum(similarities)


def accuracies(estimator, mine, by_level, polarity="dissimilarity", **options):
    """(topics) the accuracy of one assessor, against the replicates of every level of random assessors."""
    granularity, gap, name = estimator.split("_")
    levels = [mean_similarity(granularity, gap, mine, replicates, **options) for replicates in by_level]
    result = []
    for t, row in enumerate(mine):
        if row is None:
            result.append(math.nan)
            continue
        here = [level[t] for level in levels]
        result.append(weight(name, here if polarity == "printed" else [1 - s for s in here]))
    return result


# --- A gold assessor instead of random ones, on the topics where both have a score ------------------------------------


def gold_similarity(granularity, gap, mine, gold, allowed, **options):
    """(topics) the similarity itself is the accuracy; a topic without the gold takes that over all topics."""
    shared = [t for t in scored(mine) if gold[t] is not None and t in allowed]
    options = {"walked": "mine", **options, "against": "gold"}
    overall = similarity(gap, [mine[t] for t in shared], [gold[t] for t in shared], **options)
    result = []
    for t, row in enumerate(mine):
        if row is None:
            result.append(math.nan)
        elif granularity == "tpc" and t in shared:
            result.append(similarity(gap, [row], [gold[t]], **options))
        else:
            result.append(overall)
    return result


def gold_accuracies(estimator, mine, gold, allowed, **options):
    granularity, gap, name = estimator.split("_")
    alike = gold_similarity(granularity, gap, mine, gold, allowed, **options)
    return [a if math.isnan(a) else weight(name, [a]) for a in alike]


# --- AWARE, equation 3 ------------------------------------------------------------------------------------------------


def aware(tables, weights):
    """[topic][system] weighted mean over the assessors that have a score there.

    tables : [assessor][topic][system]; weights : [assessor][topic]. Weights that are all 0 count alike.
    """
    result = []
    for t in range(len(tables[0])):
        here = [k for k in range(len(tables)) if tables[k][t] is not None]
        if not here:
            result.append(None)
            continue
        a = {k: weights[k][t] for k in here}
        if all(value == 0 for value in a.values()):
            a = dict.fromkeys(here, 1.0)
        total = sum(a.values())
        result.append([sum(a[k] * tables[k][t][s] for k in here) / total for s in range(len(tables[here[0]][t]))])
    return result
