"""Certainty of comparisons, a second time, slowly: loops written from the definitions.

Nothing here imports qrowd or numpy. A table is a list of topics, each a list of one number per assessor.
"""

from math import fsum, sqrt


def mean(values):
    return fsum(values) / len(values)


def mean_squares(table):
    """MS of topics, assessors and rest of a full two-way table with one number per cell."""
    topics, assessors = len(table), len(table[0])
    grand = mean([x for row in table for x in row])
    of_topic = [mean(row) for row in table]
    of_assessor = [mean([row[a] for row in table]) for a in range(assessors)]
    ss_t = assessors * fsum((m - grand) ** 2 for m in of_topic)
    ss_a = topics * fsum((m - grand) ** 2 for m in of_assessor)
    ss_e = fsum(
        (table[t][a] - of_topic[t] - of_assessor[a] + grand) ** 2 for t in range(topics) for a in range(assessors)
    )
    return ss_t / (topics - 1), ss_a / (assessors - 1), ss_e / ((topics - 1) * (assessors - 1))


def satterthwaite(table):
    """(variance of the mean, degrees of freedom): (max(MS_t - MS_e, 0) + max(MS_a - MS_e, 0) + MS_e) / (T A)."""
    topics, assessors = len(table), len(table[0])
    t, a, e = mean_squares(table)
    terms = []  # of the sum: (MS with its factor, degrees of freedom)
    of_error = 1
    if t > e:
        terms.append((t, topics - 1))
        of_error -= 1
    if a > e:
        terms.append((a, assessors - 1))
        of_error -= 1
    terms.append((of_error * e, (topics - 1) * (assessors - 1)))
    total = fsum(x for x, _ in terms)
    return total / (topics * assessors), total**2 / fsum(x**2 / df for x, df in terms)


def banerjee(table, quantile):
    """Half width sqrt(sum of t_i^2 times each part of the variance); quantile(df) is that of Student's t."""
    topics, assessors = len(table), len(table[0])
    t, a, e = mean_squares(table)
    parts = [(max(t - e, 0), topics - 1), (max(a - e, 0), assessors - 1), (e, (topics - 1) * (assessors - 1))]
    return sqrt(fsum(part * quantile(df) ** 2 for part, df in parts) / (topics * assessors))


def residual(rows, columns):
    """Sum of squares left when the additive model of these columns is fitted to rows of (cell's columns, value).

    Gram-Schmidt over the indicator columns, one after the other.
    """
    values = [value for _, value in rows]
    basis = []
    for column in columns:
        vector = [1.0 if column in names else 0.0 for names, _ in rows]
        for other in basis:
            along = fsum(x * y for x, y in zip(vector, other, strict=True))
            vector = [x - along * y for x, y in zip(vector, other, strict=True)]
        length = sqrt(fsum(x * x for x in vector))
        if length > 1e-9:
            basis.append([x / length for x in vector])
    for other in basis:
        along = fsum(x * y for x, y in zip(values, other, strict=True))
        values = [x - along * y for x, y in zip(values, other, strict=True)]
    return fsum(x * x for x in values), len(basis)


def adjusted_squares(table):
    """[(MS, df)] of topics given assessors, of assessors given topics, and of error; None is an empty cell."""
    rows = [((("t", t), ("a", a)), x) for t, row in enumerate(table) for a, x in enumerate(row) if x is not None]
    topics = [("t", t) for t in range(len(table))]
    assessors = [("a", a) for a in range(len(table[0]))]
    both, rank = residual(rows, topics + assessors)
    found = []
    for left in (assessors, topics):
        alone, fewer = residual(rows, left)
        found.append(((alone - both) / (rank - fewer), rank - fewer))
    return [*found, (both / (len(rows) - rank), len(rows) - rank)]


def rank_sets(mean, p, alpha):
    """[(best, worst)] ranks: 1 + those significantly ahead, number - those significantly behind."""
    found = []
    for i in range(len(mean)):
        ahead = sum(mean[j] > mean[i] and p[i][j] < alpha for j in range(len(mean)) if j != i)
        behind = sum(mean[j] < mean[i] and p[i][j] < alpha for j in range(len(mean)) if j != i)
        found.append((1 + ahead, len(mean) - behind))
    return found


def false_discovery_rate(p):
    """Benjamini and Hochberg: the least over all p no smaller of p times their number over their rank."""
    rank = {x: sum(y <= x for y in p) for x in p}
    return [min(1.0, min(y * len(p) / rank[y] for y in p if y >= x)) for x in p]
