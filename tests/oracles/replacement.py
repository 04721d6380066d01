"""May a model stand in for people: the definitions in loops, from the papers' equations."""

from fractions import Fraction
from math import fsum, inf, nan, sqrt

from scipy import stats


def distance(value, others, closeness):
    """How far from the others, exact: minus S, but for the root of rmse, which keeps the order."""
    gaps = [abs(Fraction(value) - Fraction(other)) for other in others]
    if closeness == "accuracy":
        return Fraction(sum(gap != 0 for gap in gaps), len(gaps))
    return sum(gap**2 for gap in gaps) / len(gaps)


def annotator_test(panel, model, closeness, eps):
    """{person: (n, rho_l, rho_h, p)}; panel : {document: {person: value}}, model : {document: value}.

    Calderon, Reichart & Dror (2025), section 3: leave the person out, compare with those who remain.
    """
    found = {}
    for person, wins in held(panel, model, closeness).items():
        differences = [h - m for m, h in wins.values()]
        n = len(differences)
        if len(set(differences)) == 1:
            p = 0.0 if differences[0] < eps else 1.0  # the limit of a t-test without spread
        else:
            p = float(stats.ttest_1samp(differences, eps, alternative="less").pvalue)
        found[person] = (n, sum(m for m, _ in wins.values()) / n, sum(h for _, h in wins.values()) / n, p)
    return found


def held(panel, model, closeness):
    """{person: {document: (W_l, W_h)}}, for people with such documents."""
    found = {}
    for document, said in panel.items():
        for person in said:
            others = [value for who, value in said.items() if who != person]
            if document in model and others:
                models = distance(model[document], others, closeness)
                own = distance(said[person], others, closeness)
                found.setdefault(person, {})[document] = int(models <= own), int(own <= models)
    return dict(sorted(found.items()))


def annotator_test_by_topic(panel, model, topic, closeness, eps):
    """{person: (topics, t, p)}; topic : {document: its topic}. Jackknife over topics, Hall's (1992) transformation."""
    found = {}
    for person, wins in held(panel, model, closeness).items():
        values = {}
        for document, (m, h) in wins.items():
            values.setdefault(topic[document], []).append(h - m)
        everything = [value for some in values.values() for value in some]
        mean, n_topics = sum(everything) / len(everything), len(values)
        if n_topics < 2:
            found[person] = n_topics, nan, nan
            continue
        pseudo = []
        for left_out in values:
            rest = [value for name, some in values.items() if name != left_out for value in some]
            pseudo.append(n_topics * mean - (n_topics - 1) * sum(rest) / len(rest))
        centre = fsum(pseudo) / n_topics
        deviation = sqrt(fsum((x - centre) ** 2 for x in pseudo) / n_topics)
        if deviation < 1e-6:  # topics do not vary: by documents
            if len(set(everything)) == 1:
                found[person] = n_topics, 0.0 if mean == eps else (mean - eps) * inf, float(mean >= eps)
            else:
                found[person] = n_topics, *stats.ttest_1samp(everything, eps, alternative="less")
            continue
        skewness = fsum((x - centre) ** 3 for x in pseudo) / n_topics / deviation**3
        t = (mean - eps) / deviation
        t += skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / (6 * n_topics)
        t *= sqrt(n_topics - 1)
        freedom = len(everything) ** 2 / sum(len(some) ** 2 for some in values.values()) - 1
        found[person] = n_topics, t, float(stats.t.cdf(t, freedom))
    return found


def winning_rate(found, q, fewest):
    """Share of the people tested whose hypothesis is rejected: the largest i with p_(i) <= i q / (m c_m), and below."""
    p = sorted(p for n, _, _, p in found.values() if n >= fewest)
    m = len(p)
    bound = [i * q / (m * fsum(1 / j for j in range(1, m + 1))) for i in range(1, m + 1)]
    last = max((i for i in range(m) if p[i] <= bound[i]), default=-1)
    return (last + 1) / m
