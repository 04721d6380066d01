"""Systems against systems, a second time, slowly: loops written from the definitions.

Nothing here imports qrowd or numpy. Score vectors are lists, one number per system.
"""

from itertools import combinations, pairwise, permutations, product
from math import fsum, nan, sqrt


def sign(x):
    return (x > 0) - (x < 0)


def tau_a(x, y):
    """(C - D) / (n (n - 1) / 2). Ferrante, Ferro & Maistro (2017), equation 14; a tied pair is neither C nor D."""
    pairs = list(combinations(range(len(x)), 2))
    return sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs) / len(pairs)


def orders(scores):
    """Every order of the systems, highest score first, that ties leave open."""
    return [
        order for order in permutations(range(len(scores))) if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def ap_correlation(x, reference):
    """The mean over all orders of ties on both sides of equation 17, X being the list that is walked.

    2 / (n - 1) * sum from rank 2 of C(i) / (i - 1) - 1; C(i) counts the items above rank i in X that are correctly
    ranked with respect to the item at rank i by the reference. Yilmaz, Aslam & Robertson (2008).
    """
    values = []
    for walked, ideal in product(orders(x), orders(reference)):
        place = {system: rank for rank, system in enumerate(ideal)}
        total = 0.0
        for i in range(1, len(walked)):
            total += sum(place[above] < place[walked[i]] for above in walked[:i]) / i
        values.append(2 / (len(walked) - 1) * total - 1)
    return fsum(values) / len(values)


def ap_correlation_b(x, y):
    """The mean over both directions; for each, over systems that some precede, the share correctly ranked above.

    A system is preceded by those with a strictly higher score. Urbano & Marrero (2017), section 4.
    """

    def walked(one, other):
        shares = []
        for i in range(len(one)):
            above = [j for j in range(len(one)) if one[j] > one[i]]
            if above:
                shares.append(sum(other[j] > other[i] for j in above) / len(above))
        return 2 * fsum(shares) / len(shares) - 1 if shares else float("nan")

    return (walked(x, y) + walked(y, x)) / 2


def pearson(x, y):
    mx, my = fsum(x) / len(x), fsum(y) / len(y)
    xx, yy = fsum((a - mx) ** 2 for a in x), fsum((b - my) ** 2 for b in y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        return nan
    return fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / sqrt(xx * yy)


def rmse(x, y):
    return sqrt(fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)) / len(x))


def sign_counts(x, y):
    """(same, opposite, tied) of all pairs of systems of all topics; x, y : lists of score vectors, None if unknown."""
    same = opposite = tied = 0
    for row, other in zip(x, y, strict=True):
        known = [i for i in range(len(row)) if row[i] is not None and other[i] is not None]
        for i, j in combinations(known, 2):
            which = sign(row[i] - row[j]) * sign(other[i] - other[j])
            same += which > 0
            opposite += which < 0
            tied += which == 0
    return same, opposite, tied


def signed_rank_p(differences):
    """Two-sided p of Wilcoxon's test: every sign of every rank equally likely, zeros left out, ties sharing ranks."""
    kept = [d for d in differences if d]
    sizes = [abs(d) for d in kept]
    ranks = [sum(s < size for s in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    seen = sum(r for r, d in zip(ranks, kept, strict=True) if d > 0)
    sums = [sum(r for r, up in zip(ranks, ups, strict=True) if up) for ups in product((0, 1), repeat=len(kept))]
    low = sum(s <= seen + 1e-9 for s in sums) / len(sums)
    high = sum(s >= seen - 1e-9 for s in sums) / len(sums)
    return min(1.0, 2 * min(low, high))


def two_way(table):
    """Sums of squares of (rows, columns, interaction and error, total); table : rows of equally many numbers.

    One number per cell, so that the interaction is the error.
    """
    n, m = len(table), len(table[0])
    grand = fsum(map(fsum, table)) / (n * m)
    row = [fsum(line) / m for line in table]
    column = [fsum(line[j] for line in table) / n for j in range(m)]
    rows = m * fsum((r - grand) ** 2 for r in row)
    columns = n * fsum((c - grand) ** 2 for c in column)
    error = fsum((table[i][j] - row[i] - column[j] + grand) ** 2 for i in range(n) for j in range(m))
    total = fsum((value - grand) ** 2 for line in table for value in line)
    return rows, columns, error, total


def groups(names, differ):
    """Largest runs of neighbours of which no two differ; differ(a, b) for two names."""
    runs = [
        names[a:b]
        for a in range(len(names))
        for b in range(a + 1, len(names) + 1)
        if not any(differ(s, t) for s, t in combinations(names[a:b], 2))
    ]
    return [run for run in runs if not any(set(run) < set(other) for other in runs)]


def error_without_one_cluster(values, clusters):
    """Standard error of a mean by the jackknife that leaves out one cluster of values at a time.

    Efron & Tibshirani (1993), An Introduction to the Bootstrap, equation 11.5, for groups.
    """
    names = sorted(set(clusters))
    means = []
    for left_out in names:
        rest = [value for value, cluster in zip(values, clusters, strict=True) if cluster != left_out]
        means.append(fsum(rest) / len(rest))
    centre = fsum(means) / len(means)
    return sqrt((len(names) - 1) / len(names) * fsum((mean - centre) ** 2 for mean in means))


def cluster_robust_error(values, clusters):
    """sqrt(C / (C - 1) * sum over clusters of (sum of residuals)^2) / n, the sandwich with one correction."""
    mean = fsum(values) / len(values)
    sums = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    return sqrt(len(sums) / (len(sums) - 1) * fsum(total**2 for total in sums.values())) / len(values)


def plain_error(values):
    mean = fsum(values) / len(values)
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
