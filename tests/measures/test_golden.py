"""Numbers that were printed elsewhere, or worked out by hand, through the public door."""

import numpy as np
import pytest

from qrowd.evaluation import coefficients, evaluate
from qrowd.files import read_judgments, read_runs
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

approx = pytest.approx


def one_list(*grades):
    """A run whose documents stand in the order of the given grades, and the judgments; None is an unjudged document."""
    documents = [f"d{rank}" for rank in range(1, len(grades) + 1)]
    runs = Runs.from_dict({"s": {"t": {document: -rank for rank, document in enumerate(documents)}}})
    rows = [("t", document, "a", grade) for document, grade in zip(documents, grades, strict=True) if grade is not None]
    return runs, Judgments.from_rows(rows)


def score(text, *grades, **conventions):
    return evaluate(*one_list(*grades), text, conventions=Conventions(**conventions)).to_xarray().item()


def test_average_precision_of_the_aware_papers_toy_is_the_printed_one():
    """Ferrante, Ferro & Maistro (2017), section 3: a truth and three crowd assessors, 3 relevant documents in all."""
    said = {"truth": "10100", "first": "11000", "second": "11100", "third": "01101"}
    runs, _ = one_list(*said["truth"])
    rows = [("t", f"d{i}", who, int(g)) for who, grades in said.items() for i, g in enumerate(grades, start=1)]
    scores = evaluate(runs, Judgments.from_rows(rows), ["AP(recall_base=3)", "AP"]).to_xarray().squeeze().to_pandas().T
    printed = {"truth": 0.5556, "first": 0.6667, "second": 1.0, "third": 0.5889}
    assert scores["AP(recall_base=3)"].to_dict() == approx(printed, abs=5e-5)
    crowd = scores.drop("truth").mean()
    assert crowd["AP(recall_base=3)"] == approx(0.75185, abs=5e-6)  # printed .7518, truncated
    assert crowd["AP"] == approx(0.8630, abs=5e-5)


@pytest.mark.parametrize(
    ("first", "precision", "average_precision"),
    [(None, 0, 0.0765), (5, 0.2, 0.1407), (4, 0.2, 0.1463), (3, 0.2, 0.1556), (2, 0.2, 0.1741), (1, 0.2, 0.2296)],
)
def test_the_aware_papers_introduction_table_is_the_printed_one(first, precision, average_precision):
    """Ferrante, Ferro & Maistro (2017), section 1: recall base 9, relevant at ranks 6, 9, 10 and one higher up."""
    grades = [int(rank in (first, 6, 9, 10)) for rank in range(1, 11)]
    assert score("P@5", *grades) == approx(precision)
    assert score("AP(recall_base=9)", *grades) == approx(average_precision, abs=5e-5)


def test_the_aware_papers_gains_of_0_and_5_stop_a_reader_31_times_in_32():
    stop = 31 / 32
    assert score("ERR(gains={1:5},max_rel=5)@20", 1, 0, 1) == approx(stop + (1 - stop) * stop / 3, abs=1e-15)


def test_magnitudes_have_the_topic_s_highest_as_maximum_where_err_is_asked_so_and_grades_their_scale_s():
    """Maddalena et al. (2017), section 7.1: R = (2^g - 1) / 2^max; the maximum of magnitudes is not printed."""
    first, second = (2**0.5 - 1) / 2**30, (2**30 - 1) / 2**30
    expected = first + (1 - first) * second / 2
    assert score("ERR(max_rel=topic)@10", 0.5, 30, None) == approx(expected, rel=1e-12)
    assert score("ERR(max_rel=topic)", 1, 0, 3) == score("ERR", 1, 0, 3)
    assert score("RBP(max_rel=topic,p=0.5)", 0.5, 30) == approx(0.5 * 0.5 / 30 + 0.25, rel=1e-12)


def test_the_original_discount_gives_jarvelin_and_kekalainens_printed_vectors():
    """ACM TOIS 20(4), 2002, section 2: DCG with base 2, of a list and of the ideal one (whose sixth is truncated)."""
    printed = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
    for k, value in enumerate(printed, start=1):
        assert score(f"DCG(dcg='original')@{k}", 3, 2, 3, 0, 0, 1, 2, 2, 3, 0) == approx(value, abs=0.006)
    printed = [3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83]
    for k, value in enumerate(printed, start=1):
        assert score(f"DCG(dcg='original')@{k}", 3, 3, 3, 2, 2, 2, 1, 1, 1, 1) == approx(value, abs=0.011)


@pytest.mark.parametrize(
    ("scale", "printed"),
    [
        ((1, 2, 3), {"Q": 0.0967, "RBP(p=0.95)": 0.0761, "nDCG(dcg='original')": 0.3380, "nDCG": 0.2760}),
        ((1, 4, 9), {"Q": 0.0929, "RBP(p=0.95)": 0.0666, "nDCG(dcg='original')": 0.3636, "nDCG": 0.2947}),
    ],
)
def test_ntcirevals_sample_has_the_printed_scores(scale, printed):
    """Sakai's NTCIREVAL, README section 3.1 (gains 1:2:3) and pyNTCIREVAL's tests (1:4:9)."""
    levels = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0)
    rows = [("t", f"dummy{i:02}", "a", (0, *scale)[level]) for i, level in enumerate(levels, start=1)]
    ranking = ["dummy11", "dummy01", "dummy12", "dummy04"]  # L0, L3, unjudged, L2
    runs = Runs.from_dict({"s": {"t": {document: -rank for rank, document in enumerate(ranking)}}})
    scores = evaluate(runs, Judgments.from_rows(rows), list(printed)).to_xarray()
    assert scores.squeeze().to_series().to_dict() == approx(printed, abs=5.1e-5)


def test_ties_are_worth_the_two_scores_printed_in_trec_evals_issue_22():
    """https://github.com/usnistgov/trec_eval/issues/22: two runs alike but for the name of the nonrelevant document."""
    runs = Runs.from_dict({"with a": {"t": {"b": 1, "a": 1}}, "with c": {"t": {"b": 1, "c": 1}}})
    judgments = Judgments.from_rows([("t", "a", "x", 0), ("t", "b", "x", 1), ("t", "c", "x", 0)])
    assert evaluate(runs, judgments, "nDCG").values.ravel() == approx([1, 0.6309], abs=5e-5)
    assert evaluate(runs, judgments, "nDCG", conventions=Conventions(ties="expected")).values.ravel() == approx(
        [0.81546, 0.81546], abs=5e-6
    )


def test_coefficients_are_what_a_unit_of_gain_adds_at_each_rank():
    assert coefficients("P@2", 3) == approx([0.5, 0.5, 0])
    assert coefficients("DCG", 3) == approx([1, 1 / np.log2(3), 0.5])
    assert coefficients("nDCG(dcg='original')@3", 4) == approx([1, 1, 1 / np.log2(3), 0])
    assert coefficients("DCG(dcg='zipf')", 3) == approx([1, 1 / 2, 1 / 3])
    assert coefficients("RBP(p=0.5)", 3) == approx([0.5, 0.25, 0.125])


# --- Real collections -------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_2395_of_dl21s_3339_lists_have_ties(dl21):
    scores = evaluate(read_runs(dl21 / "runs"), read_judgments(dl21 / "qrels.nist.txt"), "P@10").to_xarray()
    assert (scores.attrs["lists"], scores.attrs["tied_lists"], scores.attrs["missing_lists"]) == (3339, 2395, 0)


def test_12_of_dl21s_18_judges_never_reach_grade_2(dl21):
    scores = evaluate(
        read_runs(dl21 / "runs" / "Fast_ForwardP_2.gz"), read_judgments(dl21 / "judges"), "P(rel=2)@10"
    ).to_xarray()
    assert scores.sizes["assessor"] == 18
    assert (scores["relevant"].sum("topic") == 0).sum() == 12


def test_on_dl19s_split_topic_only_the_two_people_who_judged_their_part_of_its_pool_have_a_score(dl19):
    runs, people = read_runs(dl19 / "runs" / "bm25base_p.gz"), read_judgments([dl19 / "humans" / "main.tsv"])
    split = evaluate(runs, people, "nDCG@10").to_xarray().sel(topic="168216").squeeze()
    assert split["assessor"].values[~np.isnan(split)].tolist() == ["a3", "a4"]
    assert (
        evaluate(runs, people, "nDCG@10", conventions=Conventions(min_coverage=0))
        .to_xarray()
        .sel(topic="168216")
        .notnull()
        .all()
    )


def test_twist_of_short_lists_is_what_distances_from_the_ideal_ranking_say():
    """Two relevant documents. Worked out by hand from Ferro et al. (2016) and the rules of their toolkit (twist.m).

    k = 4: 0110 is -2, 0, 1, 0 ranks off; the reversed ideal -2, -1, 1, 2; f = 2/3, b = 1/3, no change of sign.
    k = 8: 00011000 is -2, -1, 0, 2, 3 ranks off; the sum changes its sign after rank 4; f = 6/11, b = 0.
    """
    assert score("Twist@4", 0, 1, 1, 0) == approx((0 + 4 / 9) / 2)
    assert score("Twist@8", 0, 0, 0, 1, 1, 0, 0, 0) == approx((2 / 4 + 0) / 2)
    assert score("Twist@8", 1, 1, 0, 0) == 1
    assert score("Twist@8", 3, 2, 1, 0, None, 0) == 1
