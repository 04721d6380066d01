"""Favours of a judge by their definition, with loops and dictionaries."""

from math import fsum, isnan, nan, sqrt

import numpy as np
from scipy import stats


def mean(values):
    return fsum(values) / len(values)


def contrasts(scores, group):
    """{topic: mean of the group - mean of the others} of {topic: {system: score}}; None where either has no score."""
    found = {}
    for t, row in enumerate(scores):
        inside = [x for s, x in enumerate(row) if s in group and not isnan(x)]
        outside = [x for s, x in enumerate(row) if s not in group and not isnan(x)]
        if inside and outside:
            found[t] = mean(inside) - mean(outside)
    return found


def favour_of(own, others):
    """{topic: own contrast - mean of the others'}, and {topic: how many others}."""
    present = {t: [o[t] for o in others if t in o] for t in own}
    return {t: own[t] - mean(said) for t, said in present.items() if said}, {
        t: len(said) for t, said in present.items()
    }


def favour(model, people, group, confidence, severity_error=0.05, expected=None):
    """(value, half-width, p, topics, df) of the model and [(value, topics)] of the people, of lists of scores.

    expected : what is subtracted from scores of (people, model).
    """
    judges = [contrasts(scores, group) for scores in (*people, model)]
    plain = judges
    if expected is not None:
        judges = [
            contrasts((np.array(scores) - np.array(less)).tolist(), group)
            for scores, less in zip((*people, model), expected, strict=True)
        ]
    own, crowd = judges[-1], judges[:-1]
    difference, count = favour_of(own, crowd)
    value = mean(list(difference.values())) if difference else nan
    persons, usable = [], []
    for j, person in enumerate(crowd):
        d, c = favour_of(person, [other for i, other in enumerate(crowd) if i != j])
        if len(d) >= 2:
            usable.append((j, d, c))
            persons.append((mean(list(d.values())), len(d)))
        else:
            persons.append((nan, 0))
    tastes = []

    def coefficients(d, c, judge):
        """Variance of a favour in tastes and in errors of one contrast, and who weighs how much over all topics."""
        sums, errors = {judge: 1.0}, 0.0
        for t in d:
            errors += (1 + 1 / c[t]) / len(d) ** 2
            for i, other in enumerate(crowd):
                if i != judge and t in other:
                    sums[i] = sums.get(i, 0.0) - 1 / c[t] / len(d)
        return fsum(w * w for w in sums.values()), errors, sums

    of_taste = of_error = total = 0.0
    for j, d, c in usable:
        centre = mean(list(d.values()))
        taste, error, sums = coefficients(d, c, j)
        of_taste, of_error, total = of_taste + taste, of_error + error, total + centre**2
        tastes.append([sums.get(i, 0.0) for i in range(len(crowd))])
    df = int(np.linalg.matrix_rank(np.array(tastes))) if tastes else 0
    if df < 2 or len(difference) < 2:
        return (value, nan, nan, len(difference), df), persons
    noise, fitted = residuals(crowd)
    taste, error, _ = coefficients(difference, count, None)
    most = taste / of_taste * total
    variance = max(most + (error - taste / of_taste * of_error) * noise, min(error * noise, most))
    apart = {t: judges[-1][t] - mean([p[t] - fitted[i] for i, p in enumerate(crowd) if t in p]) for t in difference}
    centre = mean(list(apart.values()))
    if most > 0:
        df = max(df * min(1, (variance / most) ** 2), 2)
    own_noise = fsum((x - centre) ** 2 for x in apart.values()) / (len(apart) - 1)
    own_noise -= noise * mean([1 / count[t] for t in difference])
    variance += max(own_noise - noise, 0) / len(difference)
    raw, _ = favour_of(plain[-1], plain[:-1])
    severity = mean([raw[t] for t in difference]) - value
    error = sqrt(variance + (severity_error * severity) ** 2)
    p = 1.0 if value == 0 else 0.0 if error == 0 else 2 * stats.t.cdf(-abs(value) / error, df)
    return (value, stats.t.ppf((1 + confidence) / 2, df) * error, p, len(difference), df), persons


def residuals(crowd):
    """Error variance of topic + person fitted by least squares, and what was fitted for each person."""
    cells = [(t, i, x) for i, person in enumerate(crowd) for t, x in person.items()]
    topics = sorted({t for t, _, _ in cells})
    design = np.zeros((len(cells), len(topics) + len(crowd)))
    for row, (t, i, _) in enumerate(cells):
        design[row, topics.index(t)] = design[row, len(topics) + i] = 1
    values = np.array([x for _, _, x in cells])
    fitted, _, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    rest = values - design @ fitted
    return float((rest**2).sum() / max(len(cells) - rank, 1)), fitted[len(topics) :]
