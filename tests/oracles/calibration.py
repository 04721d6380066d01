"""What a model's grades mean in an assessor's, in obvious loops."""

from math import sqrt


def ordered_means(means, sizes):
    """Isotonic regression: of each place, the highest over beginnings of the lowest mean over ends."""

    def mean(first, last):
        n = sum(sizes[first : last + 1])
        return sum(m * k for m, k in zip(means[first : last + 1], sizes[first : last + 1], strict=True)) / n

    places = range(len(means))
    return [max(min(mean(a, b) for b in places if b >= i) for a in places if a <= i) for i in places]


def recoding(pairs, grades):
    """{grade: what it means}, from (model's grade, assessor's grade) pairs; in between where no pair has the grade."""
    have = sorted({model for model, _ in pairs})
    by_grade = [[other for model, other in pairs if model == grade] for grade in have]
    means = ordered_means([sum(values) / len(values) for values in by_grade], [len(values) for values in by_grade])
    meaning, places = dict(zip(have, means, strict=True)), {grade: i for i, grade in enumerate(sorted(grades))}
    for grade in grades:
        if grade not in have:
            below = [g for g in have if g < grade]
            above = [g for g in have if g > grade]
            if not below or not above:
                meaning[grade] = meaning[above[0] if above else below[-1]]
            else:
                low, high = below[-1], above[0]
                share = (places[grade] - places[low]) / (places[high] - places[low])
                meaning[grade] = meaning[low] + share * (meaning[high] - meaning[low])
    return meaning


def recoded_by_other_topics(rows):
    """What each (topic, model's grade, assessor's grade) row is recoded to by the rows of other topics."""
    grades = {model for _, model, _ in rows}
    recoded = []
    for topic, model, _ in rows:
        others = [(m, o) for t, m, o in rows if t != topic] or [(m, o) for _, m, o in rows]
        recoded.append(recoding(others, grades)[model])
    return recoded


def root_mean_square(differences):
    return sqrt(sum(d * d for d in differences) / len(differences))


def jackknife(statistic, rows, quantile):
    """Half the interval: a quantile times the standard error of leaving out each topic; rows begin with the topic."""
    topics = sorted({row[0] for row in rows})
    without = [statistic([row for row in rows if row[0] != topic]) for topic in topics]
    centre = sum(without) / len(topics)
    return quantile * sqrt((len(topics) - 1) / len(topics) * sum((value - centre) ** 2 for value in without))
