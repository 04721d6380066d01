"""Magnitude estimation a second time, slowly, from the equations of Maddalena et al. (2017), ACM TOIS 35(3).

Judgments are tuples (topic, document, assessor, unit, value), in the order they were given. A unit is a (topic,
assessor, unit) triple. Checks are {topic: (H, N)}; gold is {(topic, document): grade}.
"""

from fractions import Fraction
from math import erf, exp, fsum, log, sqrt
from statistics import median


def mean(numbers):
    return fsum(numbers) / len(numbers)


def unit_of(row):
    topic, _, assessor, unit, _ = row
    return topic, assessor, unit


def units(rows):
    """{unit: its rows}, units in the order of their first row."""
    found = {}
    for row in rows:
        found.setdefault(unit_of(row), []).append(row)
    return found


def normalised(rows, scheme, checks=None, standardise=False):
    """The new value of every row: equation 3 ("geometric_mean"), 4, 5 or 6 ("checks")."""
    result = []
    for row in rows:
        topic = row[0]
        unit_rows = units(rows)[unit_of(row)]
        unit_logs = [log(value) for *_, value in unit_rows]
        topic_logs = [log(value) for t, *_, value in rows if t == topic]
        if scheme == "geometric_mean":
            centre, target = mean(unit_logs), mean(topic_logs)
        elif scheme == "median":
            centre, target = median(unit_logs), median(topic_logs)
        elif scheme == "extremes":
            centre, target = mean([max(unit_logs), min(unit_logs)]), mean(topic_logs)
        else:
            ends = []
            for check in checks[topic]:
                ends.append(mean([log(value) for _, document, _, _, value in unit_rows if document == check]))
            centre, target = mean(ends), mean(topic_logs)
        factor = 1.0
        if standardise and deviation(unit_logs) > 0:
            factor = shared_deviation(rows, topic) / deviation(unit_logs)
        result.append(exp((log(row[-1]) - centre) * factor + target))
    return result


def deviation(logs):
    """Standard deviation (n); 0 where all are equal but for rounding."""
    if max(logs) - min(logs) <= 1e-9:
        return 0.0
    return sqrt(mean([(x - mean(logs)) ** 2 for x in logs]))


def shared_deviation(rows, topic):
    """Root mean square of the topic's logs about their unit means, units without variation aside."""
    squares = []
    for (unit_topic, _, _), unit_rows in units(rows).items():
        logs = [log(value) for *_, value in unit_rows]
        if unit_topic == topic and deviation(logs) > 0:
            squares += [(x - mean(logs)) ** 2 for x in logs]
    return sqrt(mean(squares))


def significant_digits(number):
    """Of an exact fraction; None where its decimal never ends."""
    while number.numerator % 10 == 0:
        number /= 10
    for _ in range(400):
        if number.denominator == 1:
            while number.numerator % 10 == 0:
                number /= 10
            return len(str(number.numerator))
        number *= 10
    return None


def ratio_digits(texts, either=False):
    """What a unit's scores, as written, need: the longest of the shortest ratios to an earlier score (section 9.2)."""
    needed = []
    for i in range(1, len(texts)):
        shortest = None
        for j in range(i):
            ratio = Fraction(texts[i]) / Fraction(texts[j])
            for candidate in (ratio, 1 / ratio) if either else (ratio,):
                figures = significant_digits(candidate)
                if figures is not None and (shortest is None or figures < shortest):
                    shortest = figures
        needed.append(10 if shortest is None or shortest > 9 else shortest)
    return max(needed, default=0)


def agreement(unit_rows, gold, strict):
    """(pairs in gold's order, pairs with two grades) of one unit (section 6.1.2)."""
    agreed, pairs = 0, 0
    for topic, first, _, _, one in unit_rows:
        for _, second, _, _, other in unit_rows:
            if (topic, first) in gold and (topic, second) in gold and gold[topic, first] < gold[topic, second]:
                pairs += 1
                if one < other or (one == other and not strict):
                    agreed += 1
    return agreed, pairs


def agreeing_rows(rows, gold, n, strict, preferred):
    """Places of the judgments that the n units agreeing most made, document by document (section 7.2)."""
    standing = {}
    for place, (unit, unit_rows) in enumerate(units(rows).items()):
        agreed, pairs = agreement(unit_rows, gold, strict)
        unjudged = sum((topic, document) not in gold for topic, document, *_ in unit_rows)
        standing[unit] = (-agreed / pairs if pairs else 1, unjudged, place)
    chosen = []
    for pair in {(topic, document) for topic, document, *_ in rows}:
        candidates = {unit_of(row) for row in rows if row[:2] == pair}
        if candidates & preferred:
            candidates &= preferred
        best = sorted(candidates, key=standing.__getitem__)[:n]
        chosen += [i for i, row in enumerate(rows) if row[:2] == pair and unit_of(row) in best]
    return sorted(chosen)


def level_ratios(rows, gold, upper, lower, required=()):
    """Ratios of two documents of a unit, one of the upper and one of the lower grades (Figure 15)."""
    ratios = []
    for unit_rows in units(rows).values():
        grades = [gold.get(row[:2]) for row in unit_rows]
        if any(grade not in grades for grade in required):
            continue
        for row, grade in zip(unit_rows, grades, strict=True):
            for other, below in zip(unit_rows, grades, strict=True):
                if grade in upper and below in lower:
                    ratios.append(row[-1] / other[-1])
    return ratios


def gains(rows, gold, checks):
    """{grade: magnitudes over that of N in their unit} (Figure 14)."""
    found = {}
    for (topic, _, _), unit_rows in units(rows).items():
        low = [value for _, document, _, _, value in unit_rows if document == checks[topic][1]]
        for row in unit_rows:
            if row[:2] in gold:
                found.setdefault(gold[row[:2]], []).append(row[-1] / exp(mean([log(value) for value in low])))
    return found


def distance_to_lognormal(values, log_mean, log_sd):
    """Largest difference between the share of values up to x and the curve, on either side of each step."""
    largest = 0.0
    for value in values:
        curve = (1 + erf((log(value) - log_mean) / log_sd / sqrt(2))) / 2
        below = sum(other < value for other in values) / len(values)
        up_to = sum(other <= value for other in values) / len(values)
        largest = max(largest, abs(curve - below), abs(curve - up_to))
    return largest
