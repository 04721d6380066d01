"""Variance components a second time, slowly: sums of squares in loops, and the expected mean squares of Brennan (2001).

Nothing here imports qrowd or numpy. Scores are {(system, topic, assessor): score}.
"""

from itertools import product
from math import fsum, sqrt


def mean(scores, **fixed):
    """Of all scores with these levels."""
    place = {"s": 0, "t": 1, "a": 2}
    found = [x for key, x in scores.items() if all(key[place[facet]] == level for facet, level in fixed.items())]
    return fsum(found) / len(found)


def levels(scores):
    return tuple(sorted({key[i] for key in scores}) for i in range(3))


def crossed(scores):
    """{source: (sum of squares, degrees of freedom, component)} of complete scores; components may be below 0."""
    systems, topics, assessors = levels(scores)
    n_s, n_t, n_a = len(systems), len(topics), len(assessors)
    m = mean(scores)
    ss = dict.fromkeys(("s", "t", "a", "st", "sa", "ta", "sta"), 0.0)
    of_s = {s: mean(scores, s=s) for s in systems}
    of_t = {t: mean(scores, t=t) for t in topics}
    of_a = {a: mean(scores, a=a) for a in assessors}
    of_st = {(s, t): mean(scores, s=s, t=t) for s in systems for t in topics}
    of_sa = {(s, a): mean(scores, s=s, a=a) for s in systems for a in assessors}
    of_ta = {(t, a): mean(scores, t=t, a=a) for t in topics for a in assessors}
    for s, t, a in product(systems, topics, assessors):
        ss["s"] += (of_s[s] - m) ** 2
        ss["t"] += (of_t[t] - m) ** 2
        ss["a"] += (of_a[a] - m) ** 2
        ss["st"] += (of_st[s, t] - of_s[s] - of_t[t] + m) ** 2
        ss["sa"] += (of_sa[s, a] - of_s[s] - of_a[a] + m) ** 2
        ss["ta"] += (of_ta[t, a] - of_t[t] - of_a[a] + m) ** 2
        fitted = of_st[s, t] + of_sa[s, a] + of_ta[t, a] - of_s[s] - of_t[t] - of_a[a] + m
        ss["sta"] += (scores[s, t, a] - fitted) ** 2
    d_s, d_t, d_a = n_s - 1, n_t - 1, n_a - 1
    df = {"s": d_s, "t": d_t, "a": d_a, "st": d_s * d_t, "sa": d_s * d_a, "ta": d_t * d_a, "sta": d_s * d_t * d_a}
    ms = {source: ss[source] / df[source] for source in ss}
    v = {"sta": ms["sta"]}
    # E(MS_st) = v_sta + A v_st, and so on; E(MS_s) = v_sta + A v_st + T v_sa + T A v_s: solved from the bottom up.
    v["st"] = (ms["st"] - v["sta"]) / n_a
    v["sa"] = (ms["sa"] - v["sta"]) / n_t
    v["ta"] = (ms["ta"] - v["sta"]) / n_s
    v["s"] = (ms["s"] - v["sta"] - n_a * v["st"] - n_t * v["sa"]) / (n_t * n_a)
    v["t"] = (ms["t"] - v["sta"] - n_a * v["st"] - n_s * v["ta"]) / (n_s * n_a)
    v["a"] = (ms["a"] - v["sta"] - n_t * v["sa"] - n_s * v["ta"]) / (n_s * n_t)
    return {source: (ss[source], df[source], v[source]) for source in ss}


def nested(scores):
    """The same for assessors nested in topics, panels of any size: Brennan's T terms and their expectations.

    A T term is the sum over all scores of the squared mean of the scores' level. The expectation of each in terms of
    the components is counted out here, squared weight by squared weight, and the linear equations are solved.
    """
    keys = list(scores)
    n = len(keys)
    systems, topics, _ = levels(scores)
    n_s, n_t = len(systems), len(topics)
    n_panel = n // n_s
    groupings = {
        "m": lambda s, t, a: (),
        "s": lambda s, t, a: s,
        "t": lambda s, t, a: t,
        "a:t": lambda s, t, a: (t, a),
        "st": lambda s, t, a: (s, t),
        "sa:t": lambda s, t, a: (s, t, a),
    }
    sources = ("s", "t", "a:t", "st", "sa:t")
    terms, expected = {}, {}
    for name, group in groupings.items():
        members = {}
        for key in keys:
            members.setdefault(group(*key), []).append(key)
        terms[name] = fsum(
            len(group) * (fsum(scores[k] for k in group) / len(group)) ** 2 for group in members.values()
        )
        for source in sources:
            total = 0.0
            for group in members.values():
                counts = {}
                for key in group:
                    level = groupings[source](*key)
                    counts[level] = counts.get(level, 0) + 1
                total += fsum(c * c for c in counts.values()) / len(group)
            expected[name, source] = total
    signs = {
        "s": {"s": 1, "m": -1},
        "t": {"t": 1, "m": -1},
        "a:t": {"a:t": 1, "t": -1},
        "st": {"st": 1, "s": -1, "t": -1, "m": 1},
        "sa:t": {"sa:t": 1, "a:t": -1, "st": -1, "t": 1},
    }
    ss = {name: fsum(sign * terms[term] for term, sign in parts.items()) for name, parts in signs.items()}
    rows = [
        [sum(sign * expected[term, source] for term, sign in signs[name].items()) for source in sources] + [ss[name]]
        for name in sources
    ]
    solved = dict(zip(sources, solve(rows), strict=True))
    df = {
        "s": n_s - 1,
        "t": n_t - 1,
        "a:t": n_panel - n_t,
        "st": (n_s - 1) * (n_t - 1),
        "sa:t": (n_s - 1) * (n_panel - n_t),
    }
    return {source: (ss[source], df[source], solved[source]) for source in sources}


def solve(rows):
    """Linear equations by Gauss and Jordan; the last entry of each row is its right side."""
    rows = [list(row) for row in rows]
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] for row in rows]


def designs_within(budget, topic_cost, judgment_cost, documents, max_topics, max_assessors):
    """All (topics, assessors, cost) that can be paid."""
    found = []
    for t in range(1, max_topics + 1):
        for a in range(1, max_assessors + 1):
            cost = t * topic_cost + t * a * documents * judgment_cost
            if cost <= budget:
                found.append((t, a, cost))
    return found


def coefficients(v, n_t, n_a, design):
    """E rho squared, Phi, standard error of a mean and of a difference, from {source: component}."""
    if design == "crossed":
        relative = v["st"] / n_t + v["sa"] / n_a + v["sta"] / (n_t * n_a)
        absolute = relative + v["t"] / n_t + v["a"] / n_a + v["ta"] / (n_t * n_a)
    else:
        relative = v["st"] / n_t + v["sa:t"] / (n_t * n_a)
        absolute = relative + v["t"] / n_t + v["a:t"] / (n_t * n_a)
    return v["s"] / (v["s"] + relative), v["s"] / (v["s"] + absolute), sqrt(absolute), sqrt(2 * relative)
