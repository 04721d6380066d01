"""Systems against systems as a document."""

import json

import numpy as np
import pytest

import qrowd
from qrowd.comparison import correlations, rank_intervals, rank_systems, sign_agreement, top_set
from qrowd.comparison.rankings import KINDS
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.scores import Scores
from qrowd.reports.comparison import Choices, compare_scores
from qrowd.reports.difference_tables import intervals
from qrowd.reports.document import render
from qrowd.reports.evaluation import summarise
from qrowd.reports.paper_table import paper_table
from qrowd.reports.report_document import report as report_of
from qrowd.reports.system_tables import may_be_best
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def scores():
    runs, judgments, _ = simulate_demo()
    return qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"]).to_xarray()


def tables_of(comparison):
    return {table.title: table for table in comparison.to_document().tables}


def made(values, **names):
    """Scores of one measure, without conventions."""
    values = np.array(values, float)[None]
    labels = {
        name: names.get(name, tuple(f"{name}{i}" for i in range(size)))
        for name, size in zip(("assessors", "topics", "systems"), values.shape[1:], strict=True)
    }
    relevant, coverage = np.ones(values.shape[:3]), np.ones(values.shape[1:3])
    return Scores(("M",), **labels, values=values, relevant=relevant, coverage=coverage, attributes={})


def test_the_numbers_are_those_of_the_library(scores):
    part = compare_scores(scores).measures[0]
    array = scores.sel(measure="nDCG@10")
    assert part.correlations.tau_b == pytest.approx(correlations(array).tau_b)
    assert part.best[3] == (top_set(array[3]).best,)
    ranks = rank_intervals(array, rng=1)
    assert part.ranks.may_be_best == ranks.may_be_best
    rows = {row.system: row for row in part.rows}
    assert [s for s in rows if rows[s].may_be_best] == list(ranks.may_be_best)
    assert [rows[s].p for s in ranks.systems] == pytest.approx(ranks.against("rerank-large").p, nan_ok=True)
    others = array.drop_isel(assessor=0).mean("assessor")
    assert part.signs[0] == sign_agreement(array[0], others)


def test_with_a_reference_everyone_is_compared_with_it(scores):
    comparison = compare_scores(scores, reference="bob", systems=("bm25", "splade"))
    part = comparison.measures[1]
    array = scores.sel(measure="AP")
    bob = array.sel(assessor="bob")
    assert part.correlations.ap == pytest.approx(correlations(array, reference="bob").ap, nan_ok=True)
    assert part.rows[0].system == top_set(bob).best
    assert part.ranks.may_be_best == rank_intervals(array.sel(assessor=["bob"]), rng=1).may_be_best
    assert part.ranks.over == "topics"
    assert part.signs[0] == sign_agreement(array[0], bob)
    assert "bob" not in {row.assessor for row in part.assessor_rows()}
    # The panel of the pair, too, is without the reference.
    assert part.pair.difference[0] == pytest.approx(
        float((array.sel(system="bm25") - array.sel(system="splade")).drop_sel(assessor="bob").mean())
    )
    assert "for bob, the reference, " in comparison.sentence
    assert any(title.startswith("AP: systems by bob, compared with ") for title in tables_of(comparison))


def test_the_sentence_says_who_may_be_the_best_and_for_whom():
    steps = np.linspace(0, 0.2, 8)[:, None]
    clear = steps + np.array([0.5, 0.3, 0.1]) + np.array([[0.0, 0.001, 0.002]]) * steps
    tied = clear.copy()
    tied[::2, 1] += 1.0
    same = np.full((8, 3), 0.5)
    by = "(95 % simultaneous confidence set over topics and assessors"
    assert compare_scores(made([clear, clear, clear])).sentence == (
        f"By M, systems0 leads for all 3 assessors; systems0 alone may be the best of 3 systems {by})."
    )
    mixed = compare_scores(made([clear, clear, tied, same]))
    assert mixed.sentence == (
        f"By M, systems0 leads for 2 of 3 assessors; 2 of 3 systems may be the best {by}): systems0 and systems1."
    )
    pair = compare_scores(made([clear, tied]), reference="assessors1").sentence
    assert pair.startswith(
        "By M for assessors1, the reference, systems1 leads; systems1 leads for assessors1, but for none of 1 other "
        "assessor; "
    )
    assert [row.best for row in mixed.measures[0].assessor_rows()] == ["systems0", "systems0", "systems1", ""]
    alone = compare_scores(made([clear]))
    assert alone.sentence.endswith(
        "systems0 alone may be the best of 3 systems (95 % simultaneous confidence set over topics)."
    )
    assert list(tables_of(alone)) == ["M: systems by the panel, compared with systems0; 1 assessor ranks them"]
    two = compare_scores(made([clear, tied]))
    assert f"{by}; with 2 assessors it may be too small)" in two.sentence


def test_a_reference_ranks_the_systems_though_nobody_else_does():
    clear = np.linspace(0.1, 0.9, 3)[None, :] + 0.01 * np.arange(20)[:, None] % 0.03
    alone, plain = compare_scores(made([clear]), reference="assessors0"), compare_scores(made([clear]))
    only = "By M, systems2 leads for the only assessor;"
    assert alone.sentence == plain.sentence.replace(only, "By M for assessors0, the reference, systems2 leads;")
    assert "all systems are equal" not in alone.sentence
    assert str(alone.measures[0].rows) == str(plain.measures[0].rows)
    assert "; 1 assessor ranks them" in str(alone.to_document())
    beside = compare_scores(made([clear, np.full_like(clear, 0.5)]), reference="assessors0").sentence
    assert beside == alone.sentence.replace("leads;", "leads; all systems are equal for every other assessor;")
    nobody = compare_scores(made([np.full_like(clear, 0.5)] * 2)).sentence
    assert nobody == "By M, all systems are equal for every assessor."


@pytest.mark.parametrize(("seed", "measure"), [(3, "RR"), pytest.param(1, "nDCG@10", marks=pytest.mark.nightly)])
def test_evaluate_compare_and_report_name_the_same_set_by_the_same_p(seed, measure):
    runs, judgments, _ = simulate_demo(rng=seed)
    scores = qrowd.evaluate(runs, judgments, [measure]).to_xarray()
    compared, summary = compare_scores(scores), summarise(scores, baseline="bm25", rng=1)
    report = report_of(runs, judgments, measure, random_assessors=5, baseline="bm25", rng=1)
    ranks = rank_intervals(scores.sel(measure=measure), rng=1)
    phrase = may_be_best(ranks)
    assert phrase in compared.sentence
    assert phrase in summary.sentence
    assert report.answer.may_be_best == ranks.may_be_best
    assert phrase in report.section("systems").sentence
    bm25 = {row.system: row.p for row in summary.measures[0].rows}
    assert {row.system: row.p for row in report.systems} == pytest.approx(bm25, nan_ok=True)
    assert [bm25[name] for name in ranks.systems] == pytest.approx(ranks.against("bm25").p, nan_ok=True)


def test_of_a_pair_it_says_who_is_ahead_and_who_sees_it_the_other_way():
    better = [[0.6, 0.5]] * 4
    worse = [[0.4, 0.45]] * 4
    scores = made([better, better, worse], assessors=("ann", "bob", "eve"), systems=("x", "y"))
    for pair in (("x", "y"), ("y", "x")):
        sentence = compare_scores(scores, systems=pair).sentence
        assert sentence.startswith("By M, x is ahead of y by 0.050 [")
        assert (
            "; for 2 of 3 assessors, not for eve; one more assessor for all topics costs as much as judging about 1 "
            "more topic and helps at least as much" in sentence
        )
        assert "another panel of 3 assessors of this kind would agree, by about " in sentence
    rows = tables_of(compare_scores(scores, systems=("y", "x")))["M: y minus x, by assessor"].rows
    assert rows[0] == ["panel", "-0.0500", "0/0/4", ".423"]  # the interval's p, not a second one
    assert rows[1] == ["eve", "+0.0500", "4/0/0", ".125"]
    tied = made([better, better, worse, [[0.0, 0.0]] * 4], assessors=("ann", "bob", "eve", "tie"), systems=("x", "y"))
    assert "; for 2 of 4 assessors, not for eve, equal for 1; " in compare_scores(tied, systems=("x", "y")).sentence
    equal = compare_scores(made([better, [[0.5, 0.6]] * 4], systems=("x", "y")), systems=("x", "y")).sentence
    assert equal == "By M, x and y are equal for the panel; x is ahead for 1, y for 1 of 2 assessors."


def test_of_two_systems_there_is_one_test_in_the_sentence_and_the_notes_say_which_intervals_are_others():
    scores = Scores.from_array(np.random.default_rng(1).random((3, 25, 2)), systems=("x", "y"))
    compared = compare_scores(scores, systems=("x", "y"))
    assert compared.sentence.count("[") == 1
    assert "may be the best" not in compared.sentence
    assert "2 of 2 systems may be the best" in compare_scores(scores).sentence
    (note,) = (note.text for note in compared.notes if note.kind == "intervals")
    assert note.endswith("all are of this pair alone, where the table of systems and qrowd report allow for all pairs")


def test_long_names_of_systems_leave_a_sentence_that_can_be_read():
    names = [f"system-{i}-{'x' * 50}" for i in range(8)]
    values = np.random.default_rng(1).random((3, 25, 8))
    sentence = compare_scores(Scores.from_array(values, systems=names)).sentence
    assert "8 of 8 systems may be the best" in sentence
    assert " and 7 more" in sentence
    assert len(sentence) < 400


def test_of_one_assessor_a_difference_has_one_p(scores):
    part = compare_scores(scores.sel(assessor=["ann"]), systems=("bm25", "splade")).measures[0]
    (row,) = part.pair_rows()
    assert row.p == part.intervals[0].p


def test_every_convention_of_the_comparison_is_stated(scores):
    choices = Choices(confidence=0.99)
    notes = compare_scores(scores, systems=("bm25", "splade"), choices=choices).notes
    kinds = [note.kind for note in notes]
    assert kinds[:3] == ["test of all pairs", "agreement of rankings", "AP correlation"]
    assert kinds[3:5] == ["AP-b", "same sign"]
    assert kinds[5:7] == ["intervals", "P(ahead again)"]
    assert "pair" in kinds
    assert "scale" in kinds
    assert "99 % for all together" in notes[0].text


def test_the_file_holds_every_number(scores):
    document = compare_scores(scores, systems=("bm25", "splade")).to_document()
    content = json.loads(render(document, "x.json"))
    assert set(content) == {
        "sentence", "notes", "signature", "choices", "conventions", "systems", "may_be_best", "assessors", "pair",
        "versions",
        "intervals", "kinship", "fail_if",
    }  # fmt: skip
    assert [row["measure"] for row in content["systems"]] == ["nDCG@10"] * 12 + ["AP"] * 12
    by_ap = [row["tau_b"] for row in content["assessors"] if row["measure"] == "AP"]
    assert by_ap == pytest.approx(correlations(scores.sel(measure="AP")).tau_b.tolist())
    assert content["pair"][0]["assessor"] == "panel"
    frame = document.frame()  # of two systems: their difference by each measure and method
    assert frame["measure"].tolist() == ["nDCG@10", "nDCG@10", "AP", "AP"]
    assert set(zip(frame["first"], frame["second"], strict=True)) == {("bm25", "splade")}
    assert frame["low"].tolist() == [row["low"] for row in content["intervals"]]
    assert not frame.map(lambda cell: isinstance(cell, tuple)).any(axis=None)  # no cell reads ('v_assessor',)
    frame = compare_scores(scores).to_document().frame()
    assert len(frame) == 2 * scores.sizes["assessor"]
    assert list(frame.columns)[: 2 + len(KINDS)] == ["measure", "assessor", *KINDS]
    for ending in ("csv", "md", "tex"):
        assert len(render(document, f"x.{ending}")) > 500


def test_of_a_crowd_the_first_assessors_are_shown():
    rng = np.random.default_rng(1)
    crowd = made(rng.random((40, 5, 4)) + np.linspace(0, 1, 4))
    comparison = compare_scores(crowd, systems=("systems0", "systems1"))
    tables = tables_of(comparison)
    title = next(title for title in tables if "agreement of each assessor" in title)
    assert title.endswith("(the first 30 of 40 assessors)")
    assert len(tables[title].rows) == 30
    assert len(tables["M: systems0 minus systems1, by assessor (the first 30 of 41 assessors)"].rows) == 30
    assert len(comparison.to_frame()) == 40


@pytest.mark.parametrize(("options", "message"), [
    ({"reference": "bop"}, "assessor 'bop' is not among the assessors; did you mean 'bob'"),
    ({"systems": ("bm25", "bm52")}, "system 'bm52' is not among the systems; did you mean"),
    ({"systems": ("bm25", "bm25")}, "are the same"),
])  # fmt: skip
def test_what_is_not_there_is_refused(scores, options, message):
    with pytest.raises(ArgumentError, match=message):
        compare_scores(scores, **options)


def test_a_single_system_and_a_panel_without_scores_cannot_be_compared():
    with pytest.raises(ArgumentError, match="the only system"):
        compare_scores(made([[[0.5]]]))
    with pytest.raises(NoOverlapError, match="M: no assessor has a score"):
        compare_scores(made([[[np.nan, np.nan]]]))
    nobody = made([[[np.nan] * 2], [[0.5, 0.6]]], assessors=("ann", "bob"))
    with pytest.raises(NoOverlapError, match="M: ann has no score"):
        compare_scores(nobody, reference="ann")


@pytest.mark.parametrize("options", [{"confidence": 2.0}, {"n_resamples": 1}])
def test_a_choice_that_is_none_is_refused(options):
    with pytest.raises(ArgumentError, match="|".join(options)):
        Choices(**options)


def test_beside_a_pair_the_other_systems_stand_in_files_only(scores):
    comparison = compare_scores(scores.sel(measure="AP"), systems=("bm25", "splade"))
    (title,) = (title for title in tables_of(comparison) if ": systems by the panel, " in title)
    baseline = comparison.measures[0].baseline
    assert title.endswith(" (3 of 12 systems)")
    assert {row[0] for row in tables_of(comparison)[title].rows} == {"bm25", "splade", baseline}
    assert len(comparison.measures[0].rows) == 12


def test_systems_that_share_the_lead_are_named_together_in_every_sentence():
    level = np.linspace(0, 0.2, 8)[:, None] + np.array([0.5, 0.5, 0.1])
    scores = made([level, level], assessors=("ann", "bob"))
    pair = "systems0 and systems1 share the lead"
    found = compare_scores(scores, related={"ann": ["systems2"]})
    assert found.sentence.startswith(f"By M, {pair} for both assessors; ")
    assert found.sentence.endswith(f" Without relatives, too, {pair}.")
    assert [row.best for row in found.measures[0].assessor_rows()] == ["systems0 and systems1"] * 2
    assert paper_table(scores).sentence == f"By M, {pair}."
    assert str(rank_systems(scores)).startswith("3 systems, 2 assessors; rank 1: systems0, systems1.\n")
    one = compare_scores(scores.sel(assessor=["ann"]), reference="ann").sentence
    assert one.startswith(f"By M for ann, the reference, {pair}; 2 of 3 systems may be the best ")


def test_with_one_topic_nothing_says_which_systems_may_be_the_best():
    comparison = compare_scores(made([[[0.1, 0.2, 0.3]]] * 2))
    assert comparison.measures[0].ranks is None
    assert comparison.sentence == "By M, systems2 leads for both assessors."
    rows = tables_of(comparison)["M: systems by the panel, compared with systems2; 2 assessors rank them"].rows
    assert rows[0] == ["systems2", "0.3000", "-", "-", "", "", "", "", "2"]


def test_the_interval_of_a_difference_ends_where_no_two_scores_of_the_measure_lie_further_apart():
    values = np.random.default_rng(1).beta(0.2, 0.2, (2, 4, 2))
    whole, cut = (
        intervals(
            Scores.from_array(values, measure=measure, assessors=("ann", "bob"), systems=("one", "two")),
            "one", "two", confidence=0.95,
        )
        for measure in ("some measure without bounds", "P@10")
    )  # fmt: skip
    assert max(one.high for one in whole) > 1
    for one, other in zip(cut, whole, strict=True):
        assert (one.low, one.high) == (max(other.low, -1), min(other.high, 1))
        assert (one.p, one.difference) == (other.p, other.difference)


def test_compare_from_runs_and_judgments_is_the_comparison_of_their_scores(scores, tmp_path):
    runs, judgments, _ = simulate_demo()
    comparison = qrowd.compare(runs, judgments, ["nDCG@10", "AP"], systems=("bm25", "splade"), n_resamples=200, rng=1)
    expected = compare_scores(scores, systems=("bm25", "splade"), choices=Choices(n_resamples=200))
    assert str(comparison) == str(expected)
    for what in ("assessors", "systems", "pair", "intervals"):
        assert set(comparison.to_frame(what=what)["measure"]) == {"nDCG@10", "AP"}
    comparison.write(tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["sentence"] == comparison.sentence


def test_systems_are_compared_with_the_baseline_that_is_asked_for(scores):
    part = compare_scores(scores, baseline="bm25", choices=Choices(n_resamples=200)).measures[0]
    rows = {row.system: row for row in part.rows}
    assert part.baseline == "bm25"
    assert np.isnan(rows["bm25"].difference)
    assert rows["rerank-large"].difference > 0
    assert (rows["rerank-large"].wins, rows["rerank-large"].losses) == (22, 3)
