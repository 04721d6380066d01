"""Predicted relevance in obvious loops: {document: [(assessor, grade), ...]} in, in the order of judging.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J.
19.
"""

from itertools import combinations, product
from math import sqrt


def equation_4(pairs, relevant, grade):
    """N(U2 = R, U1 = i) and N(U1 = i), from (grade by U1, grade by U2)."""
    return (
        sum(u1 == grade and u2 in relevant for u1, u2 in pairs),
        sum(u1 == grade for u1, _ in pairs),
    )


def equation_5(pairs, relevant, grade):
    """N(U1 = R, U2 = i) + N(U2 = R, U1 = i) and N(U2 = i) + N(U1 = i)."""
    return (
        sum(u1 in relevant and u2 == grade for u1, u2 in pairs)
        + sum(u2 in relevant and u1 == grade for u1, u2 in pairs),
        sum(u2 == grade for _, u2 in pairs) + sum(u1 == grade for u1, _ in pairs),
    )


def binomial_error(found, n):
    """sqrt(N_N / N_D (1 - N_N / N_D) / N_D), section 5.2.2."""
    return sqrt(found / n * (1 - found / n) / n)


def coincidences(labels, grades):
    """{(grade, grade): o}: every ordered pair of two judgments of a document adds 1 / (judgments - 1).

    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, step 2.
    """
    matrix = dict.fromkeys(product(grades, repeat=2), 0.0)
    for said in labels.values():
        for a, (_, one) in enumerate(said):
            for b, (_, other) in enumerate(said):
                if a != b:
                    matrix[one, other] += 1 / (len(said) - 1)
    return matrix


def directed(labels, grades, first=None):
    """{(grade by the first assessor, grade by another): n}; the others of a document share its weight of 1.

    first : assessors; the first of them who judged the document predicts. None: whoever judged it first.
    """
    matrix = dict.fromkeys(product(grades, repeat=2), 0.0)
    for said in labels.values():
        who = [name for name, _ in said]
        chosen = who[:1] if first is None else [name for name in first if name in who][:1]
        if len(said) < 2 or not chosen:
            continue
        one = dict(said)[chosen[0]]
        for name, other in said:
            if name != chosen[0]:
                matrix[one, other] += 1 / (len(said) - 1)
    return matrix


def predicted(matrix, grades, relevant, smoothing=0.0):
    """{grade: p(R|i)} from a matrix of counts, None where nothing was counted."""
    total = sum(matrix.values())
    overall = sum(n for (_, other), n in matrix.items() if other in relevant) / total
    result = {}
    for grade in grades:
        given = sum(matrix[grade, other] for other in grades)
        found = sum(matrix[grade, other] for other in grades if other in relevant)
        weight = given + smoothing
        result[grade] = (found + smoothing * overall) / weight if weight > 0 else None
    return result


def drawn_again(labels, grades, relevant, groups, random):
    """One replicate of p(R|i): as many groups of documents drawn with replacement as there are."""
    drawn = {}
    for turn in range(len(groups)):
        for document in groups[random.randrange(len(groups))]:
            drawn[turn, document] = labels[document]
    return predicted(coincidences(drawn, grades), grades, relevant)


def binomial_at_least(p, m, n):
    """Probability that at least m of n users find it relevant, by what each of them may say."""
    total = 0.0
    for said in product([True, False], repeat=n):
        if sum(said) >= m:
            chance = 1.0
            for yes in said:
                chance *= p if yes else 1 - p
            total += chance
    return total


def user_disagreement(p, satisfied, m, n):
    """At least m of n, one of whom is the assessor."""
    total = 0.0
    for said in product([True, False], repeat=n - 1):
        if sum(said) + satisfied >= m:
            chance = 1.0
            for yes in said:
                chance *= p if yes else 1 - p
            total += chance
    return total


def likelihoods(labels, grades, relevant, smoothing, own):
    """p(R) and {assessor: {R or not: {grade: probability}}}, own ones from `own` double judgments on, else pooled."""
    double = {document: said for document, said in labels.items() if len(said) > 1}
    matrix = coincidences(double, grades)
    total = sum(matrix.values())
    share = {i: sum(matrix[i, j] for j in grades) / total for i in grades}

    def spread(count, before):
        weight = sum(count.values()) + smoothing
        return {i: (count[i] + smoothing * before[i]) / weight if weight else before[i] for i in grades}

    pooled = {}
    for is_r in (True, False):
        count = {i: sum(matrix[i, j] for j in grades if (j in relevant) == is_r) for i in grades}
        pooled[is_r] = spread(count, share)
    result = {}
    for name in {name for said in labels.values() for name, _ in said}:
        mine = [said for said in double.values() if name in dict(said)]
        result[name] = pooled
        if own is not None and len(mine) >= own:
            result[name] = {}
            for is_r in (True, False):
                count = dict.fromkeys(grades, 0.0)
                for said in mine:
                    for other, grade in said:
                        if other != name:
                            count[dict(said)[name]] += ((grade in relevant) == is_r) / (len(said) - 1)
                result[name][is_r] = spread(count, pooled[is_r])
    return sum(share[i] for i in relevant), result


def bayes(prior, likelihood, said):
    """p(R | judgments), assessors independent given R; a grade that no double judgment holds says nothing."""
    weight = {True: prior, False: 1 - prior}
    for name, grade in said:
        if likelihood[name][True][grade] == likelihood[name][False][grade] == 0:
            continue
        for is_r in (True, False):
            weight[is_r] *= likelihood[name][is_r][grade]
    return weight[True] / (weight[True] + weight[False])


def linear_posterior(labels, grades, relevant, smoothing, own):
    """{document: p(R) + b sum (x - p(R))}, x of each judgment alone, b = v / (v + (k - 1) d)."""
    prior, likelihood = likelihoods(labels, grades, relevant, smoothing, own)
    away = {d: [bayes(prior, likelihood, [one]) - prior for one in said] for d, said in labels.items()}
    double = [xs for xs in away.values() if len(xs) > 1]
    n = sum(map(len, double))
    variance = sum(x * x for xs in double for x in xs) / n
    covariance = 0.0
    for xs in double:
        for a, b in combinations(range(len(xs)), 2):
            covariance += 2 * xs[a] * xs[b] / (len(xs) - 1) / n
    covariance = min(max(covariance, 0.0), variance)
    result = {}
    for document, xs in away.items():
        weight = variance / (variance + (len(xs) - 1) * covariance) if variance > 0 else 1.0
        result[document] = min(max(prior + weight * sum(xs), 0.0), 1.0)
    return result


def kendall_tau_a(x, y):
    """(concordant - discordant) / all pairs."""
    score = 0
    for i, j in combinations(range(len(x)), 2):
        a, b = x[i] - x[j], y[i] - y[j]
        score += (a * b > 0) - (a * b < 0)
    return score / (len(x) * (len(x) - 1) / 2)
