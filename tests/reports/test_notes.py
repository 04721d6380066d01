"""A note for every convention that mattered, and none for those that did not."""

import pandas
import pytest

import qrowd
from qrowd.model.judgments import concatenate_judgments
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores
from qrowd.reports.evaluation import evaluation_of
from qrowd.reports.notes import scoring_notes
from qrowd.reports.scale_notes import scales_note

RUNS = qrowd.Runs.from_dict({"A": {"q1": {"d1": 3, "d2": 2, "d3": 1}, "q2": {"d4": 1}}})


def told(rows, measures=("AP",), runs=RUNS, scales=None, **conventions):
    """{subject: note} of an evaluation."""
    judgments = qrowd.Judgments.from_rows(rows, scales=scales)
    scores = qrowd.evaluate(runs, judgments, list(measures), conventions=qrowd.Conventions(**conventions))
    return {note.kind: note.text for note in scoring_notes(scores)}


FULL = [("q1", "d1", "ann", 1), ("q1", "d2", "ann", 0), ("q1", "d3", "ann", 0), ("q2", "d4", "ann", 1)]


def test_where_nothing_special_happened_only_the_scales_are_told():
    assert told(FULL, scales={"ann": "binary"}) == {"scale": "binary (declared)"}


def test_an_inferred_scale_is_called_inferred():
    assert told(FULL)["scale"] == ("binary (inferred from the judgments of ann); to declare: --scale '*=binary'")


def test_of_many_unlike_scales_two_options_show_how_to_declare_them():
    scales = [Scale("graded", 3.0, declared=False), Scale("binary", 1.0, declared=False)]
    eight, nine = (str(scales_note({f"a{i}": scales[i % 2] for i in range(n)})) for n in (8, 9))
    assert eight.endswith(" ".join(["to declare:", *4 * ["--scale 'a{}=0-3' --scale 'a{}=binary'"]]).format(*range(8)))
    assert nine.endswith("; to declare: --scale 'a0=0-3' --scale 'a1=binary' and so on")


def test_assessors_of_whom_no_grade_is_relevant_are_a_caution_where_their_zeros_are_in_the_mean():
    rows = [*FULL, *[(topic, document, "bob", 2 * grade) for topic, document, _, grade in FULL]]
    judgments = qrowd.Judgments.from_rows(rows, scales={"ann": "binary", "bob": "0-3"})

    def said(*measures, methods=(), empty="zero"):
        conventions = qrowd.Conventions(empty=empty)
        return evaluation_of(RUNS, judgments, measures, methods=methods, conventions=conventions).sentence

    assert said("nDCG@10", "AP(rel=2)", "RR").endswith(
        " Caution: no grade of ann is relevant by AP(rel=2), so that theirs is 0 and lowers means over assessors; "
        "--exclude leaves them out."
    )
    for others in (said("AP"), said("AP(rel=1)"), said("AP(rel=2)", empty="nan")):
        assert "Caution" not in others
    every = said("AP(rel=2)", methods=["mean"])  # of relevant or not
    assert every.endswith("0.0000. Caution: no grade is relevant by AP(rel=2), so that all its scores are 0.")


@pytest.mark.parametrize("highest", [1.2, 2.0])
def test_an_inferred_scale_that_reaches_rel_does_not_hide_that_no_grade_does(highest):
    rows = [*FULL, *[(topic, document, "bob", 3 * grade) for topic, document, _, grade in FULL]]
    rows += [(topic, document, "cid", grade * highest + (1 - grade) * 0.5) for topic, document, _, grade in FULL]
    rows += [(topic, "unranked", "cid", 0.0) for topic in ("q1", "q2")]
    sources = [qrowd.Judgments.from_rows([row for row in rows if row[2] == name]) for name in ("ann", "bob", "cid")]
    judgments = concatenate_judgments(sources)
    assert str(judgments.scales[2]) == "0..2"
    sentence = evaluation_of(RUNS, judgments, ["AP(rel=2)"]).sentence
    who = "ann and cid" if highest < 2 else "ann"
    assert f" Caution: no grade of {who} is relevant by AP(rel=2), so that theirs is 0" in sentence


def test_one_worker_of_a_table_without_a_relevant_document_is_not_advised_to_be_left_out():
    rows = [*FULL, *[(topic, document, "bob", 3 * grade) for topic, document, _, grade in FULL]]
    judgments = qrowd.Judgments.from_rows(rows, scales={"*": "0-3"})
    assert "Caution" not in evaluation_of(RUNS, judgments, ["AP(rel=2)"]).sentence


@pytest.mark.parametrize(("grades", "words"), [("rescaled", ", divided by the maximum of its scale,"), ("as-is", "")])
def test_where_no_grade_of_anybody_is_relevant_nobody_is_advised_to_be_left_out(grades, words):
    judgments = qrowd.Judgments.from_rows([(*row[:3], 2 * row[3]) for row in FULL], scales={"ann": "0-3"})
    conventions = qrowd.Conventions(grades=grades)
    rel = 2 if grades == "rescaled" else 3
    sentence = evaluation_of(RUNS, judgments, [f"AP(rel={rel})"], conventions=conventions).sentence
    assert sentence.endswith(f" Caution: no grade{words} is relevant by AP(rel={rel}), so that all its scores are 0.")


def test_partial_coverage_is_counted():
    rows = [*FULL, ("q1", "d1", "bob", 1)]
    assert told(rows, min_coverage=0.5)["coverage"] == (
        "of 4 (assessor, topic) cells 2 cover the whole pool, 1 less than 50 % of it (no score there), "
        "1 nothing at all (no score there)"
    )


def test_repeats_are_counted_with_the_rule():
    assert told([*FULL, FULL[0]], repeats="last")["repeats"] == (
        "1 judgment repeats one by the same assessor; the last counts"
    )


@pytest.mark.parametrize(("ties", "rule"), [("document", "broken by document id"), ("expected", "mean over the tied")])
def test_ties_are_counted_with_the_rule(ties, rule):
    runs = qrowd.Runs.from_dict({"A": {"q1": {"d1": 1, "d2": 1}}})
    note = told(FULL, measures=["P@1"], runs=runs, ties=ties)["ties"]
    assert note.startswith("1 of 1 ranked lists")
    assert rule in note


def test_ranks_that_contradict_the_scores_are_counted():
    frame = {"topic": ["q1", "q1"], "document": ["d1", "d2"], "score": [1.0, 2.0], "rank": [1, 2]}
    runs = qrowd.Runs.from_frame(pandas.DataFrame(frame), system="A")
    assert told(FULL, runs=runs)["ranks"].startswith("in 1 list the rank column")


def test_the_share_nobody_judged_is_told():
    runs = qrowd.Runs.from_dict({"A": {"q1": {"d1": 3, "x": 2}, "q2": {"d4": 1, "y": 0}}})
    assert told(FULL, runs=runs)["unjudged"] == "50 % of all retrieved documents were judged by nobody; they gain 0"


@pytest.mark.parametrize(
    ("measures", "counted"),
    [
        (["P@2"], "25 % of the first 2 retrieved"),
        (["nDCG@3"], "20 % of the first 3 retrieved"),
        (["P@1", "RR", "P@2"], "0 % of the first, 25 % of the first 2, 55.6 % of all retrieved"),
    ],
)
def test_the_share_nobody_judged_is_counted_down_to_each_cut_off(measures, counted):
    ranking = {f"x{rank}": 3 - rank for rank in range(4, 8)}
    runs = qrowd.Runs.from_dict({"A": {"q1": {"d1": 9, "d2": 8, "d3": 7} | ranking, "q2": {"d4": 1, "y": 0}}})
    assert told(FULL, measures=measures, runs=runs).get("unjudged", "").startswith(counted)


def test_the_residual_of_rbp_is_told_where_it_was_computed():
    assert "what RBP could gain" in told(FULL, measures=["RBP", "RBP(residual=True)"])["residual"]


def test_topics_without_a_relevant_document_are_counted():
    rows = [*FULL[:3], ("q2", "d4", "ann", 0)]
    assert told(rows)["empty"] == "(assessor, topic) cells without a relevant document score 0: AP 1 of 2"


def test_missing_lists_and_topics_nobody_judged_are_counted():
    runs = qrowd.Runs.from_dict({"A": {"q1": {"d1": 1}}, "B": {"q1": {"d1": 1}, "q9": {"d1": 1}}})
    found = told(FULL, runs=runs)
    assert found["missing"] == (
        "(topic, system) pairs without a list score 0: 2; qrowd check counts the topics that are in no run"
    )
    assert found["not judged"] == "1 topic of the runs, ignored"


def test_scores_that_went_through_arithmetic_get_no_notes():
    judgments = qrowd.Judgments.from_rows(FULL)
    doubled = qrowd.evaluate(RUNS, judgments, "AP").to_xarray().drop_attrs() * 2
    assert list(scoring_notes(Scores.from_xarray(doubled))) == []
