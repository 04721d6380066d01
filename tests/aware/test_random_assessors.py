"""How far assessors stand from random ones: against the oracle, and what must not change it."""

from dataclasses import replace

import numpy as np
import pytest

from oracles import aware as oracle
from qrowd.aware import NAMES, estimator, similarity_to_random
from qrowd.aware.estimators import ESTIMATORS, GAPS
from qrowd.aware.random_assessors import LEVELS, even_grades
from qrowd.errors import ArgumentError, MeasureError, ScaleError
from qrowd.evaluation import evaluate
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale, parse_scale
from qrowd.simulation import (
    Confused,
    Lenient,
    Random,
    Spammer,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)


def similarities_of(case, **options):
    options = {"n_resamples": case.n, "rng": case.seed, **options}
    return similarity_to_random(case.runs, case.judgments, list(case.measures), conventions=case.conventions, **options)


@pytest.fixture(scope="module")
def usual(case):
    """What all tests below ask for that change nothing."""
    return similarities_of(case)


@pytest.fixture(scope="module")
def usual_plain(plain):
    return similarities_of(plain)


@pytest.fixture(scope="module")
def every(case):
    """Every gap, over all topics and by topic, with another seed."""
    return similarities_of(case, rng=1)


def close(found, expected):
    return found == pytest.approx(np.array(expected, float), rel=1e-9, abs=1e-12, nan_ok=True)


# ---- against the oracle


@pytest.fixture(scope="module")
def alike(case):
    """{(granularity, gap, measure, assessor): [level][topic]}."""
    found = {}
    for assessor in case.judgments.assessors:
        randoms = case.random_tables(assessor)
        for measure in case.measures:
            for granularity in oracle.GRANULARITIES:
                for gap in oracle.GAPS:
                    found[granularity, gap, measure, assessor] = [
                        oracle.mean_similarity(granularity, gap, case.tables[measure, assessor], level)
                        for level in randoms[measure]
                    ]
    return found


@pytest.mark.parametrize(
    ("polarity", "across"),
    [
        ("dissimilarity", "own"),
        ("printed", "all"),
        pytest.param("dissimilarity", "all", marks=pytest.mark.nightly),
        pytest.param("printed", "own", marks=pytest.mark.nightly),
    ],
)
def test_every_estimator_gives_the_accuracies_of_the_equations(case, usual, alike, polarity, across):
    found = usual.accuracies(estimators=NAMES, polarity=polarity, across=across)
    for name in oracle.ESTIMATORS:
        granularity, gap, weight = name.split("_")
        for assessor in case.judgments.assessors:
            tables = {m: np.array(alike[granularity, gap, m, assessor], float) for m in case.measures}
            for measure, own in tables.items():
                table = own
                if across == "all":  # a single score is known on every topic; a score by topic where there is one
                    every = np.array(list(tables.values()))
                    if granularity == "sgl":
                        every = np.array([np.broadcast_to(first_known(t)[:, None], t.shape) for t in every])
                    table = np.where(np.isnan(own), np.nan, mean_of_known(every))
                expected = [
                    oracle.weight(weight, column if polarity == "printed" else 1 - column)
                    if not np.isnan(column).any()
                    else np.nan
                    for column in table.T
                ]
                here = found.sel(estimator=name, measure=measure, assessor=assessor).values
                assert close(here, expected), (name, measure, assessor)


def first_known(table):
    """(levels,) the similarity that is the same on all topics with a score; nan without one."""
    known = ~np.isnan(table[0])
    return table[:, known][:, 0] if known.any() else np.full(len(table), np.nan)


def mean_of_known(tables):
    known = ~np.isnan(tables)
    return np.where(known, tables, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def test_the_thirty_estimators_bear_the_names_of_the_paper():
    assert NAMES == oracle.ESTIMATORS
    assert [estimator(name) for name in NAMES] == list(ESTIMATORS)
    assert len(NAMES) == 30
    assert dict(LEVELS) == {"under": 0.05, "even": 0.5, "over": 0.95}


def test_uniform_weighs_everyone_who_has_a_score_alike(usual):
    for name in ("uniform", "uni"):
        equal = np.where(usual.scores.known, 1, np.nan)
        assert np.array_equal(usual.accuracy(name), equal, equal_nan=True)


def test_the_aware_version_of_a_measure_is_the_weighted_mean_of_the_scores(case, usual):
    for name in ("uniform", "sgl_rmse_msd", "tpc_kld_md", "tpc_tau_med"):
        accuracy, average = usual.accuracy(name), usual.average(name)
        assert average.assessors == (name,)
        for m, measure in enumerate(case.measures):
            tables = [case.tables[measure, assessor] for assessor in case.judgments.assessors]
            expected = oracle.aware(tables, accuracy[m].tolist())
            for t, row in enumerate(expected):
                assert close(average.values[m, 0, t], row or [np.nan] * len(case.runs.systems))
        assert average.attributes["aware"]["n_resamples"] == case.n


def test_more_random_assessors_than_a_block_holds_are_averaged_one_by_one(plain, monkeypatch):
    monkeypatch.setattr("qrowd.aware.random_assessors.BLOCK", 8)
    few = replace(plain, runs=plain.runs.select(systems=["sys1", "sys4", "sys7"]), n=21, measures=("AP",))
    similarities = similarities_of(few)
    mine, levels = few.tables["AP", "a1"], few.random_tables("a1")["AP"]
    assert [len(level) for level in levels] == [21] * 3
    for name, g in (("fro", 0), ("tau", 3)):
        expected = [oracle.mean_similarity("tpc", name, mine, level) for level in levels]
        assert close(similarities.by_topic[g, 0, :, 1], expected)
        expected = [oracle.mean_similarity("sgl", name, mine, level)[0] for level in levels]
        assert close(similarities.single[g, 0, :, 1], expected)


# ---- laws


def test_by_topic_the_frobenius_gap_is_the_root_mean_square_error(usual):
    assert close(usual.by_topic[0], usual.by_topic[1])
    assert not np.allclose(usual.single[0], usual.single[1], equal_nan=True)


def test_similarities_lie_between_0_and_1(usual):
    for table in (usual.single, usual.by_topic):
        known = table[~np.isnan(table)]
        assert known.size
        assert (known >= 0).all()
        assert (known <= 1 + 1e-9).all()


def test_threads_do_not_change_a_bit(case):
    one, four = (similarities_of(case, n_resamples=70, threads=threads) for threads in (1, 4))
    assert np.array_equal(one.single, four.single, equal_nan=True)
    assert np.array_equal(one.by_topic, four.by_topic, equal_nan=True)


def test_neither_the_order_of_reading_nor_of_assessors_matters(case, usual):
    said = case.judgments
    rows = [
        (said.topics[t], said.documents[d], said.assessors[a], v)
        for t, d, a, v in zip(said.topic, said.document, said.assessor, said.value, strict=True)
    ]
    order = np.random.default_rng(1).permutation(len(rows))
    scales = dict(zip(said.assessors, said.scales, strict=True))
    shuffled = replace(case, judgments=Judgments.from_rows([rows[i] for i in order], scales=scales))
    assert shuffled.judgments.assessors != said.assessors
    usual, other = usual.accuracies(), similarities_of(shuffled).accuracies()
    aligned = other.sel(assessor=usual.assessor, topic=usual.topic)
    assert close(aligned.values, usual.values)


def test_who_else_is_in_the_panel_does_not_matter_to_those_who_judge_the_same_pool(plain, usual_plain):
    usual = usual_plain.accuracies()
    pair = replace(plain, judgments=plain.judgments.select(assessors=["a2", "a0"]))
    assert np.array_equal(similarities_of(pair).accuracies(), usual.sel(assessor=["a0", "a2"]), equal_nan=True)


def test_the_same_number_gives_the_same_similarities_and_is_stated(plain):
    first, again, other = (similarities_of(plain, rng=rng) for rng in (7, 7, 8))
    assert np.array_equal(first.single, again.single)
    assert not np.allclose(first.single, other.single)
    assert first.attributes["seed"] == 7
    fresh = similarities_of(plain, rng=None)
    assert np.array_equal(similarities_of(plain, rng=fresh.attributes["seed"]).single, fresh.single)


def test_another_measure_beside_it_does_not_change_the_similarities_of_a_measure(plain):
    alone, both = (similarities_of(replace(plain, measures=measures)) for measures in (("AP",), ("nDCG@10", "AP")))
    assert np.array_equal(alone.single[:, 0], both.single[:, 1])


def test_one_random_assessor_of_each_level_is_enough_to_compute_with(case):
    similarities = similarities_of(case, n_resamples=1)
    known = similarities.scores.known
    assert known.any()
    assert np.array_equal(~np.isnan(similarities.accuracy("tpc_apc_msd")), known)


def test_the_more_accurate_the_less_like_a_random_assessor():
    truth = simulate_pool(15, 40, rng=2)
    runs = simulate_runs(truth, 12, rng=2)
    shares = (0.55, 0.7, 0.85, 0.99)
    judgments = simulate_judgments(truth, {str(p): Confused.of_accuracy(p) for p in shares}, rng=2)
    similarities = similarity_to_random(runs, judgments, "AP", n_resamples=50, rng=2)
    even = list(LEVELS).index("even")
    for g in (0, 1):  # by fro and rmse; docs/aware.md has the others
        assert (np.diff(similarities.single[g, 0, even]) < 0).all(), g


def test_a_random_assessor_is_the_most_similar_to_those_of_their_own_level():
    truth = simulate_pool(20, 50, rng=3)
    runs = simulate_runs(truth, 10, rng=3)
    judgments = simulate_judgments(truth, {name: Random(p) for name, p in LEVELS.items()}, rng=3)
    similarities = similarity_to_random(runs, judgments, "AP", n_resamples=40, rng=3)
    for g in (0, 1, 2):
        assert similarities.single[g, 0].argmax(axis=0).tolist() == [0, 1, 2]


def test_an_assessor_without_a_ranking_weighs_nothing_by_rank_and_one_without_a_relevant_document_has_no_part():
    truth = simulate_pool(6, 20, topic_variance=0, rng=9)
    runs = simulate_runs(truth, 6, depth=10, rng=9)
    panel = {"careful": Confused.of_accuracy(0.9), "all": Random(1.0), "none": Spammer(0)}
    similarities = similarity_to_random(runs, simulate_judgments(truth, panel, rng=9), "AP", n_resamples=5, rng=9)
    for name in NAMES:
        usual, printed = (similarities.accuracy(name, polarity=p)[0] for p in ("dissimilarity", "printed"))
        assert np.isnan(usual[2]).all()
        if "tau" in name or "apc" in name:
            assert (usual[1] == 0).all()
            assert (printed[1] == (3 if name.endswith("med") else 1)).all()
        else:
            assert (usual[1] > 0).any()
    assert similarities.average("sgl_tau_md").values == pytest.approx(similarities.scores.values[:, :1])


# ---- levels and draws


def test_levels_are_the_callers(plain, usual_plain):
    similarities = similarities_of(plain, levels={"third": 1 / 3, "even": 0.5})
    assert similarities.single.shape[2] == 2
    assert dict(similarities.levels) == {"third": 1 / 3, "even": 0.5}
    assert np.array_equal(similarities.single[:, :, 1], usual_plain.single[:, :, 1])  # a level is known by its name
    only = similarities_of(plain, levels={"even": 0.5})
    assert close(only.accuracy("sgl_fro_md"), only.accuracy("sgl_fro_med"))


def test_even_grades_share_the_probability_among_the_relevant_grades():
    assert even_grades(0.3, parse_scale("binary")).tolist() == [0.7, 0.3]
    assert even_grades(0.3, parse_scale("0-3")) == pytest.approx([0.7, 0.1, 0.1, 0.1])
    assert even_grades(0.3, Scale("graded", 3.0, rel=2.0)) == pytest.approx([0.35, 0.35, 0.15, 0.15])
    with pytest.raises(ScaleError, match="no grade below or none from rel=4"):
        even_grades(0.3, Scale("graded", 3.0, rel=4.0))


def test_a_draw_of_ones_own_decides_which_grades_random_assessors_give(gappy):
    asked = []

    def only_the_highest(p, scale):
        asked.append((p, str(scale)))
        return [1 - p, *[0.0] * (int(scale.maximum) - 1), p]

    gappy = replace(gappy, measures=("nDCG@10",))
    similarities = similarities_of(gappy, draw=only_the_highest)
    assert set(asked) == {(p, scale) for p in LEVELS.values() for scale in ("0-3", "binary")}
    usual = similarities_of(gappy)
    assert not np.allclose(similarities.single[:, 0, :, 0], usual.single[:, 0, :, 0])
    assert close(similarities.single[:, 0, :, 3], usual.single[:, 0, :, 3])  # binary: nothing else to draw


# ---- graded judgments and many measures


@pytest.fixture(scope="module")
def graded():
    truth = simulate_pool(4, 20, rng=6)
    runs = simulate_runs(truth, 6, rng=6)
    return runs, simulate_judgments(truth, {f"a{i}": Lenient(noise=i / 3) for i in range(4)}, rng=6)


def test_graded_judgments_go_with_many_measures_at_once(graded):
    measures = ["AP", "AP(rel=2)", "nDCG@10", "ERR@20", "RR", "RBP", "GAP", "P@5"]
    similarities = similarity_to_random(*graded, measures, n_resamples=4, rng=1)
    found = similarities.accuracies()
    assert found.dims == ("estimator", "measure", "assessor", "topic")
    assert found.shape == (31, 8, 4, 4)
    assert list(found.estimator.values) == ["uniform", *NAMES]
    for measure in measures[1:]:
        assert not np.allclose(found.sel(measure="AP"), found.sel(measure=measure), equal_nan=True)
    everywhere = similarities.accuracies(across="all").sel(estimator=[n for n in NAMES if n.startswith("sgl")])
    for measure in measures[1:]:
        own, shared = everywhere.sel(measure=measure), everywhere.sel(measure="AP")
        both = (own.notnull() & shared.notnull()).values
        assert close(own.values[both], shared.values[both])


@pytest.mark.parametrize("measures", ["DCG@10", ["AP", "DCG@10"]])
def test_a_measure_above_1_is_refused(graded, measures):
    with pytest.raises(MeasureError, match=r"DCG@10 reaches .*scores from 0 to 1; take a normalised measure"):
        similarity_to_random(*graded, measures, n_resamples=4, rng=1)


def test_a_measure_that_random_assessors_alone_lift_above_1_is_refused():
    rows = [("q", f"d{i}", who, float(i in yes)) for who, yes in (("a", (0,)), ("b", (1,))) for i in range(9)]
    runs = Runs.from_dict({s: {"q": {f"d{i}": float(sign * i) for i in range(9)}} for s, sign in (("x", 1), ("y", -1))})
    judgments = Judgments.from_rows(rows)
    assert np.nanmax(evaluate(runs, judgments, "AP(recall_base=3)").values) < 1
    with pytest.raises(MeasureError, match=r"AP\(recall_base=3\) reaches"):
        similarity_to_random(runs, judgments, "AP(recall_base=3)", n_resamples=20, rng=1)


def test_unit_grades_condensed_lists_expected_ties_and_interpolation_are_conventions_like_any(gappy):
    usual = similarities_of(gappy).single
    for option in ({"grades": "rescaled"}, {"unjudged": "condensed"}, {"missing": "interpolate"}, {"empty": "zero"}):
        conventions = replace(gappy.conventions, **option)
        similarities = similarities_of(
            replace(gappy, conventions=conventions, measures=("AP", "RR")), n_resamples=3, rng=5
        )
        assert np.isfinite(similarities.single).all()
        assert similarities.attributes["conventions"] == vars(conventions)
        same = np.array_equal(similarities.single, usual)
        # No run lacks a topic here, and what is relevant stays so in units.
        assert same == (not option.keys().isdisjoint(("missing", "grades"))), option
    tied = similarity_to_random(
        gappy.runs, gappy.judgments, "nDCG@10", n_resamples=3, conventions=Conventions("expected", empty="nan")
    )
    assert np.isfinite(tied.single).all()


def test_an_empty_topic_may_count_as_0(plain):
    zero = replace(plain, conventions=Conventions(empty="zero"))
    assert np.isnan(plain.scores).any()
    similarities = similarities_of(zero)
    assert not np.isnan(similarities.by_topic).any()
    for a, assessor in enumerate(plain.judgments.assessors):
        levels = zero.random_tables(assessor)["AP"]
        expected = [oracle.mean_similarity("tpc", "fro", zero.tables["AP", assessor], level) for level in levels]
        assert close(similarities.by_topic[0, 0, :, a], expected)


def test_progress_is_told_of_every_comparison(case):
    told = []
    similarities_of(case, n_resamples=1, progress=lambda done, total: told.append((done, total)))
    assert told == [(i + 1, len(told)) for i in range(len(told))]
    assert len(told) % 3 == 0


# ---- errors


def test_what_cannot_be_weighed_is_said_in_one_message(plain):
    said = plain.judgments
    twins = Judgments.from_rows([("q1", d, a, v) for a in "ab" for d, v in (("q1-00000", 1), ("q1-00002", 0))])
    magnitudes = Judgments.from_rows([("q1", f"q1-0000{i}", a, v) for a in "ab" for i, v in ((0, 20.5), (2, ord(a)))])
    for judgments, error, message in (
        (said.select(assessors="a0"), ArgumentError, r"AWARE weights several assessors, and there is one \(a0\)"),
        (twins, ArgumentError, "the 2 assessors gave the same judgments, so there is nothing to weight"),
        (Judgments.from_rows([]), ArgumentError, "judgments: there are none"),
        (magnitudes, ScaleError, "assessor a gave magnitudes, which random assessors cannot draw; recode them"),
    ):
        with pytest.raises(error, match=message):
            similarity_to_random(plain.runs, judgments, "nDCG@10", n_resamples=2)
    with pytest.raises(ArgumentError, match=r"runs: AWARE compares .*; give two systems or more"):
        similarity_to_random(plain.runs.select(systems="sys1"), said, "AP", n_resamples=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples=0: a whole number from 1"),
        ({"n_resamples": 2.5}, "n_resamples=2.5"),
        ({"levels": {}}, "levels: name at least one"),
        ({"levels": {"often": 1.2}}, "levels: 'often' is 1.2; a probability from 0 to 1"),
        ({"levels": {"seldom": -0.1}}, "levels: 'seldom' is -0.1"),
        ({"levels": {"some": float("nan")}}, "levels: 'some' is nan"),
    ],
)
def test_an_option_out_of_range_is_named(plain, options, message):
    with pytest.raises(ArgumentError, match=message):
        similarities_of(plain, **options)


def test_topics_must_not_be_skipped_by_systems(plain):
    with pytest.raises(ArgumentError, match="missing='skip': AWARE needs a score of every system on every topic"):
        similarities_of(replace(plain, conventions=Conventions(missing="skip")))


def test_levels_of_0_and_1_are_allowed(plain):
    similarities = similarities_of(plain, levels={"never": 0.0, "always": 1.0})
    assert np.isfinite(similarities.single).all()


@pytest.mark.parametrize(
    ("name", "message"), [("sgl_tau_mds", "did you mean 'sgl_tau_md'"), ("best", "granularity_gap_weight")]
)
def test_an_unknown_estimator_is_named_with_the_nearest_one(usual_plain, name, message):
    with pytest.raises(ArgumentError, match=message):
        usual_plain.accuracy(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"polarity": "similar"}, "polarity='similar': choose one of dissimilarity, printed"),
        ({"polarity": "printed", "across": "some"}, "across='some': choose one of own, all"),
    ],
)
def test_an_unknown_polarity_or_span_is_named_with_the_choices(usual_plain, options, message):
    with pytest.raises(ArgumentError, match=message):
        usual_plain.accuracy("sgl_tau_md", **options)


# ---- a part of the gaps


@pytest.mark.parametrize("gap", ["rmse", "kld", "apc"])
def test_a_gap_alone_is_what_it_is_among_all(case, every, gap):
    alone = similarities_of(case, rng=1, gaps=[gap])
    at = every.gaps.index(gap)
    np.testing.assert_array_equal(alone.single, every.single[[at]])
    np.testing.assert_array_equal(alone.by_topic, every.by_topic[[at]])
    assert set(alone.to_frame()["gap"]) == {gap}
    name = f"tpc_{gap}_med"
    np.testing.assert_array_equal(alone.accuracy(name), every.accuracy(name))


def test_an_estimator_whose_gap_was_not_computed_is_refused(case):
    with pytest.raises(ArgumentError, match=r"'sgl_tau_md': the gap 'tau' was not computed; add it to gaps"):
        similarities_of(case, gaps=["rmse"]).accuracy("sgl_tau_md")


def test_an_unknown_gap_is_refused(case):
    with pytest.raises(ArgumentError, match=r"gaps='rms'"):
        similarities_of(case, gaps=["rms"])


# ---- without each topic by itself


@pytest.mark.parametrize("gap", [*GAPS])
def test_without_each_topic_the_similarities_over_all_topics_are_the_same(case, every, gap):
    overall = similarities_of(case, rng=1, gaps=[gap], by_topic=False)
    np.testing.assert_array_equal(overall.single, every.single[[every.gaps.index(gap)]])
    np.testing.assert_array_equal(overall.accuracy(f"sgl_{gap}_md"), every.accuracy(f"sgl_{gap}_md"))
    assert len(overall.to_frame(what="topics")) == 0


def test_an_estimator_by_topic_is_refused_where_no_topic_was_compared_by_itself(case):
    with pytest.raises(ArgumentError, match=r"'tpc_rmse_md': no topic was compared by itself; use by_topic=True"):
        similarities_of(case, by_topic=False).accuracy("tpc_rmse_md")
