"""The conventions of evaluate: each option by a small case worked out by hand, and what the result says of itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import measures as oracle
from qrowd.errors import ArgumentError, InputError, MeasureError, NoOverlapError
from qrowd.evaluation import DEFAULT_MEASURES, evaluate, evaluate_blocks, measure
from qrowd.measures import DEFINITIONS
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.panel import Coded
from qrowd.model.runs import Runs
from qrowd.model.scales import parse_scale
from strategies import BOUNDED, few, worlds

approx = pytest.approx
NONLINEAR = [definition.name for definition in DEFINITIONS if not definition.linear]


def runs_of(**lists):
    """Runs of one topic t: s="a b c" ranks a first."""
    return Runs.from_dict({s: {"t": {d: -r for r, d in enumerate(ranked.split())}} for s, ranked in lists.items()})


def judged(scales=None, **given):
    """Judgments of topic t: ann="a:1 b:0" is what ann gives."""
    rows = [("t", d, who, float(g)) for who, said in given.items() for d, g in (x.split(":") for x in said.split())]
    return Judgments.from_rows(rows, scales=scales)


def scores_by(dimension, *arguments, **conventions):
    return (
        evaluate(*arguments, conventions=Conventions(**conventions))
        .to_xarray()
        .squeeze()
        .to_series()
        .groupby(dimension)
        .first()
        .to_dict()
    )


# --- What comes back --------------------------------------------------------------------------------------------------


def test_scores_have_a_measure_an_assessor_a_topic_and_a_system():
    scores = evaluate(runs_of(one="a b", two="b a"), judged(ann="a:1 b:0", bob="a:0 b:1")).to_xarray()
    assert scores.dims == ("measure", "assessor", "topic", "system")
    assert scores["measure"].values.tolist() == list(DEFAULT_MEASURES)
    assert scores["assessor"].values.tolist() == ["ann", "bob"]
    assert scores["topic"].values.tolist() == ["t"]
    assert scores["system"].values.tolist() == ["one", "two"]
    assert scores.dtype == np.float64
    assert scores.name == "score"
    assert scores.sel(measure="RR", topic="t").values.tolist() == [[1, 0.5], [0.5, 1]]


def test_a_measure_is_scored_once_however_often_and_by_whatever_name_it_is_asked_for():
    scores = evaluate(
        runs_of(s="a"), judged(ann="a:1"), ["map", "AP", measure("AP()"), "nDCG@1", "ndcg_cut_1"]
    ).to_xarray()
    assert scores["measure"].values.tolist() == ["AP", "nDCG@1"]


@few
@given(worlds())
def test_the_result_counts_what_each_measure_could_reward_and_what_each_assessor_covered(world):
    texts = ["AP(rel=2)", "nDCG@1", "Judged@3", "DCG(gains={1:0})", "Bpref(rel=0.5)"]
    counts = [
        lambda grades: oracle.number_relevant(grades, 2),
        lambda grades: sum(grade > 0 for grade in grades.values()),
        len,
        lambda grades: sum(grade > 0 and grade != 1 for grade in grades.values()),
        lambda grades: oracle.number_relevant(grades, 0.5),
    ]
    scores = evaluate(world.runs, world.judgments, texts).to_xarray()
    for a, assessor in enumerate(world.assessors):
        for t, topic in enumerate(world.topics):
            grades = world.opinions[assessor, topic].grades
            assert scores["relevant"].values[:, a, t].tolist() == [count(grades) for count in counts]
            pool = {document for where, document, _, _ in world.rows if where == topic}
            assert scores["coverage"].values[a, t] == approx(len(grades) / len(pool))


def test_the_result_says_what_was_tied_missing_unjudged_repeated_and_on_which_scale():
    runs = Runs.from_dict(
        {
            "one": {"t": {"a": 2, "b": 2, "x": 1}, "u": {"a": 1}, "nobody judged": {"a": 1, "b": 1}},
            "two": {"t": {"y": 1, "a": 3, "b": 2, "c": 2.5}},
        }
    )
    rows = [
        ("t", "a", "ann", 1),
        ("t", "a", "ann", 0),
        ("t", "b", "bob", 3),
        ("t", "c", "bob", -1),
        ("u", "a", "bob", 0),
    ]
    attrs = (
        evaluate(
            runs,
            Judgments.from_rows(rows, scales={"bob": "0-3"}),
            ["DCG", "P@3", "P@1"],
            conventions=Conventions(ties="expected"),
        )
        .to_xarray()
        .attrs
    )
    assert {name: attrs[name] for name in ("lists", "tied_lists", "missing_lists", "unjudged_topics")} == {
        "lists": 3,
        "tied_lists": 1,
        "missing_lists": 1,
        "unjudged_topics": 1,
    }
    # x stands third and y fourth; c was pooled, though nobody judged it
    assert attrs["unjudged_shares"] == {1: 0, 3: approx(1 / 7), None: approx(2 / 8)}
    assert list(attrs["unjudged_shares"]) == [1, 3, None]
    assert attrs["repeated_judgments"] == 1
    assert attrs["conventions"]["ties"] == "expected"
    assert attrs["conventions"]["min_coverage"] == 0.1
    assert {who: str(scale) for who, scale in attrs["scales"].items()} == {"ann": "0-3", "bob": "0-3"}  # one table
    assert [scale.declared for scale in attrs["scales"].values()] == [False, True]


def test_progress_is_told_once_per_topic_up_to_all_of_them():
    rows = [(f"t{i}", "a", "ann", 1) for i in range(5)]
    told = []
    evaluate(
        runs_of(s="a"), Judgments.from_rows([("t", "a", "ann", 1), *rows]), "P@1", progress=lambda *n: told.append(n)
    )
    assert told == [(i, 6) for i in range(1, 7)]


# --- Topics and judgments that are not there --------------------------------------------------------------------------


def test_a_topic_without_a_relevant_document_scores_0_or_if_wished_nothing():
    runs, judgments = runs_of(s="a b"), judged(ann="a:0 b:0", bob="a:1 b:0")
    assert scores_by("assessor", runs, judgments, "AP") == {"ann": 0, "bob": 1}
    assert scores_by("assessor", runs, judgments, "AP", empty="nan") == approx({"ann": np.nan, "bob": 1}, nan_ok=True)


def test_an_empty_topic_is_one_without_relevant_documents_for_the_measure_at_hand():
    judgments = judged(ann="a:1 b:0", bob="a:2 b:0")
    scores = (
        evaluate(runs_of(s="a b"), judgments, ["AP", "AP(rel=2)", "Judged@1"], conventions=Conventions(empty="nan"))
        .to_xarray()
        .squeeze()
    )
    assert scores.to_pandas().to_dict("index") == {
        "AP": approx({"ann": 1, "bob": 1}),
        "AP(rel=2)": approx({"ann": np.nan, "bob": 1}, nan_ok=True),
        "Judged@1": approx({"ann": 1, "bob": 1}),
    }


def test_an_assessor_without_a_judgment_in_a_topic_has_no_score_there_not_even_0():
    judgments = Judgments.from_rows([("t", "a", "ann", 1), ("u", "a", "bob", 1), ("t", "b", "bob", -1)])
    scores = evaluate(
        runs_of(s="a b"), judgments, ["AP", "Judged@1", "RBP(residual=True)"], conventions=Conventions(min_coverage=0)
    ).to_xarray()
    assert scores.isel(system=0).isnull().values.tolist() == [[[False, True], [True, False]]] * 3


@pytest.mark.parametrize(("min_coverage", "scored"), [(0, True), (0.1, True), (0.100001, False), (1, False)])
def test_an_assessor_who_judged_less_than_min_coverage_of_the_pool_has_no_score(min_coverage, scored):
    everything = " ".join(f"d{i}:1" for i in range(10))
    scores = scores_by(
        "assessor", runs_of(s="d3"), judged(ann=everything, bob="d3:1"), "P@1", min_coverage=min_coverage
    )
    assert scores == approx({"ann": 1, "bob": 1 if scored else np.nan}, nan_ok=True)


def test_by_default_a_tenth_of_the_pool_must_be_judged():
    judgments = judged(ann=" ".join(f"d{i}:1" for i in range(11)), bob="d3:1")
    assert np.isnan(scores_by("assessor", runs_of(s="d3"), judgments, "P@1")["bob"])


def test_a_negative_grade_puts_a_document_into_the_pool_but_does_not_judge_it():
    judgments = judged(ann="a:1 b:-1 c:-2", bob="a:1 b:0")
    scores = (
        evaluate(runs_of(s="b c a"), judgments, ["RR", "Judged@3", "RR(judged_only=True)", "Bpref"])
        .to_xarray()
        .squeeze()
    )
    assert scores.sel(assessor="ann").values.tolist() == approx([1 / 3, 1 / 3, 1, 1])
    assert scores.sel(assessor="bob").values.tolist() == approx([1 / 3, 2 / 3, 1 / 2, 0])
    assert scores["coverage"].values.tolist() == approx([1 / 3, 2 / 3])


def test_a_judged_topic_that_a_system_lacks_scores_0_or_nothing_or_the_mean_of_its_row_and_column():
    runs = Runs.from_dict(
        {
            "one": {"t": {"a": 2, "b": 1}, "u": {"a": 1}, "v": {"b": 2, "a": 1}},
            "two": {"t": {"b": 2, "a": 1}, "u": {"c": 3, "b": 2, "a": 1}},
            "three": {"v": {"a": 1}},
        }
    )
    judgments = Judgments.from_rows([(topic, "a", "ann", 1) for topic in "tuv"])

    def table(missing):
        return (
            evaluate(runs, judgments, "RR", conventions=Conventions(missing=missing))
            .to_xarray()
            .squeeze()
            .transpose("system", "topic")
            .values
        )

    assert table("zero") == approx(np.array([[1, 1, 1 / 2], [1 / 2, 1 / 3, 0], [0, 0, 1]]))
    assert table("skip") == approx(np.array([[1, 1, 1 / 2], [1 / 2, 1 / 3, np.nan], [np.nan, np.nan, 1]]), nan_ok=True)
    two_v = (1 / 2 + 1 / 3 + 1 / 2 + 1) / 4  # two's other topics, v's other systems
    three_t, three_u = (1 + 1 + 1 / 2) / 3, (1 + 1 + 1 / 3) / 3
    assert table("interpolate") == approx(np.array([[1, 1, 1 / 2], [1 / 2, 1 / 3, two_v], [three_t, three_u, 1]]))
    assert evaluate(runs, judgments, "RR").to_xarray().attrs["missing_lists"] == 3


@few
@given(worlds(BOUNDED, n_topics=3, n_systems=3), st.sampled_from(["zero", "nan"]), st.sampled_from([0, 0.5]))
def test_interpolation_never_gives_an_assessor_a_score_where_there_is_none(world, empty, min_coverage):
    options = {"empty": empty, "min_coverage": min_coverage}
    for text in ("AP", "nDCG@3"):
        skipped = evaluate(
            world.runs, world.judgments, text, conventions=Conventions(missing="skip", **options)
        ).to_xarray()[0]
        filled = evaluate(
            world.runs, world.judgments, text, conventions=Conventions(missing="interpolate", **options)
        ).to_xarray()[0]
        for a, t, s in np.ndindex(filled.shape):
            expected = skipped.values[a, t, s]
            has_a_score = 0 < filled["coverage"].values[a, t] >= min_coverage
            counts = empty == "zero" or skipped["relevant"].values[a, t] > 0
            if has_a_score and counts and world.topics[t] not in world.lists[world.systems[s]]:
                others = [*np.delete(skipped.values[a, t], s), *np.delete(skipped.values[a, :, s], t)]
                known = [score for score in others if not np.isnan(score)]
                expected = sum(known) / len(known) if known else np.nan
            assert filled.values[a, t, s] == approx(expected, nan_ok=True)


def test_a_topic_that_nobody_judged_is_left_out_and_counted():
    runs = Runs.from_dict({"s": {"t": {"a": 1}, "u": {"a": 1}}})
    scores = evaluate(runs, judged(ann="a:1"), "P@1").to_xarray()
    assert scores["topic"].values.tolist() == ["t"]
    assert scores.attrs["unjudged_topics"] == 1


def test_runs_and_judgments_without_a_common_topic_are_refused_with_some_of_both():
    with pytest.raises(NoOverlapError, match=r"^runs and judgments share no topic: runs have t, judgments 1, 2;"):
        evaluate(runs_of(s="a"), Judgments.from_rows([("1", "a", "ann", 1), ("2", "a", "ann", 1)]))


# --- Unjudged documents, ties, repeats, scales ------------------------------------------------------------------------


def test_an_unjudged_document_gains_nothing_even_where_grade_0_gains_something():
    judgments = judged(ann="a:0 b:2", bob="x:0")
    assert scores_by("assessor", runs_of(s="x a"), judgments, "DCG(gains={0:1})") == approx(
        {"ann": 1 / np.log2(3), "bob": 1}
    )


def test_condensed_lists_lack_what_each_assessor_did_not_judge():
    runs, judgments = runs_of(s="x a y b"), judged(ann="a:0 b:1", bob="b:1 x:0 y:0")
    assert scores_by("assessor", runs, judgments, "RR") == {"ann": 1 / 4, "bob": 1 / 4}
    assert scores_by("assessor", runs, judgments, "RR", unjudged="condensed") == approx({"ann": 1 / 2, "bob": 1 / 3})
    assert scores_by("assessor", runs, judgments, "RR(judged_only=True)") == approx({"ann": 1 / 2, "bob": 1 / 3})


def test_scores_that_only_doubles_tell_apart_are_ties_in_single_precision():
    runs = Runs.from_dict({"s": {"t": {"a": 1 + 1e-9, "b": 1.0}}})
    assert evaluate(runs, judged(ann="a:1 b:0"), "RR").to_xarray().item() == 1
    assert (
        evaluate(runs, judged(ann="a:1 b:0"), "RR", conventions=Conventions(score_dtype="float32")).to_xarray().item()
        == 1 / 2
    )


def test_expected_scores_give_tied_documents_their_mean_gain():
    runs = Runs.from_dict({"s": {"t": {"a": 2, "b": 1, "c": 1, "x": 1}}})
    judgments = judged(ann="a:0 b:3 c:1")
    assert evaluate(runs, judgments, "P@2", conventions=Conventions(ties="expected")).to_xarray().item() == approx(
        (2 / 3) / 2
    )
    discounts = [1 / np.log2(rank + 1) for rank in (2, 3, 4)]
    assert evaluate(runs, judgments, "DCG", conventions=Conventions(ties="expected")).to_xarray().item() == approx(
        4 / 3 * sum(discounts)
    )
    # Condensed first, b and c share ranks 2 and 3.
    condensed = (
        evaluate(runs, judgments, "DCG", conventions=Conventions(ties="expected", unjudged="condensed"))
        .to_xarray()
        .item()
    )
    assert condensed == approx(2 * sum(discounts[:2]))


@pytest.mark.parametrize("name", NONLINEAR)
def test_expected_scores_of_a_measure_that_is_not_linear_in_gains_are_refused(name):
    text = f"{name}@5" if any(d.name == name and d.cutoff == "required" for d in DEFINITIONS) else name
    message = rf"^{text}: the expectation over ties needs a measure linear in gains \(P, R, Judged, DCG"
    with pytest.raises(MeasureError, match=message):
        evaluate(runs_of(s="a"), judged(ann="a:1"), ["nDCG", text], conventions=Conventions(ties="expected"))


REPEATED = [("t", "a", "ann", 0.0), ("t", "b", "ann", 1.0), ("t", "a", "ann", 3.0), ("t", "a", "ann", 2.0)]


@pytest.mark.parametrize(("repeats", "gain"), [("first", 0), ("last", 2), ("mean", 5 / 3)])
def test_of_repeated_judgments_the_first_counts_or_the_last_or_their_mean(repeats, gain):
    judgments = Judgments.from_rows(REPEATED)
    assert evaluate(
        runs_of(s="a"), judgments, "DCG", conventions=Conventions(repeats=repeats)
    ).to_xarray().item() == approx(gain)
    assert evaluate(runs_of(s="a"), judgments, "DCG").to_xarray().item() == 0


@pytest.mark.parametrize(("repeats", "gain"), [("first", 2), ("last", 3), ("mean", 5 / 3)])
def test_an_order_column_decides_which_judgment_was_first(repeats, gain):
    judgments = replace(Judgments.from_rows(REPEATED), order=np.array([5.0, 1, 9, 0]))
    assert evaluate(
        runs_of(s="a"), judgments, "DCG", conventions=Conventions(repeats=repeats)
    ).to_xarray().item() == approx(gain)


def test_repeated_judgments_are_refused_on_request_naming_one():
    with pytest.raises(InputError, match=r"assessor ann, topic t, document a: .*2 repeated judgments in all"):
        evaluate(runs_of(s="a"), Judgments.from_rows(REPEATED), conventions=Conventions(repeats="error"))


def test_a_document_is_relevant_from_grade_1_or_from_half_of_a_fractions_maximum():
    judgments = judged(
        {"half": "0..1", "tens": "0..10", "grades": "0-3", "yes": "binary"},
        half="a:0.5 b:0.49", tens="a:5 b:4.9", grades="a:1 b:0", yes="a:1 b:0",
    )  # fmt: skip
    for assessor, found in scores_by("assessor", runs_of(s="a b"), judgments, "R").items():
        assert found == 1, assessor
    relevant = evaluate(runs_of(s="a b"), judgments, "R").to_xarray()["relevant"]
    assert relevant.values.ravel().tolist() == [1, 1, 1, 1]


def test_rel_is_in_each_assessors_own_units():
    judgments = judged(ann="a:1 b:0.5 c:0", bob="a:1 b:3 c:2")
    assert scores_by("assessor", runs_of(s="a b c"), judgments, "P(rel=1)@3") == approx({"ann": 1 / 3, "bob": 1})
    assert scores_by("assessor", runs_of(s="a b c"), judgments, "P(rel=2)@3") == approx({"ann": 0, "bob": 2 / 3})


def test_unit_grades_are_shares_of_each_scales_maximum_and_what_was_relevant_stays_relevant():
    judgments = judged({"ann": "0-3", "bob": "0..10", "cem": "binary"}, ann="a:2 b:1", bob="a:5 b:4", cem="a:1 b:0")
    unit = (
        evaluate(runs_of(s="a b"), judgments, ["DCG@1", "R", "RBP"], conventions=Conventions(grades="rescaled"))
        .to_xarray()
        .squeeze()
    )
    asis = evaluate(runs_of(s="a b"), judgments, ["DCG@1", "R", "RBP"]).to_xarray().squeeze()
    assert unit.sel(measure="DCG@1").values.tolist() == approx([2 / 3, 1 / 2, 1])
    assert asis.sel(measure="DCG@1").values.tolist() == approx([2, 5, 1])
    assert asis["relevant"].sel(measure="R").values.tolist() == [2, 1, 1]
    assert unit["relevant"].sel(measure="R").values.tolist() == [2, 1, 1]
    np.testing.assert_allclose(unit.sel(measure="RBP"), asis.sel(measure="RBP"))
    assert unit.attrs["scales"] == evaluate(runs_of(s="a b"), judgments, "R").to_xarray().attrs["scales"]  # as judged


def test_unit_grades_of_magnitudes_or_of_a_panel_are_refused():
    magnitudes = judged({"ann": "magnitude"}, ann="a:30")
    with pytest.raises(InputError, match="assessor ann: magnitudes have no maximum"):
        evaluate(runs_of(s="a"), magnitudes, "DCG", conventions=Conventions(grades="rescaled"))
    with pytest.raises(ArgumentError, match="grades='rescaled' is for Judgments"):
        evaluate(runs_of(s="a"), judged(ann="a:1").panel(), "DCG", conventions=Conventions(grades="rescaled"))


OF_RANKINGS = [definition for definition in DEFINITIONS if not definition.of_units]


@pytest.mark.parametrize("definition", OF_RANKINGS, ids=[definition.name for definition in OF_RANKINGS])
def test_magnitudes_are_scored_or_refused_in_one_line_naming_measure_assessor_and_way_out(definition):
    text = f"{definition.name}@5" if definition.cutoff == "required" else definition.name
    parameters = {parameter.name for parameter in definition.parameters}
    way_out = "max_rel" if "max_rel" in parameters else "rel" if "rel" in parameters else None
    runs, judgments = runs_of(s="a b"), judged({"bob": "magnitude"}, ann="a:1 b:0", bob="a:30 b:2.5")
    if way_out is None:
        assert evaluate(runs, judgments, text).to_xarray().notnull().all()
    else:
        with pytest.raises(
            MeasureError, match=rf"^{text}: assessor bob gives magnitudes.*{definition.name}\({way_out}=\.\.\.\)"
        ) as caught:
            evaluate(runs, judgments, text)
        assert "\n" not in str(caught.value)
        helped = text.replace(definition.name, f"{definition.name}({way_out}=30)")
        assert evaluate(runs, judgments, helped).to_xarray().notnull().all()


def test_a_grade_above_the_maximum_of_err_is_refused_even_where_nobody_retrieved_it():
    with pytest.raises(
        MeasureError, match=r"^ERR\(max_rel=2\)@20: assessor bob gives 3, above the maximum 2; write ERR\(max_rel=3\)"
    ):
        evaluate(runs_of(s="a"), judged(ann="a:1 b:2", bob="a:1 b:3"), "ERR(max_rel=2)@20")
    with pytest.raises(MeasureError, match="assessor ann gives 5, above the maximum 3"):
        evaluate(runs_of(s="a"), judged(ann="a:1 b:3"), "ERR(gains={3:5})")


def test_probabilities_of_stopping_above_1_are_refused():
    with pytest.raises(MeasureError, match="assessor ann gives 2, which is no probability of stopping; recode"):
        evaluate(runs_of(s="a"), judged(ann="a:1 b:2"), "ERR(stop='given')")


def test_exponential_gains_that_overflow_are_refused():
    with pytest.raises(MeasureError, match=r"2\^g overflows for values as large as 5000"):
        evaluate(runs_of(s="a"), judged({"*": "magnitude"}, ann="a:5000 b:1"), "nDCG(dcg='exp-log2')")


def test_err_of_large_magnitudes_does_not_overflow():
    scores = evaluate(
        runs_of(s="a b"), judged({"*": "magnitude"}, ann="a:4999 b:5000"), "ERR(max_rel=5000)"
    ).to_xarray()
    assert scores.item() == approx(1 / 2 + (1 / 2) * 1 / 2)


# --- Blocks, and what is refused --------------------------------------------------------------------------------------


class Announced:
    """Blocks that say beforehand whom they hold."""

    def __init__(self, assessors, panels):
        self.assessors, self.panels = assessors, panels

    def __iter__(self):
        return iter(self.panels)


def parts_of(panel):
    """One panel per assessor, over the same pool."""
    return [panel.part(slice(a, a + 1)) for a in range(len(panel.assessors))]


def test_a_union_of_what_assessors_found_relevant_is_refused_in_blocks():
    runs, panel = runs_of(s="a b"), judged(ann="a:1 b:0", bob="a:0 b:1").panel()
    text = "AP(recall_base='union')"
    assert evaluate(runs, [panel], text).values.ravel().tolist() == [1 / 2, 1 / 4]
    refused = r"^AP\(recall_base='union'\): recall_base='union' needs all assessors at once"
    with pytest.raises(ArgumentError, match=refused):
        evaluate(runs, parts_of(panel), text)
    with pytest.raises(ArgumentError, match=refused):
        list(evaluate_blocks(runs, parts_of(panel), text))


@pytest.mark.parametrize("names", [("ann",), ("bob", "ann"), ("ann", "bob", "cem")])
def test_blocks_that_are_not_as_announced_are_refused(names):
    panels = parts_of(judged(ann="a:1", bob="a:0").panel())
    assert evaluate(runs_of(s="a"), Announced(("ann", "bob"), panels), "P@1").values.ravel().tolist() == [1, 0]
    with pytest.raises(ArgumentError, match="announced"):
        evaluate(runs_of(s="a"), Announced(names, panels), "P@1")


def test_blocks_over_different_topics_are_refused():
    other = Judgments.from_rows([("u", "a", "bob", 1)]).panel()
    with pytest.raises(ArgumentError, match="must share their topics"):
        evaluate(runs_of(s="a"), [judged(ann="a:1").panel(), other], "P@1")


def test_blocks_may_lie_over_different_documents_of_the_same_topics():
    scores = evaluate(runs_of(s="a b"), [judged(ann="b:1").panel(), judged(bob="c:0 a:1").panel()], "RR").to_xarray()
    assert scores.values.ravel().tolist() == [1 / 2, 1]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("ties", "random"),
        ("score_dtype", "float16"),
        ("unjudged", "relevant"),
        ("missing", None),
        ("empty", "0"),
        ("repeats", "median"),
        ("grades", "percent"),
        ("min_coverage", 1.5),
        ("min_coverage", float("nan")),
    ],
)
def test_an_unknown_convention_is_refused_by_name(argument, value):
    with pytest.raises(ArgumentError, match=rf"^{argument}={value!r}: "):
        evaluate(runs_of(s="a"), judged(ann="a:1"), "P@1", conventions=Conventions(**{argument: value}))


def test_no_measures_and_no_judgments_are_refused():
    with pytest.raises(ArgumentError, match=r"^measures: none was given"):
        evaluate(runs_of(s="a"), judged(ann="a:1"), [])
    with pytest.raises(ArgumentError, match=r"^judgments: there are none"):
        evaluate(runs_of(s="a"), Judgments.from_rows([]))
    with pytest.raises(ArgumentError, match=r"^judgments: there are none"):
        evaluate(runs_of(s="a"), [])


def test_yes_and_no_stored_as_codes_score_as_the_values_themselves_though_measures_share_their_gains():
    runs = runs_of(s="a b c d e", t="d c a")
    panel = judged(ann="a:1 b:0 c:1 d:0 e:1", bob="a:0 b:1 d:1").panel()
    assert panel.coded is not None
    measures = ["nDCG@2", "AP", "P@2", "ERR", "ERR(max_rel=4)", "RBP", "RBP(max_rel=3)", "DCG(gains={1:3})", "RR"]
    expected, scores = (evaluate(runs, each, measures) for each in (replace(panel, stored=panel.values), panel))
    np.testing.assert_array_equal(scores.values, expected.values)


def test_values_stored_as_codes_score_as_the_values_themselves():
    runs = runs_of(s="a b c d", t="d c a")
    judgments = judged(ann="a:3 b:0 c:1", bob="a:0 b:2 d:1", cy="b:1 c:1 d:3")
    scales = tuple(map(parse_scale, ("0-3", "0-2", "0-3")))
    panel = judgments.panel()
    panel = replace(panel, scales=scales, stored=panel.values)
    levels = np.array([3.0, 0.0, np.nan, 2.0, 1.0])
    same = (panel.values[..., None] == levels) | (np.isnan(panel.values)[..., None] & np.isnan(levels))
    coded = replace(panel, stored=Coded(same.argmax(axis=2).astype(np.uint8), levels))
    measures = ["nDCG@2", "AP", "P@2", "ERR", "RBP", "R(recall_base=union)", "DCG(dcg=exp-log2)", "Bpref", "RR"]
    for conventions in (Conventions(), Conventions(unjudged="condensed")):
        expected, scores = (evaluate(runs, each, measures, conventions=conventions) for each in (panel, coded))
        np.testing.assert_array_equal(scores.values, expected.values)
        np.testing.assert_array_equal(scores.relevant, expected.relevant)
        np.testing.assert_array_equal(scores.coverage, expected.coverage)
