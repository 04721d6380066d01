"""The table for a paper: the numbers it prints, what is bold, and which tests its marks stand for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import qrowd
from qrowd.comparison import rank_intervals
from qrowd.errors import ArgumentError
from qrowd.reports.paper_table import paper_table
from qrowd.reports.table import html_table
from qrowd.simulation import simulate_demo
from reports.test_latex import LONG, compile_latex, complaints

RUNS, JUDGMENTS, _ = simulate_demo()
SCORES = qrowd.evaluate(RUNS, JUDGMENTS, ["nDCG@10", "AP"])
AP = SCORES.sel(measure="AP")
PANEL = AP.panel_mean().values[0, 0]


def oracle_means(scores):
    """{system: mean}, over assessors within each topic and then over topics, in loops."""
    means = {}
    for s, system in enumerate(scores.systems):
        by_topic = []
        for t in range(len(scores.topics)):
            values = [scores.values[0, a, t, s] for a in range(len(scores.assessors))]
            known = [value for value in values if value == value]
            by_topic += [sum(known) / len(known)] if known else []
        means[system] = sum(by_topic) / len(by_topic)
    return means


def test_the_means_are_those_of_the_panel_best_first_and_the_best_is_bold():
    paper = paper_table(SCORES)
    expected = sorted(oracle_means(SCORES.sel(measure="nDCG@10")).items(), key=lambda pair: -pair[1])
    assert [row[:2] for row in paper.table.rows] == [[name, f"{mean:.3f}"] for name, mean in expected]
    means = oracle_means(AP)
    best = max(means, key=means.get)
    assert paper.table.bold == {(0, 1), (paper.systems.index(best), 2)}
    assert paper.table.marks == {}


def test_all_that_are_best_as_far_as_digits_are_shown_are_bold():
    scores = qrowd.Scores.from_array([[0.5001, 0.5004, 0.2]], systems=["a", "b", "c"])
    assert paper_table(scores).table.bold == {(0, 1), (1, 1)}
    assert paper_table(replace(scores, values=scores.values * 10)).table.bold == {(0, 1)}


def test_daggers_are_those_of_the_test_of_all_pairs():
    paper = paper_table(AP, baseline="doc2query", n_resamples=500, rng=3)
    ranks = rank_intervals(AP, n_resamples=500, rng=3)
    b = ranks.systems.index("doc2query")
    better = {name for s, name in enumerate(ranks.systems) if ranks.better[s, b]}
    worse = {name for s, name in enumerate(ranks.systems) if ranks.better[b, s]}
    marked = {mark: {paper.systems[i] for (i, _), m in paper.table.marks.items() if m == mark} for mark in "†‡"}
    assert marked == {"†": better, "‡": worse}
    assert better


def test_letters_list_the_systems_that_are_significantly_worse():
    paper = paper_table(AP, marks="pairs", n_resamples=500, rng=3)
    ranks = rank_intervals(AP, n_resamples=500, rng=3)
    number = {name: s for s, name in enumerate(ranks.systems)}
    for i, first in enumerate(paper.systems):
        worse = [j for j, second in enumerate(paper.systems) if ranks.better[number[first], number[second]]]
        letters = list(paper.table.marks.get((i, 2), ""))
        assert letters == ["abcdefghijkl"[j] for j in worse]
    assert [row[0] for row in paper.table.rows] == list("abcdefghijkl")


@pytest.mark.parametrize("options", [{"marks": "pairs"}, {"marks": "pairs", "baseline": "doc2query"}])
def test_files_name_the_systems_that_letters_stand_for_and_no_other_mark_is_among_the_letters(options):
    paper = paper_table(SCORES, n_resamples=500, rng=3, **options)
    frame = paper.to_frame().fillna({"significantly_worse": ""}).set_index(["measure", "system"])
    named = {key: worse.split() for key, worse in frame["significantly_worse"].items()}
    assert any(named.values())
    for (measure, system), worse in named.items():
        letters = paper.table.marks.get((paper.systems.index(system), 2 + paper.columns.index(measure)), "")
        assert [paper.systems["abcdefghijkl".index(letter)] for letter in letters] == worse


def test_files_name_what_is_significantly_worse_than_the_baseline_or_it_and_nothing_where_nothing_is_tested():
    frame = paper_table(AP, baseline="doc2query", n_resamples=500, rng=3).to_frame().fillna({"significantly_worse": ""})
    frame = frame.set_index("system")
    at = frame.loc["doc2query", "mean"]
    better, worse = (frame.index[(frame.p < 0.05) & side] for side in (frame["mean"] > at, frame["mean"] < at))
    assert (frame.loc[better, "significantly_worse"] == "doc2query").all()
    assert len(better)
    assert sorted(frame.loc["doc2query", "significantly_worse"].split()) == sorted(worse)
    untested = paper_table(SCORES).to_frame()
    assert untested["significantly_worse"].isna().all()
    assert untested["p"].isna().all()


@pytest.mark.parametrize("options", [{"marks": "pairs"}, {"baseline": "bm25"}])
def test_without_a_mark_the_note_explains_none(options):
    paper = paper_table(AP, confidence=0.999, n_resamples=100, **options)  # too few resamples for any p below .001
    assert not paper.table.marks
    assert paper.table.note.endswith(
        "No difference between these systems is significant (p < .001, " + paper.notes[0].text.split(", in")[0] + ")."
    )


def test_columns_are_the_assessors_and_the_panel():
    paper = paper_table(AP, per_assessor=True)
    assert paper.columns == (*AP.assessors, "panel mean")
    means = paper.to_frame().pivot(index="system", columns="assessor", values="mean").loc[list(paper.systems)]
    for name in AP.assessors:
        expected = oracle_means(AP.sel(assessor=name))
        assert means[name].to_dict() == pytest.approx(expected)
    assert means["panel mean"].to_dict() == pytest.approx(oracle_means(AP))
    assert means["panel mean"].is_monotonic_decreasing


def test_of_many_systems_the_first_are_shown_and_the_baseline():
    whole, part = paper_table(AP, baseline="bm25", rng=1), paper_table(AP, baseline="bm25", rng=1, top=3)
    assert part.systems == (*whole.systems[:3], "bm25")
    assert part.p[:, 0] == pytest.approx([whole.p[whole.systems.index(name), 0] for name in part.systems], nan_ok=True)
    assert "4 of 12 systems" in part.table.title


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"marks": "baseline"}, "it needs a baseline, the system that the others are compared with"),
        ({"marks": "letters"}, "marks='letters'"),
        ({"baseline": "bm26"}, "did you mean 'bm25'"),
        ({"confidence": 2}, "confidence"),
        ({"marks": "pairs", "top": 27}, "top=27: marks of pairs are letters, for 26 systems at most"),
        ({"per_assessor": True}, 'scores.sel\\(measure="nDCG@10"\\)'),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(ArgumentError, match=message):
        paper_table(SCORES, **options)


def test_of_pairs_as_many_systems_as_letters_are_shown_with_the_baseline_among_them():
    scores = qrowd.Scores.from_array(np.random.default_rng(1).random((9, 27)))
    worst = paper_table(scores).systems[-1]
    paper = paper_table(scores, marks="pairs", n_resamples=20)
    assert paper.systems == paper_table(scores).systems[:26]
    assert " of 26 of 27 systems " in paper.table.title
    with_baseline = paper_table(scores, marks="pairs", baseline=worst, n_resamples=20).systems
    assert with_baseline == (*paper.systems[:25], worst)


def test_one_system_on_one_topic_has_no_test_and_a_table():
    paper = paper_table(qrowd.Scores.from_array([[0.5]], systems=["a"]), baseline="a")
    assert paper.table.rows == [["a", "0.500"]]
    assert paper.table.marks == {}


def test_each_ending_has_its_form(tmp_path):
    paper = paper_table(AP, baseline="bm25", rng=1)
    for ending in ("tex", "md", "html", "csv", "json", "txt", "xlsx"):
        paper.write(tmp_path / f"x.{ending}")
    assert (tmp_path / "x.tex").read_text() == paper.to_latex()
    assert (tmp_path / "x.md").read_text() == paper.to_markdown()
    assert html_table(paper.table) in (tmp_path / "x.html").read_text()
    assert f"**{paper.table.title}**" in paper.to_markdown()
    assert paper.to_markdown().endswith(f"\n\n<!-- {paper.signature} -->\n")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "x.csv"), paper.to_frame())


def test_of_a_comparison_with_a_reference_the_table_shows_the_scores_of_the_reference():
    comparison = qrowd.compare(RUNS, JUDGMENTS, "AP", reference="ann", n_resamples=200, rng=5)
    assert paper_table(comparison.scores).mean == pytest.approx(paper_table(AP.sel(assessor="ann")).mean)


@pytest.mark.parametrize("two_columns", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_every_form_compiles_and_fits_the_line(tmp_path, two_columns):
    scores = replace(SCORES, systems=tuple(LONG), assessors=tuple(f"{name}_{'x' * 40}" for name in SCORES.assessors))
    ap = scores.sel(measure="AP")
    options = {"n_resamples": 50, "rng": 1}
    tables = [
        paper_table(scores, baseline=LONG[2], **options).to_latex(label="tab:1"),
        paper_table(scores, marks="pairs", **options).to_latex(label="tab:2"),
        paper_table(ap, per_assessor=True, baseline=LONG[0], **options).to_latex(label="tab:3"),
    ]
    assert complaints(compile_latex(tmp_path, tables, two_columns=two_columns)) == []


def test_a_table_of_some_systems_says_that_bold_is_the_best_of_all():
    assert paper_table(AP, top=3).table.note.startswith("Bold: highest mean of the column, of all 12 systems.")
    assert paper_table(AP).table.note == "Bold: highest mean of the column."


def test_printed_or_in_a_notebook_it_has_its_bold_and_its_marks():
    paper = paper_table(AP, baseline="bm25", rng=1)
    best = paper.table.rows[0][1]
    assert f"*{best}†" in str(paper)
    html = paper._repr_html_()
    assert f"<strong>{best}</strong><sup>†</sup>" in html
    assert html.count("<tbody>") == 1
    assert html.count('<th scope="row"') == len(AP.systems)
    assert "significantly better than bm25" in html
