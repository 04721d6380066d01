"""Systems against systems as a document."""

import json

import numpy as np
import pytest

import qrowd
from qrowd.comparison import correlations, sign_agreement, systems_anova, top_set
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.scores import Scores
from qrowd.reports.comparison import Choices, compare_systems, comparison_document
from qrowd.reports.document import render
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def scores():
    runs, judgments, _ = simulate_demo()
    return qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])


def tables_of(comparison):
    return {table.title: table for table in comparison_document(comparison).tables}


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
    part = compare_systems(scores).measures[0]
    array = scores.sel(measure="nDCG@10")
    assert part.correlations.tau_b == pytest.approx(correlations(array).tau_b)
    panel = qrowd.panel_mean(array)
    assert part.top.members == top_set(panel).members
    assert part.tops[3].members == top_set(array[3]).members
    assert part.systems.tukey.groups == systems_anova(panel).tukey.groups
    others = array.drop_isel(assessor=0).mean("assessor")
    assert part.signs[0] == sign_agreement(array[0], others)


def test_with_a_reference_everyone_is_held_against_it(scores):
    comparison = compare_systems(scores, reference="bob", pair=("bm25", "splade"))
    part = comparison.measures[1]
    array = scores.sel(measure="AP")
    bob = array.sel(assessor="bob")
    assert part.correlations.ap == pytest.approx(correlations(array, "bob").ap, nan_ok=True)
    assert part.top.members == top_set(bob).members
    assert part.systems.tukey.groups == systems_anova(bob).tukey.groups
    assert part.signs[0] == sign_agreement(array[0], bob)
    assert "bob" not in {row["assessor"] for row in part.assessor_rows()}
    # The panel of the pair, too, is without the reference.
    assert part.pair.difference[0] == pytest.approx(
        float((array.sel(system="bm25") - array.sel(system="splade")).drop_sel(assessor="bob").mean())
    )
    assert "for bob" in comparison.sentence
    assert "AP: systems, by bob" in tables_of(comparison)


def test_the_sentence_says_who_is_tied_and_for_whom():
    steps = np.linspace(0, 0.2, 8)[:, None]
    clear = steps + np.array([0.5, 0.3, 0.1]) + np.array([[0.0, 0.001, 0.002]]) * steps
    tied = clear.copy()
    tied[::2, 1] += 1.0
    same = np.full((8, 3), 0.5)
    one = compare_systems(made([clear, clear]))
    assert one.sentence == (
        "By M, systems0 is best and tied with no other system (8 topics, Wilcoxon, p < .05); 2 of 2 assessors have "
        "systems0 among their own best, 2 the very same set."
    )
    mixed = compare_systems(made([clear, clear, tied, same]))
    assert "tied with systems1 (8 topics, Wilcoxon, p >= .05); 3 of 3 assessors" in mixed.sentence
    assert mixed.sentence.endswith("1 the very same set.")
    assert mixed.measures[0].tops[3] is None  # all are equal to this assessor
    alone = compare_systems(made([clear]))
    assert alone.sentence.endswith("p < .05).")
    assert list(tables_of(alone)) == ["M: systems, by the panel"]


def test_of_a_pair_it_says_who_is_ahead_and_who_sees_it_the_other_way():
    better = [[0.6, 0.5]] * 4
    worse = [[0.4, 0.45]] * 4
    scores = made([better, better, worse], assessors=("ann", "bob", "eve"), systems=("x", "y"))
    for pair in (("x", "y"), ("y", "x")):
        sentence = compare_systems(scores, pair=pair).sentence
        assert sentence.startswith("By M, x is ahead of y by 0.050 [")
        assert (
            "; for 2 of 3 assessors, not for eve; another assessor helps more than judging 20 more topics" in sentence
        )
        assert "another panel of 3 assessors would agree with probability " in sentence
    rows = tables_of(compare_systems(scores, pair=("y", "x")))["M: y minus x"].rows
    assert rows[0] == ["panel", "-0.0500", "0/0/4", ".423"]  # the interval's p, not a second one
    assert rows[1] == ["eve", "+0.0500", "4/0/0", ".125"]
    equal = compare_systems(made([better, [[0.5, 0.6]] * 4], systems=("x", "y")), pair=("x", "y")).sentence
    assert equal.startswith("By M, x and y are equal for the panel; x is ahead for 1, y for 1 of 2 assessors;")


def test_every_convention_of_the_comparison_is_stated(scores):
    choices = Choices(alpha=0.01, zeros="pratt", correction="holm", sign_ties="half")
    notes = compare_systems(scores, pair=("bm25", "splade"), choices=choices).notes
    start = [note.split(":")[0] for note in notes]
    assert start[:6] == ["top set", "groups", "groups", "alike", "AP correlation", "same sign"]
    assert start[6:10] == ["intervals", "P(ahead again)", "rank intervals", "pair"]
    assert "scales" in start
    assert "p >= .01" in notes[0]
    assert "zeros=pratt" in notes[0]
    assert "Holm" in notes[0]
    assert "HSD at .01" in notes[1]
    assert "sign_ties=half" in notes[5]


def test_the_file_holds_every_number(scores):
    document = comparison_document(compare_systems(scores, pair=("bm25", "splade")))
    content = json.loads(render(document, "x.json"))
    assert set(content) == {
        "sentence", "notes", "choices", "conventions", "systems", "groups", "assessors", "pair", "certainty"
    }  # fmt: skip
    assert len(content["systems"]["AP"]) == 12
    assert content["choices"]["zeros"] == "wilcox"
    assert content["assessors"]["AP"][0]["tau_b"] == pytest.approx(correlations(scores.sel(measure="AP")).tau_b[0])
    assert content["pair"]["nDCG@10"][0]["assessor"] == "panel"
    frame = document.frame()
    assert len(frame) == 2 * scores.sizes["assessor"]
    assert list(frame.columns)[:7] == ["measure", "assessor", "tau_b", "tau_a", "ap", "pearson", "rmse"]
    for ending in ("csv", "md", "tex"):
        assert len(render(document, f"x.{ending}")) > 500


def test_of_a_crowd_only_both_ends_are_shown():
    rng = np.random.default_rng(1)
    crowd = made(rng.random((40, 5, 4)) + np.linspace(0, 1, 4))
    comparison = compare_systems(crowd, pair=("systems0", "systems1"))
    tables = tables_of(comparison)
    title = next(title for title in tables if "how alike" in title)
    assert title.endswith("(the 30 lowest of 40)")
    assert len(tables[title].rows) == 30
    shown = [float(row[1]) for row in tables["M: systems0 minus systems1"].rows[1:]]
    assert len(shown) == 30
    differences = comparison.measures[0].pair.difference[1:]
    assert (shown[0], shown[-1]) == (
        pytest.approx(differences.max(), abs=1e-4),
        pytest.approx(differences.min(), abs=1e-4),
    )
    assert len(comparison_document(comparison).frame()) == 40


@pytest.mark.parametrize(("options", "message"), [
    ({"reference": "bop"}, "assessor 'bop' is not among the assessors; did you mean 'bob'"),
    ({"pair": ("bm25", "bm52")}, "system 'bm52' is not among the systems; did you mean"),
    ({"pair": ("bm25", "bm25")}, "are the same"),
])  # fmt: skip
def test_what_is_not_there_is_refused(scores, options, message):
    with pytest.raises(ArgumentError, match=message):
        compare_systems(scores, **options)


def test_a_single_system_and_a_panel_without_scores_cannot_be_compared():
    with pytest.raises(ArgumentError, match="the only system"):
        compare_systems(made([[[0.5]]]))
    with pytest.raises(NoOverlapError, match="M: no assessor has a score"):
        compare_systems(made([[[np.nan, np.nan]]]))
    nobody = made([[[np.nan] * 2], [[0.5, 0.6]]], assessors=("ann", "bob"))
    with pytest.raises(NoOverlapError, match="M: ann has no score"):
        compare_systems(nobody, reference="ann")


@pytest.mark.parametrize("options", [{"zeros": "x"}, {"correction": "x"}, {"sign_ties": "x"}, {"alpha": 2.0}])
def test_a_choice_that_is_none_is_refused(options):
    with pytest.raises(ArgumentError, match="|".join(options)):
        Choices(**options)


def test_one_topic_has_no_groups():
    comparison = compare_systems(made([[[0.1, 0.2, 0.3]]] * 2))
    assert comparison.measures[0].systems is None
    assert tables_of(comparison)["M: systems, by the panel"].rows[0] == ["systems2", "0.3000", "-", "-", "yes", "", "2"]
