"""Assessors who judged little of the pools are the first thing that a report speaks of."""

from dataclasses import replace

import numpy as np
import pytest

import qrowd
from qrowd import Conventions
from qrowd.errors import ScaleError
from qrowd.model.judgments import concatenate_judgments
from qrowd.reports.comparison import compare
from qrowd.reports.design_tables import plan
from qrowd.reports.evaluation import evaluation_of
from qrowd.reports.report_document import report
from qrowd.reports.report_page import report_page


@pytest.fixture(scope="module")
def runs_and_crowd():
    """Runs, and a crowd of twelve of whom each judged a random third of the documents of each topic."""
    rng = np.random.default_rng(3)
    rows = [
        (f"t{t}", f"d{d}", f"w{a}", int(rng.random() < 0.2 + 0.6 * (d < 6)))
        for t in range(8)
        for d in range(20)
        for a in rng.choice(12, size=4, replace=False)
    ]
    runs = {
        name: {f"t{t}": {f"d{d}": float(rng.normal(-d, noise)) for d in range(20)} for t in range(8)}
        for name, noise in (("good", 1.0), ("bad", 20.0))
    }
    return qrowd.Runs.from_dict(runs), qrowd.Judgments.from_rows(rows)


def test_the_warning_stands_in_the_sentence_with_remedies_that_can_be_copied(runs_and_crowd):
    sentence = evaluation_of(*runs_and_crowd, ["nDCG@10"], rng=1).sentence
    assert "Caution: an assessor judged 33 % of a topic's pool on average" in sentence
    assert "--slots 4 makes the first judgments of each document 4 assessors" in sentence
    assert "--method 'dawid-skene(per=all)'" in sentence


def test_compare_plan_and_report_warn_as_evaluate_does(runs_and_crowd):
    warning = evaluation_of(*runs_and_crowd, ["nDCG@10"], rng=1).sentence.partition("Caution")[2]
    assert compare(*runs_and_crowd, "nDCG@10", n_resamples=50, rng=1).sentence.endswith(warning)
    assert plan(*runs_and_crowd, "nDCG@10").sentence.endswith(warning)
    page = report(*runs_and_crowd, "nDCG@10", n_resamples=50, random_assessors=5, rng=1)
    assert page.answer.caution.endswith(warning)
    assert '<p class="caution">Caution: an assessor judged 33 %' in report_page(page)


def test_both_remedies_silence_the_warning(runs_and_crowd):
    runs, crowd = runs_and_crowd
    assert "Caution" not in evaluation_of(runs, crowd.slots(4), ["nDCG@10"], rng=1).sentence
    merged = evaluation_of(runs, crowd, ["nDCG@10"], methods=["dawid-skene(per=all)"], rng=1)
    assert "Caution" not in merged.sentence


def test_one_slot_is_no_remedy(runs_and_crowd):
    runs, crowd = runs_and_crowd
    first = crowd.slots(2).select(assessors=["slot 1"])
    thirds = [first.select(documents=lambda name, n=n: int(name[1:]) % 3 == n) for n in range(3)]
    named = [replace(third, assessors=(f"w{n}",)) for n, third in enumerate(thirds)]
    sentence = evaluation_of(runs, concatenate_judgments(named), ["nDCG@10"], rng=1).sentence
    assert "Caution: an assessor judged 33 % of a topic's pool on average" in sentence
    assert "Remedy: qrowd evaluate --method" in sentence


def test_slots_are_no_remedy_where_assessors_judge_on_different_scales(runs_and_crowd):
    runs, crowd = runs_and_crowd
    mixed = crowd.recode({"w1": {1.0: 2.0}}).with_scales({"w1": "0-2", "*": "binary"})
    with pytest.raises(ScaleError):
        mixed.slots(4)
    sentence = evaluation_of(runs, mixed, ["nDCG@10"], rng=1).sentence
    assert "Remedy: qrowd evaluate --method 'dawid-skene(per=all)'" in sentence
    assert "--slots" not in sentence
    assert "Remedy: --slots 4" in evaluation_of(runs, mixed.with_scales({"*": "0-2"}), ["nDCG@10"], rng=1).sentence


def test_magnitudes_beside_grades_are_left_out_before_all_judgments_are_merged(runs_and_crowd):
    runs, crowd = runs_and_crowd
    mixed = crowd.recode({"w1": {1.0: 30.0, 0.0: 3.0}}).with_scales({"w1": "magnitude", "*": "binary"})
    for method in ("geometric-mean", "dawid-skene(per=all)"):
        with pytest.raises(ScaleError):
            evaluation_of(runs, mixed, ["nDCG@10"], methods=[method], rng=1)
    remedy = "Remedy: --exclude those who gave magnitudes; then qrowd evaluate --method 'dawid-skene(per=all)' merges"
    assert remedy in evaluation_of(runs, mixed, ["nDCG@10"], rng=1).sentence
    grades = mixed.select(assessors=lambda name: name != "w1")
    assert "Caution" not in evaluation_of(runs, grades, ["nDCG@10"], methods=["dawid-skene(per=all)"], rng=1).sentence
    alone = crowd.recode({"*": {1.0: 30.0, 0.0: 3.0}}).with_scales({"*": "magnitude"})
    assert "qrowd evaluate --method geometric-mean" in evaluation_of(runs, alone, ["nDCG@10"], rng=1).sentence
    merged = evaluation_of(runs, alone, ["nDCG@10"], methods=["geometric-mean"], rng=1)
    assert "Caution" not in merged.sentence


def test_documents_that_nobody_judged_come_first_whatever_the_slots(runs_and_crowd):
    runs, crowd = runs_and_crowd
    few = crowd.select(documents=[f"d{d}" for d in range(3)])
    said = (
        " Caution: 70 % of the first 10 retrieved documents were judged by nobody; qrowd next says which to judge "
        "first (--question best, unless the campaign has a question)."
    )
    for judgments in (few, few.slots(1)):
        assert said in evaluation_of(runs.select(systems=["good"]), judgments, ["AP", "nDCG@10"], rng=1).sentence
        of_two = compare(runs, judgments, "nDCG@20", n_resamples=50, rng=1).sentence
        assert "Caution: 85 % of the first 20 retrieved documents were judged by nobody" in of_two
        assert "Remedy" not in of_two
    half = crowd.select(documents=[f"d{d}" for d in range(5)])
    assert "by nobody" not in evaluation_of(runs.select(systems=["good"]), half, ["nDCG@10"], rng=1).sentence


def test_nothing_is_said_where_unjudged_documents_are_left_out(runs_and_crowd):
    summary = evaluation_of(*runs_and_crowd, ["nDCG@10"], conventions=Conventions(unjudged="condensed"), rng=1)
    assert "Caution" not in summary.sentence


def test_an_assessor_who_judged_few_topics_in_full_is_no_reason_for_caution():
    judgments = qrowd.Judgments.from_rows(
        [(f"t{t}", f"d{d}", f"a{t % 3}", int(d < 3)) for t in range(9) for d in range(10)]
    )
    lists = {f"t{t}": {f"d{d}": float(d) for d in range(10)} for t in range(9)}
    runs = qrowd.Runs.from_dict({"x": lists, "y": dict(list(lists.items())[::2])})
    assert "Caution" not in evaluation_of(runs, judgments, ["nDCG@10"], rng=1).sentence
