"""Every measure a second time, slowly: loops written from the definitions, as evidence against the fast engine.

Nothing here imports qrowd or numpy. The conventions, the same in every function:

- `ranking` lists distinct document ids, best first; `grades` maps document -> grade for the documents that this one
  assessor judged. An unjudged document is absent from `grades`; a negative grade (pooled, but unjudged) is the
  caller's to leave out. A document is relevant where its grade is at least `rel`.
- An unjudged document gains 0 and is not relevant, whatever a gain map says about grade 0.
- `k=None` means no cut-off; a list shorter than k counts as if it went on with documents of no gain.
- Where there is no relevant document (no gain to be had at all) the score is 0, as in trec_eval.
"""

from itertools import permutations, product
from math import copysign, fsum, inf, log2, nan, sqrt
from struct import pack, unpack


def rank(scores, float32=False):
    """Documents from best to worst: score descending, ties by document id descending, ids compared as UTF-8 bytes.

    trec_eval's form_res_rels.c (comp_sim_docno). `float32` rounds the scores to single precision first, as trec_eval
    up to 9.0.8 and all that is built on it: scores that differ in the eighth digit become ties.
    """
    entries = []
    for document, score in scores.items():
        if float32:
            score = single_precision(score)
        entries.append((score, document.encode("utf-8"), document))
    entries.sort(reverse=True)
    return [document for _, _, document in entries]


def single_precision(score):
    """The nearest IEEE 754 single-precision number, infinite where the score is too large for one."""
    try:
        return unpack("<f", pack("<f", score))[0]
    except OverflowError:
        return copysign(inf, score)


def condensed(ranking, grades):
    """The ranking without its unjudged documents.

    Sakai (2007), Alternatives to Bpref, SIGIR, 71-78; trec_eval -J.
    """
    result = []
    for document in ranking:
        if document in grades:
            result.append(document)
    return result


def relevant(document, grades, rel):
    """Whether the assessor judged the document and gave it at least the grade `rel`."""
    return document in grades and grades[document] >= rel


def number_relevant(grades, rel=1):
    """R: how many documents the assessor found relevant, retrieved or not."""
    count = 0
    for document in grades:
        if relevant(document, grades, rel):
            count += 1
    return count


# --- Sets and binary relevance ----------------------------------------------------------------------------------------


def precision(ranking, grades, k, rel=1):
    """P@k = (number of relevant documents among the first k) / k, also where the list is shorter than k.

    trec_eval's m_P.c.
    """
    found = 0
    for document in ranking[:k]:
        if relevant(document, grades, rel):
            found += 1
    return found / k


def recall(ranking, grades, k=None, rel=1, base=None):
    """R@k = (number of relevant documents among the first k) / R; `base` takes the place of R.

    trec_eval's m_recall.c, and m_set_recall.c for k=None.
    """
    if base is None:
        base = number_relevant(grades, rel)
    found = 0
    for document in ranking[:k]:
        if relevant(document, grades, rel):
            found += 1
    return found / base if base > 0 else 0.0


def expected_found(ranking, probabilities, k=None):
    """How many of the first k documents a user is expected to find relevant: the sum of the probabilities.

    Demeester et al. (2016), Predicting Relevance Based on Assessor Disagreement. Inf. Retr. J. 19, equation 2.
    """
    found = 0.0
    for document in ranking[:k]:
        if document in probabilities:
            found += probabilities[document]
    return found


def expected_recall(ranking, probabilities, k=None, base=None):
    """Expected number of relevant documents among the first k over that among all judged; `base` takes its place."""
    if base is None:
        base = expected_found(list(probabilities), probabilities)
    return expected_found(ranking, probabilities, k) / base if base > 0 else 0.0


def gap_given(ranking, probabilities, k=None):
    """GAP where each document's probability of relevance is given: thresholds lie at the distinct probabilities.

    That a user's threshold is the i-th of them is as likely as it is higher than the one before.
    """
    levels = sorted({value for value in probabilities.values() if value > 0})
    steps = [value - before for before, value in zip([0.0, *levels], levels, strict=False)]
    return gap(ranking, probabilities, levels, k, steps)


def r_precision(ranking, grades, rel=1):
    """Rprec = precision after R documents, R the number of relevant ones.

    trec_eval's m_Rprec.c.
    """
    how_many = number_relevant(grades, rel)
    return precision(ranking, grades, how_many, rel) if how_many > 0 else 0.0


def reciprocal_rank(ranking, grades, k=None, rel=1):
    """RR = 1 / (rank of the first relevant document), 0 where none stands among the first k.

    trec_eval's m_recip_rank.c, which has no cutoff.
    """
    for position, document in enumerate(ranking[:k], start=1):
        if relevant(document, grades, rel):
            return 1 / position
    return 0.0


def success(ranking, grades, k, rel=1):
    """Success@k = 1 where a relevant document stands among the first k, else 0.

    trec_eval's m_success.c.
    """
    for document in ranking[:k]:
        if relevant(document, grades, rel):
            return 1.0
    return 0.0


def average_precision(ranking, grades, k=None, rel=1, base=None):
    """AP@k = (1/R) sum over the relevant documents at ranks i <= k of P@i: all relevant documents divide, cut or not.

    trec_eval's m_map.c and m_map_cut.c. `base` takes the place of R (the AWARE paper's toy examples need it).
    """
    if base is None:
        base = number_relevant(grades, rel)
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if relevant(document, grades, rel):
            total += precision(ranking, grades, position, rel)
    return total / base if base > 0 else 0.0


def bpref(ranking, grades, rel=1):
    """bpref = (1/R) sum over the retrieved relevant documents of 1 - min(n, R) / min(N, R).

    n counts the judged nonrelevant documents (grade below rel) ranked above it, N all judged nonrelevant ones; the
    summand is 1 where n = 0. Unjudged documents are passed over. trec_eval's m_bpref.c (version 8.0 and later);
    Buckley & Voorhees (2004), Retrieval Evaluation with Incomplete Information, SIGIR, 25-32, print it without min(N).
    """
    all_relevant = number_relevant(grades, rel)
    all_nonrelevant = len(grades) - all_relevant
    total = 0.0
    for position, document in enumerate(ranking):
        if not relevant(document, grades, rel):
            continue
        nonrelevant_above = 0
        for other in ranking[:position]:
            if other in grades and grades[other] < rel:
                nonrelevant_above += 1
        if nonrelevant_above == 0:
            total += 1
        else:
            total += 1 - min(nonrelevant_above, all_relevant) / min(all_nonrelevant, all_relevant)
    return total / all_relevant if all_relevant > 0 else 0.0


def judged(ranking, grades, k):
    """Judged@k = (number of judged documents among the first k) / k.

    ir_measures divides by min(k, length of the list) instead.
    """
    found = 0
    for document in ranking[:k]:
        if document in grades:
            found += 1
    return found / k


# --- Discounted cumulated gain ----------------------------------------------------------------------------------------


def gain_of(grade, gain="linear"):
    """What a judged document of that grade gains: the grade itself, 2^grade - 1 ("exp"), or what a dict says.

    A grade that the dict does not name keeps itself as gain, as in ir_measures' nDCG(gains=...) and in trec_eval's
    -m ndcg.1=3.5,2=9 (m_ndcg.c: "level 3 remains at the default").
    """
    if gain == "linear":
        return grade
    if gain == "exp":
        return 2.0**grade - 1
    return gain.get(grade, grade)


def discount_of(position, discount="log2"):
    """What a gain at that rank (from 1) is multiplied by.

    "log2": 1/log2(rank + 1) (trec_eval, Burges et al. 2005). "original": 1 at rank 1 and 1/log2(rank) from rank 2, so
    that ranks 1 and 2 count alike: Jarvelin & Kekalainen (2002), Cumulated Gain-Based Evaluation of IR Techniques,
    ACM TOIS 20(4), 422-446, equation 2 with base 2. "zipf": 1/rank (Demeester et al. 2016, below equation 3).
    """
    if discount == "log2":
        return 1 / log2(position + 1)
    if discount == "original":
        return 1.0 if position == 1 else 1 / log2(position)
    if discount == "zipf":
        return 1 / position
    raise ValueError(discount)


def dcg(ranking, grades, k=None, gain="linear", discount="log2"):
    """DCG@k = sum over ranks i <= k of gain(i) * discount(i).

    Jarvelin & Kekalainen (2002); trec_eval's m_ndcg.c.
    """
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if document in grades:
            total += gain_of(grades[document], gain) * discount_of(position, discount)
    return total


def ndcg(ranking, grades, k=None, gain="linear", discount="log2"):
    """nDCG@k = DCG@k / the DCG@k of all judged documents, retrieved or not, sorted by gain.

    trec_eval's m_ndcg.c and m_ndcg_cut.c.
    """
    ideal = sorted(grades, key=lambda document: gain_of(grades[document], gain), reverse=True)
    best = dcg(ideal, grades, k, gain, discount)
    return dcg(ranking, grades, k, gain, discount) / best if best > 0 else 0.0


# --- Cascade and rank-biased precision --------------------------------------------------------------------------------


def err_given(ranking, stop, k=None):
    """ERR@k = sum over ranks i <= k of (1/i) R_i prod over j < i of (1 - R_j), R_i the probability to stop at rank i.

    Chapelle, Metzler, Zhang & Grinspan (2009), Expected Reciprocal Rank for Graded Relevance, CIKM, 621-630.
    `stop` maps document -> R; a document it does not name stops nobody.
    """
    total, reached = 0.0, 1.0
    for position, document in enumerate(ranking[:k], start=1):
        total += reached * stop.get(document, 0.0) / position
        reached *= 1 - stop.get(document, 0.0)
    return total


def err(ranking, grades, k=None, max_rel=4, gains=None):
    """ERR@k with R = (2^g - 1) / 2^max_rel = 2^(g - max_rel) - 2^(-max_rel), which no large grade can overflow.

    Chapelle et al. (2009); gdeval.pl has max_rel = 4. `gains` maps grades to g first (a grade it does not
    name stays), so the AWARE paper's gains 0 and 5 are gains={1: 5}, max_rel=5: R = 31/32.
    """
    stop = {}
    for document, grade in grades.items():
        g = grade if gains is None else gains.get(grade, grade)
        if g > max_rel:
            raise ValueError(f"grade {g} of {document!r} is above max_rel={max_rel}")
        stop[document] = 2.0 ** (g - max_rel) - 2.0 ** (-max_rel)
    return err_given(ranking, stop, k)


def rbp(ranking, grades, k=None, p=0.8, maximum=1):
    """RBP = (1 - p) sum over ranks i <= k of p^(i-1) grade(i) / maximum.

    Moffat & Zobel (2008), Rank-Biased Precision for Measurement of Retrieval Effectiveness, ACM TOIS 27(1), article 2;
    graded as in Sakai & Kando (2008), Inf. Retrieval 11, 447-470.
    """
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if document in grades:
            total += (1 - p) * p ** (position - 1) * grades[document] / maximum
    return total


def rbp_binary(ranking, grades, k=None, p=0.8, rel=1):
    """RBP where every relevant document gains 1 and no other gains anything.

    Moffat & Zobel (2008).
    """
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if relevant(document, grades, rel):
            total += (1 - p) * p ** (position - 1)
    return total


def rbp_residual(ranking, grades, k=None, p=0.8):
    """What RBP could rise by at most, if every unjudged document, and all below the list or the cut-off, gained 1.

    (1 - p) sum over the unjudged ranks i <= k of p^(i-1), plus p^d, where d is the number of ranks looked at.
    Moffat & Zobel (2008). The tail below the cut-off counts whole, judged documents in it or not.
    """
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if document not in grades:
            total += (1 - p) * p ** (position - 1)
    return total + p ** len(ranking[:k])


# --- Graded averages --------------------------------------------------------------------------------------------------


def q_measure(ranking, grades, k=None, beta=1, rel=1):
    """Q@k = (1/R) sum over the relevant ranks i <= k of (C(i) + beta cg(i)) / (i + beta cg*(i)).

    C(i) counts the relevant documents up to rank i; cg(i) cumulates their grades; cg*(i) does so in the ideal ranking,
    where the relevant documents stand in order of their grades. A document below rel gains 0. Sakai (2004), Ranking
    the NTCIR Systems Based on Multigrade Relevance, AIRS; beta = 0 gives AP. NTCIREVAL's Q@k divides by min(k, R).
    """
    ideal = sorted((grade for grade in grades.values() if grade >= rel), reverse=True)
    total = 0.0
    for position, document in enumerate(ranking[:k], start=1):
        if not relevant(document, grades, rel):
            continue
        count, gained, best = 0, 0.0, 0.0
        for earlier in ranking[:position]:
            if relevant(earlier, grades, rel):
                count += 1
                gained += grades[earlier]
        for grade in ideal[:position]:
            best += grade
        total += (count + beta * gained) / (position + beta * best)
    return total / len(ideal) if ideal else 0.0


def level_of(grade, levels):
    """The number of positive levels that the grade reaches: 0 for nonrelevant, c for the highest of c levels."""
    reached = 0
    for level in levels:
        if grade >= level:
            reached += 1
    return reached


def gap(ranking, grades, levels, k=None, weights=None):
    """GAP@k = sum over n <= k of (1/n) sum over m <= n of d(m, n), over sum over levels i of R_i (g_1 + ... + g_i).

    d(m, n) = g_1 + ... + g_j, with j the lower of the levels of the documents at ranks m and n, is the probability
    that the user takes both for relevant; g_i (`weights`, uniform where not given) that the user's threshold is level
    i; R_i counts the documents of level i. `levels` are the positive grades that are thresholds, increasing.
    Robertson, Kanoulas & Yilmaz (2010), Extending Average Precision to Graded Relevance Judgments, SIGIR, 603-610.
    """
    if weights is None:
        weights = [1 / len(levels)] * len(levels)
    belief = {document: sum(weights[: level_of(grade, levels)]) for document, grade in grades.items()}
    total = 0.0
    for n, document in enumerate(ranking[:k], start=1):
        if document not in grades:
            continue
        for other in ranking[:n]:
            if other in grades:
                total += min(belief[document], belief[other]) / n
    best = 0.0
    for document in grades:
        best += belief[document]
    return total / best if best > 0 else 0.0


def gap_by_thresholds(ranking, grades, levels, k=None, weights=None):
    """GAP as a weighted mean of APs, one per threshold: sum_i g_i R(i) AP(rel = level i) / sum_i g_i R(i).

    R(i) counts the documents that reach level i. The same quantity as `gap`, with the two sums exchanged.
    """
    if weights is None:
        weights = [1 / len(levels)] * len(levels)
    total, best = 0.0, 0.0
    for level, weight in zip(levels, weights, strict=True):
        share = weight * number_relevant(grades, level)
        total += share * average_precision(ranking, grades, k, rel=level)
        best += share
    return total / best if best > 0 else 0.0


# --- Ties and correlation ---------------------------------------------------------------------------------------------


def twist(ranking, grades, k):
    """Twist: the mean of the recovery ratio and of the harmonic mean of the forward and the backward space ratio.

    Ferro, Silvello, Keskustalo, Pirkola & Järvelin (2016), The Twist Measure for IR Evaluation, JASIST 67(3).
    """
    run = [grades.get(document, 0) for document in ranking][:k]
    run += [0] * (k - len(run))
    n_relevant = sum(grade > 0 for grade in grades.values())
    if not any(run):
        return 0
    ideal = sorted([*grades.values(), *[0] * k], reverse=True)[:k]

    def distances(grades_in_order):
        result = []
        for rank, grade in enumerate(grades_in_order):
            places = [place for place, other in enumerate(ideal) if other == grade]
            result.append(0 if not places else max(0, rank - places[-1]) + min(0, rank - places[0]))
        return result

    own, worst = distances(run), distances(ideal[::-1])
    sums = [fsum(own[: n + 1]) for n in range(k)]
    changes = [n for n in range(1, k) if (sums[n] > 0) != (sums[n - 1] > 0)]
    recovery = n_relevant / max(n_relevant, changes[0]) if changes else float(not any(own))
    ratios = []
    for sign in (1, -1):
        most = sum(max(0, sign * distance) for distance in worst)
        ratios.append(max(0, 1 - sum(max(0, sign * distance) for distance in own) / most) if most else 1)
    space = 2 * ratios[0] * ratios[1] / sum(ratios) if sum(ratios) else 0
    return (recovery + space) / 2


def expected_under_ties(function, scores, **kw):
    """The mean of function(ranking, **kw) over every order of the documents that share a score. Small inputs only.

    What McSherry & Najork (2008), Computing Information Retrieval Performance Measures Efficiently in the Presence of
    Tied Scores, ECIR, 414-421, compute in closed form.
    """
    groups = {}
    for document, score in scores.items():
        groups.setdefault(score, []).append(document)
    orders = [permutations(groups[score]) for score in sorted(groups, reverse=True)]
    values = []
    for order in product(*orders):
        ranking = [document for group in order for document in group]
        values.append(function(ranking, **kw))
    return fsum(values) / len(values)


def kendall_tau_b(x, y):
    """tau-b = (concordant - discordant) / sqrt((pairs not tied in x) * (pairs not tied in y)); nan where one has none.

    Kendall (1945), The Treatment of Ties in Ranking Problems, Biometrika 33(3), 239-251.
    """
    agreement, untied_x, untied_y = 0, 0, 0
    for i in range(len(x)):
        for j in range(i):
            sign_x = (x[i] > x[j]) - (x[i] < x[j])
            sign_y = (y[i] > y[j]) - (y[i] < y[j])
            agreement += sign_x * sign_y
            untied_x += sign_x != 0
            untied_y += sign_y != 0
    return agreement / sqrt(untied_x * untied_y) if untied_x and untied_y else nan
