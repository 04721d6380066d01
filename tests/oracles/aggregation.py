"""Aggregation in obvious loops over dictionaries: {pair: {assessor: grade}} in, posteriors out."""

from itertools import product
from math import exp, lgamma, log

FLOOR = 1e-10


def winners(said):
    """The grades that most assessors gave a pair, rising."""
    counts = {}
    for grade in said.values():
        counts[grade] = counts.get(grade, 0) + 1
    return sorted(grade for grade, count in counts.items() if count == max(counts.values()))


def starting(labels, grades, start):
    """{pair: {grade: probability}} before anything is known; ties of the vote go to the lowest grade."""
    posterior = {}
    for pair, said in labels.items():
        if start == "majority":
            posterior[pair] = {g: float(g == winners(said)[0]) for g in grades}
        elif start == "shares":
            posterior[pair] = {g: sum(h == g for h in said.values()) / len(said) for g in grades}
        else:
            likely = {}
            for g in grades:
                likely[g] = 1.0
                for h in said.values():
                    likely[g] *= 0.9 if h == g else 0.1 / max(len(grades) - 1, 1)
            posterior[pair] = {g: p / sum(likely.values()) for g, p in likely.items()}
    return posterior


def dawid_skene(labels, grades, start, smoothing=0.0, unsupported="floor", tol=1e-3, max_iterations=1000):
    """Posterior, {(assessor, given, true): confusion}, trace of the objective, last log-likelihood.

    Dawid & Skene (1979): equation 2.3 gives the confusions, 2.4 the prior, 2.5 the posterior.
    """
    posterior = starting(labels, grades, start)
    assessors = sorted({a for said in labels.values() for a in said})
    empty = 1 / len(grades) if unsupported == "uniform" else 0.0
    confusion, objectives, change = {}, [], float("inf")
    likelihood = 0.0
    while len(objectives) < max_iterations and not change < tol:
        for a in assessors:
            for g in grades:
                count = {
                    h: smoothing + sum(posterior[p][g] for p, said in labels.items() if said.get(a) == h)
                    for h in grades
                }
                total = sum(count.values())
                for h in grades:
                    confusion[a, h, g] = max(count[h] / total if total > FLOOR else empty, FLOOR)
        prior = {g: max(sum(posterior[p][g] for p in labels) / len(labels), FLOOR) for g in grades}
        likelihood, change = 0.0, 0.0
        for pair, said in labels.items():
            joint = {}
            for g in grades:
                joint[g] = log(prior[g]) + sum(log(confusion[a, h, g]) for a, h in said.items())
            highest = max(joint.values())
            total = sum(exp(value - highest) for value in joint.values())
            likelihood += highest + log(total)
            for g in grades:
                new = exp(joint[g] - highest) / total
                change = max(change, abs(new - posterior[pair][g]))
                posterior[pair][g] = new
        objectives.append(likelihood + smoothing * sum(log(value) for value in confusion.values()))
    return posterior, confusion, objectives, likelihood


# --- MACE: for every judgment, every way it may have come about


def digamma(x):
    """Derivative of lgamma: upwards to where the asymptotic series is exact to the last digits."""
    below = 0.0
    while x < 20:
        below += 1 / x
        x += 1
    y = 1 / (x * x)
    return log(x) - 1 / (2 * x) - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132)))) - below


def mace_start(labels, grades):
    """{(assessor, grade): judgments}, half of what the assessor said."""
    known = {(a, g): 0.0 for said in labels.values() for a in said for g in grades}
    for said in labels.values():
        for a, h in said.items():
            known[a, h] += 0.5
    return known


def mace(labels, grades, known, fitted, knowing, guessing, n_iterations):
    """Posterior, competence, frequencies, trace of the bound, log-likelihood at the posterior means.

    known : {(assessor, grade): expected number of such judgments that the assessor knew}. fitted : whether grades may
        be unequally frequent, all frequencies being equally likely beforehand.
    """
    assessors = sorted({a for said in labels.values() for a in said})
    posterior = {pair: dict.fromkeys(grades, 1 / len(grades)) for pair in labels}
    bounds = []
    for _ in range(n_iterations):
        weight, divergence = {}, 0.0
        frequency = dict.fromkeys(grades, 1 / len(grades))
        if fitted:
            counts = {g: 1 + sum(p[g] for p in posterior.values()) for g in grades}
            frequency = {g: exp(digamma(x) - digamma(sum(counts.values()))) for g, x in counts.items()}
            divergence += from_prior(list(counts.values()), 1)
        for a in assessors:
            skill, preference = beliefs(labels, grades, known, a, knowing, guessing)
            weight[a] = [exp(digamma(x) - digamma(sum(skill))) for x in skill]
            share = {g: exp(digamma(x) - digamma(sum(preference.values()))) for g, x in preference.items()}
            weight[a] = weight[a][0], {g: weight[a][1] * share[g] for g in grades}
            divergence += from_prior(skill, knowing) + from_prior(list(preference.values()), guessing)
        posterior, known, evidence = mace_expect(labels, frequency, weight)
        bounds.append(evidence - divergence)
    weight, competence = {}, {}
    if fitted:
        counts = {g: 1 + sum(p[g] for p in posterior.values()) for g in grades}
        frequency = {g: x / sum(counts.values()) for g, x in counts.items()}
    for a in assessors:
        skill, preference = beliefs(labels, grades, known, a, knowing, guessing)
        competence[a] = skill[0] / sum(skill)
        share = {g: x / sum(preference.values()) for g, x in preference.items()}
        weight[a] = competence[a], {g: (1 - competence[a]) * share[g] for g in grades}
    return posterior, competence, frequency, bounds, mace_expect(labels, frequency, weight)[2]


def beliefs(labels, grades, known, assessor, knowing, guessing):
    """Beta of one assessor's knowing, and {grade: parameter} of the Dirichlet of his or her guesses."""
    guessed = {g: sum(said.get(assessor) == g for said in labels.values()) - known[assessor, g] for g in grades}
    skill = [knowing + sum(known[assessor, g] for g in grades), knowing + sum(guessed.values())]
    return skill, {g: guessing + guessed[g] for g in grades}


def from_prior(parameters, prior):
    """Kullback-Leibler divergence of one Dirichlet from the one whose parameters are all `prior`."""
    divergence = lgamma(sum(parameters)) - lgamma(prior * len(parameters))
    for x in parameters:
        divergence += lgamma(prior) - lgamma(x) + (x - prior) * (digamma(x) - digamma(sum(parameters)))
    return divergence


def mace_expect(labels, frequency, weight):
    """Posterior, {(assessor, grade): judgments probably known}, log-evidence; `weight` is {assessor: (knows, guesses)}.

    Every true grade is tried with every way of some assessors having known and the others guessed.
    """
    posterior, known, evidence = {}, {(a, g): 0.0 for a in weight for g in frequency}, 0.0
    for pair, said in labels.items():
        chances = []
        for g in frequency:
            for knew in product([True, False], repeat=len(said)):
                chance = frequency[g]
                for (a, h), this_one in zip(said.items(), knew, strict=True):
                    chance *= weight[a][0] * (h == g) if this_one else weight[a][1][h]
                chances.append((g, knew, chance))
        total = sum(chance for _, _, chance in chances)
        evidence += log(total)
        posterior[pair] = {g: sum(chance for t, _, chance in chances if t == g) / total for g in frequency}
        for place, (a, h) in enumerate(said.items()):
            known[a, h] += sum(chance for _, knew, chance in chances if knew[place]) / total
    return posterior, known, evidence
