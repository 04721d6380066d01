"""Aggregation in obvious loops over dictionaries: {pair: {assessor: grade}} in, posteriors out."""

from math import exp, log

from scipy.special import digamma

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


def dawid_skene(labels, grades, start, smoothing=0.0, tol=1e-3, max_iterations=1000):
    """Posterior, trace of the objective, last log-likelihood."""
    posterior = starting(labels, grades, start)
    assessors = sorted({a for said in labels.values() for a in said})
    objectives, change = [], float("inf")
    likelihood = 0.0
    while len(objectives) < max_iterations and not change < tol:
        confusion = {}
        for a in assessors:
            for g in grades:
                count = {
                    h: smoothing + sum(posterior[p][g] for p, said in labels.items() if said.get(a) == h)
                    for h in grades
                }
                total = sum(count.values())
                for h in grades:
                    confusion[a, h, g] = max(count[h] / total if total > FLOOR else 0.0, FLOOR)
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
    return posterior, objectives, likelihood


def mace_pass(labels, grades, knew, knowing, guessing):
    """One variational pass: posterior, and for each (assessor, grade) the judgments that were probably known."""
    assessors = sorted({a for said in labels.values() for a in said})
    count = {(a, g): sum(said.get(a) == g for said in labels.values()) for a in assessors for g in grades}
    knows, guesses = {}, {}
    for a in assessors:
        known = knowing + sum(knew[a, g] for g in grades)
        unknown = knowing + sum(count[a, g] - knew[a, g] for g in grades)
        knows[a] = exp(digamma(known) - digamma(known + unknown))
        all_guessed = sum(guessing + count[a, g] - knew[a, g] for g in grades)
        for g in grades:
            preference = digamma(guessing + count[a, g] - knew[a, g]) - digamma(all_guessed)
            guesses[a, g] = exp(digamma(unknown) - digamma(known + unknown) + preference)
    posterior, after = {}, {(a, g): 0.0 for a in assessors for g in grades}
    for pair, said in labels.items():
        likely = {}
        for g in grades:
            likely[g] = 1.0
            for a, h in said.items():
                likely[g] *= guesses[a, h] + knows[a] * (h == g)
        posterior[pair] = {g: p / sum(likely.values()) for g, p in likely.items()}
        for a, h in said.items():
            after[a, h] += posterior[pair][h] * knows[a] / (guesses[a, h] + knows[a])
    return posterior, after
