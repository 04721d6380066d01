"""The oracles themselves, against hand-computed values, printed numbers, and trec_eval, gdeval and ir_measures."""

import math
import shutil
from fractions import Fraction
from functools import partial
from random import Random

import ir_measures
import pytest
import pytrec_eval
from hypothesis import example, given
from hypothesis import strategies as st
from ir_measures import ERR, nDCG
from scipy.stats import kendalltau

from oracles import measures as oracle

approx = pytest.approx

CUTS = (1, 2, 3, 5, 10)
DOCUMENTS = ["D1", "D10", "D2", "D9", "d1", "a", "z", "é", "\uffff", "🙂"]
SCORES = [0.0, -0.0, 1e-50, 1.0, 1.0 + 1e-9, 0.1, 0.1 + 1e-12, -3.5, 1e39, 2e39]  # some differ only as doubles


def ranking_of(pattern):
    """The documents of a printed ranking such as (1, 0, 1), and their grades; None is an unjudged document."""
    ranking = [f"d{position}" for position in range(1, len(pattern) + 1)]
    return ranking, {d: grade for d, grade in zip(ranking, pattern, strict=True) if grade is not None}


@st.composite
def topics(draw, grades=(-2, -1, 0, 1, 2, 3, 7)):
    """A run's scores and the judgments of one topic, as trec_eval would read them: with ties, gaps, negative grades."""
    retrieved = draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, unique=True))
    scores = {document: draw(st.sampled_from(SCORES)) for document in retrieved}
    qrels = draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from(grades), min_size=1))
    # Where every grade of a topic is negative, trec_eval reads counts per level that it never wrote. All scores are 0
    # then, as here, but pytrec_eval asked for both map and bpref of such a topic kills the Python process.
    if max(qrels.values()) < 0:
        qrels[draw(st.sampled_from(sorted(qrels)))] = 0
    return scores, qrels


def without_negative(qrels):
    """The judgments proper: trec_eval takes a negative grade for "pooled, but unjudged".

    For every measure here that is the same as absent. It is not for infAP, which qrowd does not have.
    """
    return {document: grade for document, grade in qrels.items() if grade >= 0}


# --- Order ------------------------------------------------------------------------------------------------------------


def test_equal_scores_stand_in_descending_order_of_their_ids():
    assert oracle.rank({"a": 1.0, "D10": 1.0, "D2": 1.0, "é": 1.0, "x": 2.0}) == ["x", "é", "a", "D2", "D10"]
    assert oracle.rank({"a": 0.0, "b": -0.0}) == ["b", "a"]
    assert oracle.rank({"\uffff": 1.0, "🙂": 1.0}) == ["🙂", "\uffff"]  # not so in UTF-16


def test_the_order_of_ids_is_that_of_code_points_too():
    assert sorted(DOCUMENTS, key=lambda d: d.encode()) == sorted(DOCUMENTS)


def test_single_precision_makes_ties_of_scores_that_differ_as_doubles():
    scores = {"a": 1.0 + 1e-9, "b": 1.0}
    assert oracle.rank(scores) == ["a", "b"]
    assert oracle.rank(scores, float32=True) == ["b", "a"]
    assert oracle.rank({"a": 2e39, "b": 1e39}, float32=True) == ["b", "a"]
    assert oracle.rank({"a": 1e-50, "b": 0.0}, float32=True) == ["b", "a"]


def test_the_tie_break_of_trec_eval_is_worth_the_two_printed_scores():
    """https://github.com/usnistgov/trec_eval/issues/22: two runs alike but for the name of the nonrelevant document."""
    grades = {"a": 0, "b": 1, "c": 0}
    assert oracle.ndcg(oracle.rank({"b": 1.0, "a": 1.0}), grades) == 1
    assert oracle.ndcg(oracle.rank({"b": 1.0, "c": 1.0}), grades) == approx(0.6309, abs=5e-5)


# --- Printed numbers --------------------------------------------------------------------------------------------------


def test_average_precision_of_the_aware_papers_toy_is_the_printed_one():
    """Ferrante, Ferro & Maistro (2017), section 3: 3 relevant documents in the pool, whoever judges."""
    truth = oracle.average_precision(*ranking_of((1, 0, 1, 0, 0)), base=3)
    panel = [(1, 1, 0, 0, 0), (1, 1, 1, 0, 0), (0, 1, 1, 0, 1)]
    scores = [oracle.average_precision(*ranking_of(pattern), base=3) for pattern in panel]
    assert truth == approx(0.5556, abs=5e-5)
    assert scores == approx([0.6667, 1.0, 0.5889], abs=5e-5)
    assert sum(scores) / 3 == approx(0.75185, abs=5e-6)  # the paper prints .7518, truncated
    own = [oracle.average_precision(*ranking_of(pattern)) for pattern in panel]
    assert sum(own) / 3 == approx(0.8630, abs=5e-5)


@pytest.mark.parametrize(
    ("first", "p5", "ap"),
    [
        (None, 0, 0.0765),
        (5, 0.2, 0.1407),
        (4, 0.2, 0.1463),
        (3, 0.2, 0.1556),
        (2, 0.2, 0.1741),
        (1, 0.2, 0.2296),
    ],
)
def test_the_aware_papers_introduction_table_is_the_printed_one(first, p5, ap):
    """Ferrante, Ferro & Maistro (2017), section 1: recall base 9, relevant at ranks 6, 9, 10 and one higher up."""
    ranking, grades = ranking_of([int(position in (first, 6, 9, 10)) for position in range(1, 11)])
    assert oracle.precision(ranking, grades, 5) == p5
    assert oracle.average_precision(ranking, grades, base=9) == approx(ap, abs=5e-5)


def test_the_original_discount_gives_jarvelin_and_kekalainens_printed_vectors():
    """ACM TOIS 20(4), 2002, section 2: G', DCG' and the ideal DCG' with base 2 (whose sixth value is truncated)."""
    ranking, grades = ranking_of((3, 2, 3, 0, 0, 1, 2, 2, 3, 0))
    printed = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    assert [oracle.dcg(ranking, grades, k, discount="original") for k in range(1, 11)] == approx(printed, abs=0.006)
    ideal, grades = ranking_of((3, 3, 3, 2, 2, 2, 1, 1, 1, 1))
    printed = [3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83]
    assert [oracle.dcg(ideal, grades, k, discount="original") for k in range(1, 11)] == approx(printed, abs=0.011)


@pytest.mark.parametrize(
    ("gains", "printed"),
    [
        ((1, 2, 3), {"Q": 0.0967, "RBP": 0.0761, "ERR": 0.4062, "nDCG": 0.3380, "MSnDCG": 0.2760}),
        ((1, 4, 9), {"Q": 0.0929, "RBP": 0.0666, "ERR": 0.4600, "nDCG": 0.3636, "MSnDCG": 0.2947}),
    ],
)
def test_ntcirevals_sample_has_the_printed_scores(gains, printed):
    """Sakai's NTCIREVAL, README section 3.1 (gains 1:2:3) and pyNTCIREVAL's tests (1:4:9).

    Its RBP has p = .95; its ERR stops with probability g / (highest g + 1); its nDCG has the original discount.
    """
    levels = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0)
    grades = {f"dummy{i:02}": (0, *gains)[level] for i, level in enumerate(levels, start=1)}
    ranking = ["dummy11", "dummy01", "dummy12", "dummy04"]  # L0, L3, unjudged, L2
    stop = {document: grade / (max(gains) + 1) for document, grade in grades.items()}
    assert {
        "Q": oracle.q_measure(ranking, grades),
        "RBP": oracle.rbp(ranking, grades, p=0.95, maximum=max(gains)),
        "ERR": oracle.err_given(ranking, stop),
        "nDCG": oracle.ndcg(ranking, grades, 1000, discount="original"),
        "MSnDCG": oracle.ndcg(ranking, grades, 1000),
    } == approx(printed, abs=5.1e-5)
    assert oracle.reciprocal_rank(ranking, grades) == 0.5
    assert oracle.average_precision(ranking, grades) == approx(0.1)
    assert oracle.precision(ranking, grades, 1000) == 0.002
    assert oracle.success(ranking, grades, 1000) == 1


def test_the_aware_papers_gains_stop_a_reader_31_times_in_32():
    ranking, grades = ranking_of((0, 1, 1))
    r = 31 / 32
    assert oracle.err(ranking, grades, max_rel=5, gains={1: 5}) == approx(r / 2 + (1 - r) * r / 3)
    ranking, grades = ranking_of((0, 2))  # a grade without a gain keeps itself
    assert oracle.err(ranking, grades, max_rel=5, gains={1: 5}) == approx((3 / 32) / 2)


# --- By hand ----------------------------------------------------------------------------------------------------------


def test_binary_measures_of_a_short_list_are_those_computed_by_hand():
    ranking, grades = ranking_of((0, 2, None, 1))
    grades["unseen"] = 1
    assert oracle.precision(ranking, grades, 2) == 1 / 2
    assert oracle.precision(ranking, grades, 8) == 2 / 8
    assert oracle.judged(ranking, grades, 3) == 2 / 3
    assert oracle.judged(ranking, grades, 10) == 3 / 10
    assert oracle.recall(ranking, grades) == 2 / 3
    assert oracle.recall(ranking, grades, 3) == 1 / 3
    assert oracle.recall(ranking, grades, base=4) == 2 / 4
    assert oracle.r_precision(ranking, grades) == approx(1 / 3)
    assert oracle.r_precision(ranking, grades, rel=2) == 0
    assert oracle.reciprocal_rank(ranking, grades) == 1 / 2
    assert oracle.reciprocal_rank(ranking, grades, k=1) == 0
    assert oracle.success(ranking, grades, 1) == 0
    assert oracle.success(ranking, grades, 2) == 1
    assert oracle.average_precision(ranking, grades) == approx((1 / 2 + 2 / 4) / 3)
    assert oracle.average_precision(ranking, grades, k=2) == approx((1 / 2) / 3)
    assert oracle.average_precision(ranking, grades, rel=2) == 1 / 2
    assert oracle.condensed(ranking, grades) == ["d1", "d2", "d4"]
    assert oracle.average_precision(oracle.condensed(ranking, grades), grades) == approx((1 / 2 + 2 / 3) / 3)


def test_bpref_counts_the_judged_nonrelevant_documents_above_up_to_the_number_relevant():
    ranking, grades = ranking_of((1, 0, None, 1, 0, 0, 1))
    assert oracle.bpref(ranking, grades) == approx((1 + (1 - 1 / 3) + (1 - 3 / 3)) / 3)
    ranking, grades = ranking_of((1, 0, 1, 1))  # one nonrelevant for three relevant: min(N, R) = 1 divides
    assert oracle.bpref(ranking, grades) == approx((1 + 0 + 0) / 3)
    ranking, grades = ranking_of((1, 2, 0, 2))  # under rel=2 the grade 1 is a judged nonrelevant document
    assert oracle.bpref(ranking, grades, rel=2) == approx((1 - 1 / 2) / 2)


def test_dcg_by_hand_under_each_gain_and_discount():
    ranking, grades = ranking_of((1, None, 3))
    assert oracle.dcg(ranking, grades) == approx(1 + 3 / 2)
    assert oracle.dcg(ranking, grades, gain="exp") == approx(1 + 7 / 2)
    assert oracle.dcg(ranking, grades, gain={3: 10}) == approx(1 + 10 / 2)  # the grade 1 keeps itself
    assert oracle.dcg(ranking, grades, discount="original") == approx(1 + 3 / math.log2(3))
    assert oracle.dcg(ranking, grades, k=2) == 1
    assert oracle.ndcg(ranking, grades, k=1) == approx(1 / 3)


def test_a_gain_for_grade_0_goes_to_judged_documents_only():
    ranking, grades = ranking_of((None, 0))
    assert oracle.dcg(ranking, grades, gain={0: 1}) == approx(1 / math.log2(3))
    assert oracle.ndcg(ranking, grades, gain={0: 1}) == approx(1 / math.log2(3))
    assert oracle.ndcg(ranking, grades) == 0


def test_err_by_hand_and_with_a_maximum_that_would_overflow():
    ranking, grades = ranking_of((2, None, 4))
    r1, r3 = 3 / 16, 15 / 16
    assert oracle.err(ranking, grades) == approx(r1 + (1 - r1) * r3 / 3)
    assert oracle.err(ranking, grades, k=2) == approx(r1)
    ranking, grades = ranking_of((4999, 5000))
    assert oracle.err(ranking, grades, max_rel=5000) == approx(1 / 2 + (1 / 2) * 1 / 2)


def test_err_refuses_a_grade_above_its_maximum_even_where_the_document_is_not_retrieved():
    with pytest.raises(ValueError, match="above max_rel=4"):
        oracle.err(["a"], {"a": 1, "b": 5})


def test_err_given_certain_stops_is_the_reciprocal_rank():
    assert oracle.err_given(["a", "b", "c"], {"b": 1.0, "c": 1.0}) == 1 / 2


def test_rbp_and_its_residual_by_hand():
    ranking, grades = ranking_of((2, None, 0, 1))
    assert oracle.rbp(ranking, grades, p=0.5, maximum=2) == approx(1 / 2 + (1 / 16) / 2)
    assert oracle.rbp_binary(ranking, grades, p=0.5) == approx(1 / 2 + 1 / 16)
    assert oracle.rbp_binary(ranking, grades, p=0.5, rel=2) == approx(1 / 2)
    assert oracle.rbp_binary(ranking, grades) == approx(0.2 * (1 + 0.8**3))
    assert oracle.rbp_residual(ranking, grades, p=0.5) == approx(1 / 4 + 1 / 16)
    assert oracle.rbp(ranking, grades, k=2, p=0.5, maximum=2) == approx(1 / 2)
    assert oracle.rbp_residual(ranking, grades, k=2, p=0.5) == approx(1 / 4 + 1 / 4)
    assert oracle.rbp_residual([], {}) == 1


def test_q_measure_by_hand():
    ranking, grades = ranking_of((0, 3, None, 1))
    grades["unseen"] = 2
    assert oracle.q_measure(ranking, grades) == approx(((1 + 3) / (2 + 5) + (2 + 4) / (4 + 6)) / 3)
    assert oracle.q_measure(ranking, grades, k=2) == approx(((1 + 3) / (2 + 5)) / 3)
    assert oracle.q_measure(ranking, grades, beta=10) == approx(((1 + 30) / (2 + 50) + (2 + 40) / (4 + 60)) / 3)
    assert oracle.q_measure(ranking, grades, rel=2) == approx(((1 + 3) / (2 + 5)) / 2)


def test_gap_by_hand():
    ranking, grades = ranking_of((1, None, 2))
    # thresholds 1 and 2, each with probability 1/2: d(1,1) = 1/2, d(1,3) = 1/2, d(3,3) = 1
    assert oracle.gap(ranking, grades, [1, 2]) == approx((1 / 2 + (1 / 2 + 1) / 3) / (1 / 2 + 1))
    assert oracle.gap(ranking, grades, [1, 2], k=2) == approx((1 / 2) / (1 / 2 + 1))
    assert oracle.gap(ranking, grades, [1, 2], weights=[0.9, 0.1]) == approx((0.9 + (0.9 + 1) / 3) / (0.9 + 1))
    assert oracle.gap(ranking, grades, [1, 2], weights=[0, 1]) == approx(1 / 3)


def test_the_expectation_under_ties_is_the_mean_over_every_order():
    scores, grades = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}, {"a": 0, "c": 1}
    expected = partial(oracle.expected_under_ties, scores=scores, grades=grades)
    assert expected(oracle.reciprocal_rank) == approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert expected(oracle.precision, k=2) == approx((1 / 3) / 2)


def test_kendalls_tau_b_by_hand():
    assert oracle.kendall_tau_b([1, 2, 3], [1, 2, 3]) == 1
    assert oracle.kendall_tau_b([1, 2, 3], [3, 2, 1]) == -1
    assert oracle.kendall_tau_b([1, 2, 2], [1, 2, 3]) == approx(2 / math.sqrt(2 * 3))
    assert math.isnan(oracle.kendall_tau_b([1, 1], [1, 2]))


NEED_NO_OPTION = [
    oracle.recall, oracle.r_precision, oracle.reciprocal_rank, oracle.average_precision, oracle.bpref,
    oracle.dcg, oracle.ndcg, oracle.err, oracle.rbp, oracle.rbp_binary, oracle.q_measure,
    partial(oracle.precision, k=10), partial(oracle.success, k=10),
    partial(oracle.gap, levels=[1, 2]), partial(oracle.gap_by_thresholds, levels=[1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("measure", NEED_NO_OPTION)
def test_nothing_retrieved_nothing_judged_or_nothing_relevant_scores_zero(measure):
    assert measure([], {"a": 1}) == 0
    assert measure(["a", "b"], {}) == 0
    assert measure(["a", "b"], {"a": 0, "c": 0}) == 0


# --- Laws that tie one definition to another --------------------------------------------------------------------------

grades_of_anyone = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 4.0]))
any_ranking = st.lists(st.sampled_from(DOCUMENTS), unique=True)
any_cut = st.sampled_from([None, *CUTS])


@given(any_ranking, grades_of_anyone, any_cut)
def test_gap_is_the_weighted_mean_of_the_average_precisions_at_its_thresholds(ranking, grades, k):
    for levels, weights in [([0.5, 1, 2, 4], None), ([1, 3], [0.2, 0.8]), ([1, 2, 4], [0, 0.5, 0.5])]:
        one, other = (f(ranking, grades, levels, k, weights) for f in (oracle.gap, oracle.gap_by_thresholds))
        assert one == approx(other, abs=1e-12)


@given(any_ranking, grades_of_anyone, any_cut, st.sampled_from([0.5, 1, 2]))
def test_gap_with_one_level_and_q_with_beta_0_are_average_precision(ranking, grades, k, rel):
    ap = oracle.average_precision(ranking, grades, k, rel)
    assert oracle.gap(ranking, grades, [rel], k) == approx(ap, abs=1e-12)
    assert oracle.q_measure(ranking, grades, k, beta=0, rel=rel) == approx(ap, abs=1e-12)


@given(any_ranking, grades_of_anyone, any_cut)
def test_rbp_with_its_residual_is_what_it_would_be_if_all_that_is_unjudged_gained_1(ranking, grades, k):
    everything = {**dict.fromkeys(ranking, 4.0), **grades}
    optimist = oracle.rbp(ranking, everything, k, maximum=4) + 0.8 ** len(ranking[:k])
    assert oracle.rbp(ranking, grades, k, maximum=4) + oracle.rbp_residual(ranking, grades, k) == approx(optimist)
    assert optimist <= 1 + 1e-12


@given(any_ranking, grades_of_anyone, any_cut)
def test_err_is_an_exact_sum_of_fractions(ranking, grades, k):
    grades = {document: int(grade) for document, grade in grades.items()}
    reached, total = Fraction(1), Fraction(0)
    for position, document in enumerate(ranking[:k], start=1):
        r = Fraction(2 ** grades.get(document, 0) - 1, 16)
        total += reached * r / position
        reached *= 1 - r
    assert oracle.err(ranking, grades, k) == approx(float(total), abs=1e-12)


@given(st.dictionaries(st.sampled_from(DOCUMENTS[:6]), st.sampled_from([0.0, 1.0, 2.0])), grades_of_anyone)
def test_the_expected_dcg_under_ties_gives_every_tied_rank_the_groups_mean_gain(scores, grades):
    """McSherry & Najork (2008), for a measure linear in the gains."""
    total, position = 0.0, 0
    for score in sorted(set(scores.values()), reverse=True):
        group = [document for document in scores if scores[document] == score]
        mean = sum(grades.get(document, 0) for document in group) / len(group)
        for _ in group:
            position += 1
            total += mean / math.log2(position + 1)
    assert oracle.expected_under_ties(oracle.dcg, scores, grades=grades) == approx(total, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_kendalls_tau_b_is_scipys(pairs):
    x, y = zip(*pairs, strict=True)
    assert oracle.kendall_tau_b(x, y) == approx(kendalltau(x, y).statistic, abs=1e-12, nan_ok=True)


# --- Other programs ---------------------------------------------------------------------------------------------------


def all_of_trec_eval(scores, grades, rel):
    """What the oracle says where pytrec_eval, which ranks in single precision, answers to the measures below."""
    ranking = oracle.rank(scores, float32=True)
    result = {
        "map": oracle.average_precision(ranking, grades, rel=rel),
        "set_recall": oracle.recall(ranking, grades, rel=rel),
        "Rprec": oracle.r_precision(ranking, grades, rel),
        "recip_rank": oracle.reciprocal_rank(ranking, grades, rel=rel),
        "bpref": oracle.bpref(ranking, grades, rel),
        "ndcg": oracle.ndcg(ranking, grades),
    }
    for k in CUTS:
        result[f"map_cut_{k}"] = oracle.average_precision(ranking, grades, k, rel)
        result[f"P_{k}"] = oracle.precision(ranking, grades, k, rel)
        result[f"recall_{k}"] = oracle.recall(ranking, grades, k, rel)
        result[f"success_{k}"] = oracle.success(ranking, grades, k, rel)
        result[f"ndcg_cut_{k}"] = oracle.ndcg(ranking, grades, k)
    return result


def trec_eval(scores, qrels, rel, **options):
    cuts = ",".join(map(str, CUTS))
    names = {"map", "set_recall", "Rprec", "recip_rank", "bpref", "ndcg"}
    names |= {f"{name}.{cuts}" for name in ("map_cut", "P", "recall", "success", "ndcg_cut")}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": qrels}, names, relevance_level=rel, **options)
    return evaluator.evaluate({"q": scores})["q"]


@given(topics(), st.sampled_from([1, 2, 3]))
@example(({"a": 1.0, "b": 1.0}, {"a": 1, "b": -1}), 1)
@example(({"a": 1.0, "b": 1.0}, {"a": 1, "b": 0}), 1)
@example(({"a": 1.0}, {"b": 0}), 2)
@example(({"\uffff": 1.0, "🙂": 1.0, "é": 1.0}, {"🙂": 1, "é": 2}), 1)
def test_every_measure_of_trec_eval_is_trec_evals(topic, rel):
    scores, qrels = topic
    expected = trec_eval(scores, qrels, rel)
    assert all_of_trec_eval(scores, without_negative(qrels), rel) == approx(expected, rel=0, abs=1e-12)


def test_a_longer_list_scores_as_in_trec_eval():
    random = Random(1)
    for _ in range(20):
        documents = [f"doc{number}" for number in range(300)]
        scores = {d: random.choice([random.random(), random.randrange(9)]) for d in random.sample(documents, 200)}
        qrels = {d: random.choice([-1, 0, 0, 0, 1, 2, 3]) for d in random.sample(documents, 150)}
        expected = trec_eval(scores, qrels, 2)
        assert all_of_trec_eval(scores, without_negative(qrels), 2) == approx(expected, rel=0, abs=1e-12)


@given(topics(), st.sampled_from([1, 2, 3]))
def test_a_condensed_ranking_scores_as_in_trec_eval_j(topic, rel):
    scores, qrels = topic
    grades = without_negative(qrels)
    kept = {document: score for document, score in scores.items() if document in grades}
    expected = trec_eval(scores, qrels, rel, judged_docs_only_flag=True)
    assert oracle.condensed(oracle.rank(scores), grades) == oracle.rank(kept)
    assert all_of_trec_eval(kept, grades, rel) == approx(expected, rel=0, abs=1e-12)


@given(topics(), st.sampled_from([{1: 5}, {0: 1, 3: 10}, {0: 2, 1: 2, 2: 0, 3: 1, 7: 3}]))
def test_gain_maps_are_those_of_ir_measures(topic, gains):
    scores, qrels = topic
    grades, ranking = without_negative(qrels), oracle.rank(scores, float32=True)
    wanted = [nDCG(gains=gains), nDCG(gains=gains) @ 3]
    answer = ir_measures.pytrec_eval.calc_aggregate(wanted, {"q": qrels}, {"q": scores})
    assert [answer[measure] for measure in wanted] == approx(
        [oracle.ndcg(ranking, grades, k, gain=gains) for k in (None, 3)], abs=1e-12
    )


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
def test_err_and_ndcg_with_exponential_gains_are_gdevals():
    """gdeval.pl, as ir_measures ships it, prints five decimals; its order is that of the doubles."""
    random = Random(2)
    qrels, run = {}, {}
    for topic in range(100):
        documents = [f"doc{number}" for number in range(30)]
        judged = random.sample(documents, 15)
        qrels[str(topic)] = {d: random.choice([-2, 0, 0, 1, 2, 3, 4]) for d in judged}
        retrieved = random.sample(documents, random.randrange(1, 25))
        run[str(topic)] = {d: random.choice([0.5, 1.0, 2.5, 3.0 + 2**-30, 3.0]) for d in retrieved}
    wanted = [ERR @ 5, ERR @ 20, nDCG(dcg="exp-log2") @ 5, nDCG(dcg="exp-log2") @ 20]
    n_compared = 0
    for query, measure, value in ir_measures.gdeval.iter_calc(wanted, qrels, run):
        ranking, grades = oracle.rank(run[query]), without_negative(qrels[query])
        k = measure["cutoff"]
        mine = oracle.err(ranking, grades, k) if "ERR" in str(measure) else oracle.ndcg(ranking, grades, k, gain="exp")
        assert mine == approx(value, abs=5.1e-6), (query, measure)
        n_compared += 1
    assert n_compared == 400
