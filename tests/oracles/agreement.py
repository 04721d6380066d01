"""How far assessors agree, a second time, slowly: loops written from the definitions.

Nothing here imports qrowd or numpy. A panel is {document: {assessor: value}}, values being numbers; whoever is absent
has not judged. nan stands for what cannot be told.
"""

from functools import cache
from itertools import combinations, permutations
from math import exp, fsum, log, nan, sqrt
from statistics import median


def difference(level, x, y, counts):
    """Krippendorff's squared difference of two values.

    counts : {value: how often it was given}, which ordinal differences depend on.

    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, step 4.
    """
    if x == y:
        return 0.0
    if level == "nominal":
        return 1.0
    if level == "interval":
        return (x - y) ** 2
    if level == "ratio":
        return ((x - y) / (x + y)) ** 2
    low, high = min(x, y), max(x, y)
    between = sum(n for value, n in counts.items() if low <= value <= high)
    return (between - (counts[low] + counts[high]) / 2) ** 2


def krippendorff_alpha(panel, level):
    """alpha = 1 - observed / expected, from all pairs of judgments there are."""
    documents = [list(said.values()) for said in panel.values() if len(said) > 1]
    everything = [value for values in documents for value in values]
    counts = {}
    for value in everything:
        counts[value] = counts.get(value, 0) + 1
    if len(counts) < 2:
        return nan
    n = len(everything)
    apart = cache(lambda x, y: difference(level, x, y, counts))  # computed once for each pair of values
    observed = 0.0
    for values in documents:
        for x, y in permutations(values, 2):
            observed += apart(x, y) / (len(values) - 1)
    expected = 0.0
    for x, y in permutations(everything, 2):
        expected += apart(x, y)
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def credit(x, y, weights, lowest, highest):
    """How far two values agree, from 0 to 1."""
    if x == y:
        return 1.0
    if weights is None:
        return 0.0
    apart = abs(x - y) / (highest - lowest)
    return 1 - (apart if weights == "linear" else apart**2)


def cohen_kappa(pairs, weights=None, lowest=None, highest=None):
    """(value, observed, expected) from the two values of every document both judged."""
    values = [value for pair in pairs for value in pair]
    lowest = min(values) if lowest is None else lowest
    highest = max(values) if highest is None else highest
    observed = fsum(credit(x, y, weights, lowest, highest) for x, y in pairs) / len(pairs)
    expected = fsum(credit(x, y, weights, lowest, highest) for x, _ in pairs for _, y in pairs) / len(pairs) ** 2
    return (nan if len(set(values)) == 1 else (observed - expected) / (1 - expected)), observed, expected


def fleiss_kappa(panel, weights=None):
    """(value, observed, expected); documents judged once left out, the others weighing the same."""
    documents = [list(said.values()) for said in panel.values() if len(said) > 1]
    everything = [value for values in documents for value in values]
    lowest, highest = min(everything), max(everything)
    shares = []
    for values in documents:
        agreeing = [credit(x, y, weights, lowest, highest) for x, y in permutations(values, 2)]
        shares.append(fsum(agreeing) / len(agreeing))
    observed = fsum(shares) / len(shares)
    total = fsum(credit(x, y, weights, lowest, highest) for x in everything for y in everything)
    expected = total / len(everything) ** 2
    return (nan if lowest == highest else (observed - expected) / (1 - expected)), observed, expected


def label_counts(panel):
    """{(x, y): how often one assessor said x and another y of the same document}, in both directions."""
    counts = {}
    for said in panel.values():
        for x, y in permutations(said.values(), 2):
            counts[x, y] = counts.get((x, y), 0) + 1
    return counts


def overlap(panel, first, second, rel):
    """(judged by both, relevant to both, relevant to either)."""
    judged = [said for said in panel.values() if first in said and second in said]
    both = sum(said[first] >= rel and said[second] >= rel for said in judged)
    either = sum(said[first] >= rel or said[second] >= rel for said in judged)
    return len(judged), both, either


def order_counts(values, grades):
    """(same, equal, opposite) over the pairs of documents whose grades differ."""
    counts = [0, 0, 0]
    for (x, g), (y, h) in combinations(zip(values, grades, strict=True), 2):
        if g != h:
            counts[1 if x == y else 0 if (x > y) == (g > h) else 2] += 1
    return tuple(counts)


def tau_b(x, y):
    """Kendall's tau-b of two lists of scores."""
    score, untied_x, untied_y = 0, 0, 0
    for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2):
        untied_x += a != c
        untied_y += b != d
        if a != c and b != d:
            score += 1 if (a > c) == (b > d) else -1
    return score / sqrt(untied_x * untied_y) if untied_x and untied_y else nan


def pearson(x, y):
    """Correlation of two lists."""
    mean_x, mean_y = fsum(x) / len(x), fsum(y) / len(y)
    both = fsum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return both / sqrt(fsum((a - mean_x) ** 2 for a in x) * fsum((b - mean_y) ** 2 for b in y))


def geometric_sd(values):
    """(geometric mean, geometric standard deviation, highest / lowest)."""
    logs = [log(value) for value in values]
    mean = fsum(logs) / len(logs)
    deviation = sqrt(fsum((x - mean) ** 2 for x in logs) / (len(logs) - 1))
    return exp(mean), exp(deviation), max(values) / min(values)


def beside_the_others(panel, assessor, level, maximum):
    """(severity, agreement beyond chance) of one assessor, over documents that others judged too."""
    counts = {}
    for said in panel.values():
        for value in said.values():
            counts[value] = counts.get(value, 0) + 1
    severities, apart, others_of = [], [], []
    for said in panel.values():
        others = [value for name, value in said.items() if name != assessor]
        if assessor in said and others:
            own = said[assessor]
            severities.append((fsum(others) / len(others) - own) / maximum)
            apart.append(fsum(difference(level, own, other, counts) for other in others) / len(others))
            others_of.append((own, others))
    if not apart:
        return nan, nan
    by_chance = [
        difference(level, own, other, counts) / len(others)
        for own, _ in others_of
        for _, others in others_of
        for other in others
    ]
    expected = fsum(by_chance) / len(others_of) ** 2
    agreement = 1 - (fsum(apart) / len(apart)) / expected if expected > 0 and len(apart) > 1 else nan
    return fsum(severities) / len(severities), agreement


def conflicts(merged, levels, apart):
    """{document: level it lies nearest to}, of one topic, where that is `apart` levels or more from its own.

    merged : {document: value}; levels : {document: number of its level}.
    """
    found = {}
    for document, value in merged.items():
        centres = {}
        for level in set(levels.values()):
            members = [merged[d] for d in merged if levels[d] == level and d != document]
            if members:
                centres[level] = median(members)
        if levels[document] in centres:
            nearest = min(sorted(centres), key=lambda level: abs(value - centres[level]))
            if abs(nearest - levels[document]) >= apart:
                found[document] = nearest
    return found


def intraclass_correlations(table):
    """ICC(1, 1), ICC(1, k), ICC(2, 1), ICC(2, k) of a complete table, documents in rows; nan where not defined.

    Shrout & Fleiss (1979), Psychol. Bull. 86(2), 420-428: mean squares between documents, within documents, between
    assessors and of error.
    """
    n, k = len(table), len(table[0])
    mean = sum(map(sum, table)) / (n * k)
    of_document = [sum(row) / k for row in table]
    of_assessor = [sum(row[j] for row in table) / n for j in range(k)]
    if n < 2:
        return [float("nan")] * 4
    b = k * sum((m - mean) ** 2 for m in of_document) / (n - 1)
    within = sum((v - m) ** 2 for row, m in zip(table, of_document, strict=True) for v in row)
    w = within / (n * (k - 1))
    j = n * sum((m - mean) ** 2 for m in of_assessor) / (k - 1)
    e = (within - j * (k - 1)) / ((n - 1) * (k - 1))

    def share(part, whole):
        return part / whole if abs(whole) > 1e-9 else float("nan")

    return [
        share(b - w, b + (k - 1) * w),
        share(b - w, b),
        share(b - e, b + (k - 1) * e + k * (j - e) / n),
        share(b - e, b + (j - e) / n),
    ]
