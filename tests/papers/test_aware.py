"""The AWARE study: tuples, baselines, figures, resuming."""

from itertools import combinations, product

import numpy as np
import pytest

from qrowd import Conventions, aggregation, evaluate
from qrowd.aware import NAMES, aware, similarity_to_random
from qrowd.aware.estimators import UNIFORM
from qrowd.comparison.rankings import ap_correlation, kendall_tau_a
from qrowd.errors import MeasureError, NoOverlapError, QrowdError
from qrowd.model.chance import Chance
from qrowd_papers.aware.claims import aware_page
from qrowd_papers.aware.printed import by_size
from qrowd_papers.aware.study import BASELINES, METHODS, PRINTED, AwareStudy, anova_tables, aware_study
from qrowd_papers.panels import crowdsourcing_tracks, relevant_from
from real_runs import runs_of

SETS, CROWD, GOLD = crowdsourcing_tracks(4, (9, 1), 3, 60, depth=50, prevalence=0.3, rng=1)
RUNS = SETS["T@8"]
FEW = ("mv", "emneu", "uniform", "sgl_rmse_msd", "tpc_apc_md", "sgl_tau_med:printed")


def study(**options):
    return aware_study(RUNS, CROWD, GOLD, ["AP", "nDCG@20"], **{"n_resamples": 30, "rng": 5, **options})


def figures(mean, gold):
    return ap_correlation(mean, gold), kendall_tau_a(mean, gold), np.sqrt(((mean - gold) ** 2).mean())


def by_hand(method, size):
    """(3, measures) means over all tuples of that size, each evaluated by itself through the public functions."""
    gold = evaluate(RUNS, GOLD, ["AP", "nDCG@20"], conventions=Conventions(empty="nan")).to_xarray().isel(assessor=0)
    random = Chance.of(5).stream("random")
    similarities = similarity_to_random(RUNS, CROWD, ["AP", "nDCG@20"], n_resamples=30, rng=random)
    scores = evaluate(RUNS, CROWD, ["AP", "nDCG@20"], conventions=Conventions(empty="nan")).to_xarray()
    total = []
    for members in combinations(CROWD.assessors, size):
        if method == "emneu":
            merged = aggregation.dawid_skene(CROWD.select(assessors=members), start="honest").judgments
            values = evaluate(RUNS, merged, ["AP", "nDCG@20"]).to_xarray().isel(assessor=0)
        else:
            name, _, printed = method.partition(":")
            polarity = "printed" if printed else "dissimilarity"
            accuracy = similarities.accuracies(estimators=[name], polarity=polarity).isel(estimator=0)
            average = aware(scores.sel(assessor=list(members)), accuracy.sel(assessor=list(members)))
            values = average.to_xarray().isel(assessor=0)
        means = values.mean("topic").values, gold.mean("topic").values
        total.append(np.transpose([figures(m, g) for m, g in zip(*means, strict=True)]))
    return np.mean(total, axis=0)


@pytest.mark.parametrize(
    "method",
    [
        "sgl_rmse_msd",
        "tpc_apc_md",
        *(pytest.param(one, marks=pytest.mark.nightly) for one in ("emneu", "uniform", "sgl_tau_med:printed")),
    ],
)
def test_a_study_is_every_tuple_evaluated_by_itself(method):
    found = study(methods=[method], sizes=[2, 3])
    for i, size in enumerate((2, 3)):
        ours = np.array([found.ap_correlation, found.tau, found.rmse])[:, 0, :, 0, i]
        assert ours == pytest.approx(by_hand(method, size), abs=1e-12)


def test_the_vote_of_three_is_the_majority():
    found = study(methods=["mv"], sizes=[3])
    gold = (
        evaluate(RUNS, GOLD, ["AP"], conventions=Conventions(empty="nan"))
        .to_xarray()
        .isel(assessor=0, measure=0)
        .mean("topic")
        .values
    )
    errors = []
    for members in combinations(CROWD.assessors, 3):
        merged = aggregation.majority_vote(CROWD.select(assessors=members), rng=0).judgments
        mean = evaluate(RUNS, merged, ["AP"]).to_xarray().isel(assessor=0, measure=0).mean("topic").values
        errors.append(np.sqrt(((mean - gold) ** 2).mean()))
    assert found.rmse[0, 0, 0, 0] == pytest.approx(np.mean(errors), abs=1e-12)
    assert found.tuples.tolist() == [4]


def test_tuples_are_drawn_without_repeating_any_and_all_where_there_are_no_more():
    assert study(methods=["uniform"], sizes=[2, 3, 4], n_tuples=5).tuples.tolist() == [5, 4, 1]


def test_the_same_seed_gives_the_same_study_whatever_the_threads_and_sizes():
    one = study(methods=FEW, threads=1)
    other = study(methods=FEW, threads=3, sizes=[3])
    assert one.sizes == (2, 3)
    assert one.rmse[..., [1]] == pytest.approx(other.rmse, abs=1e-12)
    assert one.ap_correlation[..., [1]] == pytest.approx(other.ap_correlation, abs=1e-12)


def test_a_study_goes_on_where_it_was_interrupted(tmp_path):
    class Stop(Exception):
        pass

    def interrupt(what, done, steps):
        raise Stop

    with pytest.raises(Stop):
        study(methods=FEW, folder=str(tmp_path / "kept"), progress=interrupt)
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["all-02.npz"]
    told = []
    found = study(methods=FEW, folder=str(tmp_path / "kept"), progress=lambda *step: told.append(step))
    assert told[-1][1:] == (3, 3)
    assert found.rmse == pytest.approx(study(methods=FEW).rmse, abs=0)


def test_what_was_kept_of_other_options_is_not_taken_for_this_study(tmp_path):
    study(methods=["uniform"], folder=str(tmp_path))
    with pytest.raises(QrowdError, match="made from other data or options"):
        study(methods=["uniform"], folder=str(tmp_path), n_resamples=31)


def test_several_sets_of_systems_are_studies_of_their_own():
    half = {"a": RUNS.select(systems=RUNS.systems[:5]), "b": RUNS.select(systems=RUNS.systems[5:])}
    found = aware_study(half, CROWD, GOLD, ["AP"], methods=FEW, sizes=[2], n_resamples=30, rng=5)
    alone = aware_study(half["b"], CROWD, GOLD, ["AP"], methods=FEW, sizes=[2], n_resamples=30, rng=5)
    assert found.system_sets == ("a", "b")
    assert found.tau[1] == pytest.approx(alone.tau[0], abs=0)


def test_the_anova_has_the_sources_and_degrees_of_freedom_of_the_paper():
    half = {"a": RUNS.select(systems=RUNS.systems[:5]), "b": RUNS.select(systems=RUNS.systems[5:])}
    found = aware_study(half, CROWD, GOLD, ["AP", "nDCG@20"], n_resamples=5, rng=5)
    whole, parts = anova_tables(found)
    degrees = dict(zip(whole.sources, whole.df.tolist(), strict=True))
    assert degrees["method"] == len(METHODS) - 1 == 33
    assert degrees["method*measure"] == 33
    assert degrees["size"] == 1
    assert degrees["Total"] == 2 * 34 * 2 * 2 - 1
    assert parts.sources[:-2] == (
        "size", "granularity", "gap", "weight", "measure", "systems",
        "granularity*gap", "granularity*weight", "gap*weight",
    )  # fmt: skip
    assert (found.methods_with()["gap"] != "").sum() == 2 * 30 * 2 * 2


def test_weights_as_printed_have_analyses_of_variance_of_their_own():
    """Equations 25 to 27 as printed, for which the paper's Tables 1 to 4 are stated."""
    printed = tuple(f"{name}{PRINTED}" for name in NAMES)
    found = aware_study(RUNS, CROWD, GOLD, ["AP"], methods=(*METHODS, *printed), n_resamples=5, rng=5)
    frame = found.to_frame()
    for polarity, wanted in (("dissimilarity", METHODS), ("printed", (*BASELINES, UNIFORM, *printed))):
        whole, parts = anova_tables(found, polarity=polarity)
        rows = frame[frame["method"].isin(wanted)]
        means = rows.groupby("method")["ap_correlation"].mean()
        effect = whole.effects.of("method")
        assert dict(zip(effect.level, effect.mean, strict=True)) == pytest.approx(means.to_dict())
        gaps = rows[rows["gap"] != ""].groupby("gap")["ap_correlation"].mean()
        effect = parts.effects.of("gap")
        assert dict(zip(effect.level, effect.mean, strict=True)) == pytest.approx(gaps.to_dict())


def test_relative_rmse_is_1_at_the_measure_s_highest():
    frame = study(methods=FEW).to_frame()
    assert frame.groupby("measure")["relative_rmse"].max().tolist() == [1, 1]
    row = frame[frame["method"] == "tpc_apc_md"].iloc[0]
    assert (row["granularity"], row["gap"], row["weight"]) == ("tpc", "apc", "md")


def made_up(methods, rmse):
    """A study of one measure and two sizes with these errors; every AP correlation and tau is .5."""
    rmse = np.array(rmse, float)[None, None]
    same = np.full(rmse.shape, 0.5)
    return AwareStudy(("all",), ("AP",), methods, (2, 3), same, same, rmse, np.array([5, 5]), {})


def test_methods_that_the_analyses_of_variance_leave_out_have_no_part_in_the_divisor_of_rmse():
    analysed, errors = ("mv", "uniform", "sgl_fro_md"), [[0.10, 0.08], [0.05, 0.04], [0.04, 0.02]]
    alone = made_up(analysed, errors)
    beside = made_up((*analysed, "tpc_kld_msd:printed"), [*errors, [0.5, 0.2]])
    assert alone.relative_rmse.max() == 1
    assert beside.relative_rmse[:, :, :3].tolist() == alone.relative_rmse.tolist()
    assert beside.relative_rmse[0, 0, 3].tolist() == pytest.approx([5, 2])
    kept = beside.to_frame().query("~method.str.endswith(':printed')").reset_index(drop=True)
    assert kept["relative_rmse"].tolist() == alone.to_frame()["relative_rmse"].tolist()
    assert by_size(beside, "relative_rmse")[:3].tolist() == by_size(alone, "relative_rmse").tolist()


def test_the_page_analyses_the_same_rmse_with_and_without_the_printed_weights():
    crossed = product(("sgl", "tpc"), ("rmse", "kld"), ("md", "med"))
    names = ("uniform", *("_".join(parts) for parts in crossed))
    options = {"n_resamples": 5, "n_tuples": 3, "sizes": [2, 3]}
    both = study(methods=(*names, *(f"{name}:printed" for name in names[1:])), **options)
    assert both.rmse[:, :, 9:].max() > both.rmse[:, :, :9].max()  # or the test would prove nothing
    alone = study(methods=names, **options)
    tables = zip(anova_tables(both, "relative_rmse"), anova_tables(alone, "relative_rmse"), strict=True)
    for one, other in tables:
        assert one.ss == pytest.approx(other.ss, abs=1e-12)


def test_relevant_from_cuts_every_assessor_at_a_share_of_the_own_scale():
    from qrowd import Judgments

    graded = Judgments.from_rows(
        [("q", "a", "x", 1), ("q", "b", "x", 2), ("q", "a", "y", 2), ("q", "b", "y", 3), ("q", "c", "z", -1)],
        scales={"x": "0-3", "y": "0-5", "z": "0..1"},
    )
    cut = relevant_from(graded, 0.5)
    assert cut.value.tolist() == [0, 1, 0, 1, -1]
    assert {str(scale) for scale in cut.scales} == {"binary"}


def test_data_that_do_not_fit_are_refused():
    other = aware_gold_of_another_topic()
    with pytest.raises(NoOverlapError, match="share no topic"):
        aware_study(RUNS, CROWD, other, ["AP"], n_resamples=5)
    with pytest.raises(MeasureError, match="nDCG"):
        aware_study(RUNS, CROWD, GOLD, ["nDGC@20"])


def aware_gold_of_another_topic():
    from qrowd import Judgments

    return Judgments.from_rows([("elsewhere", "d", "gold", 1)])


@pytest.mark.nightly
def test_the_quick_page_says_what_was_done_and_which_came_closest(monkeypatch):
    def few(*case, **options):
        return aware_study(*case, **options | {"n_tuples": 4, "n_resamples": 5})

    monkeypatch.setattr("qrowd_papers.aware.claims.aware_study", few)
    page = aware_page(quick=True, rng=1)
    assert page.sentence.startswith("AWARE, recomputed. Closest to the gold: on simulated ")
    titles = [table.title for table in page.tables]
    assert titles[0].startswith("places by AP correlation among 64 methods")
    scores = titles.index("simulated: AP; tuples of 3")
    assert any("as the paper's Table 1" in title for title in titles)
    assert len(page.tables[scores].rows) == 34
    for start in (
        "Tables 1-4: effect",
        "Tables 1-4: omega",
        "Table 5",
        "Figures 8 and 9, d-f",
        "Figures 8 and 9: means",
    ):
        table = next(table for table in page.tables if table.title.startswith(start))
        assert table.header[-1] == "verdict"
        assert all(row[-1].startswith(("match", "differs: because", "not reachable")) for row in table.rows)
    assert any("nothing was tuned" in note for note in page.notes)
    assert set(page.frame()["panel"]) == {"simulated"}


@pytest.mark.nightly
def test_real_panels_agree_on_what_the_paper_concludes(dl21):
    """Weights by distance from random assessors beat equal ones in RMSE; as printed they do worse."""
    from qrowd import read_judgments

    runs = runs_of(dl21)
    judges = relevant_from(read_judgments([str(dl21 / "judges")]))
    gold = read_judgments([str(dl21 / "qrels.nist.txt")]).recode({0: 0, 1: 0, 2: 1, 3: 1})
    methods = ["mv", "uniform", "sgl_rmse_msd", "sgl_rmse_msd:printed"]
    found = aware_study(runs, judges, gold, ["AP"], methods=methods, sizes=[10], n_tuples=20, n_resamples=20, rng=1)
    mv, uniform, ours, printed = found.rmse[0, 0, :, 0]
    assert ours < uniform < printed
    assert ours < mv
    assert found.tau[0, 0, 2, 0] > found.tau[0, 0, 1, 0]
