"""PyTerrier and qrowd together, by the real PyTerrier."""

import numpy as np
import pandas as pd
import pyterrier as pt
import pytest
from ir_measures import AP, RR, nDCG
from scipy import stats

import qrowd
from qrowd.errors import ArgumentError, MeasureError
from qrowd.ir_measures import Assessor, Method, Panel, Worst
from qrowd.methods import evaluate_methods
from qrowd.pyterrier import Experiment

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in PyTerrier's own code

N_TOPICS, ASSESSORS = 6, ("ann", "bob", "cyd")
TOPICS = pd.DataFrame([(f"q{i}", f"what is {i}?") for i in range(N_TOPICS)], columns=["qid", "query"])
SYSTEMS = ("bm25", "dense", "fused")


def draw(seed=0):
    """Qrels of three assessors, one of whom left out a topic, and the results of three systems."""
    rng = np.random.default_rng(seed)
    documents = [f"d{i}" for i in range(8)]
    judged = [
        (topic, document, int(rng.integers(3)), who)
        for topic in TOPICS.qid
        for document in documents
        for who in ASSESSORS
        if (who, topic) != ("cyd", "q5")
    ]
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label", "assessor"])
    results = []
    for _ in SYSTEMS:
        rows = [(topic, document, float(rng.random())) for topic in TOPICS.qid for document in documents]
        results.append(pt.model.add_ranks(pd.DataFrame(rows, columns=["qid", "docno", "score"])))
    return qrels, results


def as_system(frame):
    """A transformer that returns these results for the topics that it is asked for."""
    return pt.Transformer.from_df(frame)


def by_qrowd(qrels, results, measures, **options):
    runs = pd.concat([frame.assign(system=name) for name, frame in zip(SYSTEMS, results, strict=True)])
    return qrowd.evaluate(qrowd.Runs.from_frame(runs), qrowd.Judgments.from_frame(qrels), measures, **options)


def of_panel(scores, measure):
    return np.nanmean(scores.of(measure), axis=0)  # (topics, systems)


# ---- panel measures in pt.Experiment


def test_panel_measures_are_eval_metrics_of_pyterrier():
    qrels, results = draw()
    metrics = [Panel(nDCG @ 5), Worst(AP), Assessor("ann", RR), Method("majority", nDCG @ 5)]
    table = pt.Experiment(results, TOPICS, qrels, metrics, names=list(SYSTEMS))
    assert table.columns.tolist() == ["name", *sorted(map(str, metrics), key=table.columns.tolist().index)]
    scores = by_qrowd(qrels, results, ["nDCG@5", "AP", "RR"])
    np.testing.assert_allclose(table[str(metrics[0])], of_panel(scores, "nDCG@5").mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(table[str(metrics[1])], np.nanmin(scores.of("AP"), axis=0).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(table[str(metrics[2])], scores.of("RR")[0].mean(axis=0), rtol=1e-12)


def test_the_significance_that_pyterrier_computes_is_of_panel_means():
    qrels, results = draw(1)
    table = pt.Experiment(results, TOPICS, qrels, [Panel(AP)], names=list(SYSTEMS), baseline=0, correction="holm")
    by_topic = of_panel(by_qrowd(qrels, results, "AP"), "AP")
    p = [stats.ttest_rel(by_topic[:, s], by_topic[:, 0]).pvalue for s in (1, 2)]
    np.testing.assert_allclose(table[f"{Panel(AP)} p-value"][1:], p, rtol=1e-9)


# ---- qrowd.pyterrier.Experiment


def test_an_experiment_shows_the_panel_mean_and_each_assessor():
    qrels, results = draw()
    result = Experiment(results, TOPICS, qrels, ["ndcg_cut_5", AP, Worst(AP)], names=SYSTEMS)
    table = result.to_frame()
    assert table.columns.tolist() == [
        "name", "ndcg_cut_5", *(f"ndcg_cut_5 {who}" for who in ASSESSORS), "AP", *(f"AP {who}" for who in ASSESSORS),
        "Worst(measure='AP')",
    ]  # fmt: skip
    scores = by_qrowd(qrels, results, ["nDCG@5", "AP"])
    np.testing.assert_allclose(table["ndcg_cut_5"], of_panel(scores, "nDCG@5").mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(table["AP cyd"], np.nanmean(scores.of("AP")[2], axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        table["Worst(measure='AP')"], np.nanmin(scores.of("AP"), axis=0).mean(axis=0), rtol=1e-12
    )
    assert result.systems == SYSTEMS
    np.testing.assert_array_equal(result.scores.sel(measure="AP").values, scores.sel(measure="AP").values)


def test_one_assessor_gives_the_table_of_pyterrier():
    qrels, results = draw()
    alone = qrels[qrels.assessor == "ann"].drop(columns="assessor")
    options = {"names": list(SYSTEMS), "baseline": 1, "correction": "holm"}
    ours = Experiment(results, TOPICS, alone, ["map", "ndcg_cut_5"], **options).to_frame()
    theirs = pt.Experiment(results, TOPICS, alone, ["map", "ndcg_cut_5"], **options)
    assert set(ours.columns) == set(theirs.columns)
    for column in theirs.columns[1:]:
        np.testing.assert_allclose(ours[column].astype(float), theirs[column].astype(float), rtol=1e-9, err_msg=column)


def test_the_t_test_is_of_the_panel_means_by_topic():
    qrels, results = draw(2)
    table = Experiment(results, TOPICS, qrels, [AP], names=SYSTEMS, baseline="dense").to_frame()
    by_topic = of_panel(by_qrowd(qrels, results, "AP"), "AP")
    p = np.array([stats.ttest_rel(by_topic[:, s], by_topic[:, 1]).pvalue for s in (0, 2)])
    np.testing.assert_allclose(table["AP p-value"][[0, 2]], p, rtol=1e-9)
    assert np.isnan(table["AP p-value"][1])
    np.testing.assert_allclose(table["AP p-value corrected"][[0, 2]].min(), min(2 * p.min(), 1), rtol=1e-9)
    assert table["AP reject"].tolist() == [bool(p <= 0.05) for p in table["AP p-value corrected"]]
    ahead = (by_topic > by_topic[:, [1]]).sum(axis=0)
    np.testing.assert_array_equal(table["AP +"][[0, 2]], ahead[[0, 2]])
    means = np.nanmean(by_qrowd(qrels, results, "AP").of("AP"), axis=1)
    np.testing.assert_array_equal(table["AP assessors +"][[0, 2]], (means > means[:, [1]]).sum(axis=0)[[0, 2]])


def test_topics_and_assessors_may_both_be_samples():
    qrels, results = draw(3)
    options = {"names": SYSTEMS, "baseline": 0, "test": "topics and assessors", "correction": None}
    table = Experiment(results, TOPICS, qrels, [AP], **options).to_frame()
    expected = qrowd.comparison.difference(by_qrowd(qrels, results, "AP"), "dense", "bm25").p
    assert table["AP p-value"][1] == expected
    assert not {"AP reject", "AP p-value corrected"} & set(table.columns)


def test_a_method_that_compares_systems_is_a_metric():
    qrels, results = draw()
    runs = pd.concat([frame.assign(system=name) for name, frame in zip(SYSTEMS, results, strict=True)])
    method = "sgl_rmse_msd(n_resamples=50)"
    result = Experiment(results, TOPICS, qrels, [Method(method, AP)], names=SYSTEMS)
    expected = evaluate_methods(
        qrowd.Runs.from_frame(runs), qrowd.Judgments.from_frame(qrels), "AP", methods=method, rng=0
    )
    np.testing.assert_allclose(result.to_frame().iloc[:, 1], np.nanmean(expected.values[0, 0], axis=0), rtol=1e-12)
    assert result.scores is None


@pytest.mark.parametrize("options", [{}, {"batch_size": 2}, {"plan": "tree", "verbose": False}], ids=str)
def test_transformers_are_run_by_pyterrier(options):
    qrels, results = draw()
    systems = dict(zip(SYSTEMS, map(as_system, results), strict=True))
    result = Experiment(systems, TOPICS, qrels, [AP], **options)
    np.testing.assert_array_equal(result.scores.values, by_qrowd(qrels, results, "AP").values)


def test_topics_that_are_not_asked_for_do_not_count():
    qrels, results = draw()
    some = TOPICS[:3]
    table = Experiment(results, some, qrels, [AP], names=SYSTEMS).to_frame()
    scores = by_qrowd(qrels, results, "AP")
    np.testing.assert_allclose(table["AP"], of_panel(scores, "AP")[:3].mean(axis=0), rtol=1e-12)
    whole = Experiment([frame[frame.qid < "q3"] for frame in results], some, qrels, [AP], names=SYSTEMS,
                       filter_by_topics=False).to_frame()  # fmt: skip
    np.testing.assert_allclose(whole["AP"], of_panel(scores, "AP")[:3].sum(axis=0) / N_TOPICS, rtol=1e-12)


def test_scores_by_topic_are_in_long_form():
    qrels, results = draw()
    result = Experiment(results, TOPICS, qrels, [AP], names=SYSTEMS)
    table = result.to_frame(what="perquery")
    assert table.columns.tolist() == ["name", "qid", "measure", "assessor", "value"]
    assert len(table) == len(SYSTEMS) * N_TOPICS * (1 + len(ASSESSORS))
    cell = table[(table.name == "dense") & (table.qid == "q2") & (table.assessor == "bob")].value.item()
    assert cell == by_qrowd(qrels, results, "AP").of("AP")[1, 2, 1]
    assert result.to_frame(what="averages").columns[0] == "name"


def test_the_result_says_what_was_compared_and_how():
    qrels, results = draw()
    result = Experiment(results, TOPICS, qrels, [AP], names=SYSTEMS, baseline=0)
    assert str(result).startswith(
        "3 systems on 6 topics, judged by 3 assessors; "
        "differences from bm25 with p-values of test 't', corrected by holm."
    )
    assert "<table" in result._repr_html_()


# ---- save_dir


def test_a_save_dir_holds_the_runs_and_the_scores_of_the_panel(tmp_path):
    qrels, results = draw()
    systems = {name: as_system(frame) for name, frame in zip(("bm25", "mono.t5 v1.0", "x"), results, strict=True)}
    result = Experiment(systems, TOPICS, qrels, [AP], save_dir=str(tmp_path))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "aggregated.csv", "bm25.res.gz", "mono.t5 v1.0.res.gz", "perquery.csv", "x.res.gz"
    ]  # fmt: skip
    assert pd.read_csv(tmp_path / "aggregated.csv").columns.tolist() == ["name", str(Panel(AP))]
    means = pd.read_csv(tmp_path / "aggregated.csv")[str(Panel(AP))]
    np.testing.assert_allclose(means, result.to_frame()["AP"], rtol=1e-12)
    assert set(pd.read_csv(tmp_path / "perquery.csv").measure) == {str(Panel(AP))}
    saved = qrowd.read_runs(tmp_path)
    assert saved.systems == tuple(systems)
    np.testing.assert_array_equal(
        qrowd.evaluate(saved, qrowd.Judgments.from_frame(qrels), "AP").values, result.scores.values
    )
    assert set(qrowd.read_runs(tmp_path).topics) == set(TOPICS.qid)
    again = Experiment({"x": as_system(results[0])}, TOPICS, qrels, [AP], save_dir=str(tmp_path), save_mode="reuse")
    np.testing.assert_array_equal(again.scores.values[..., 0], result.scores.values[..., 2])


def test_a_save_dir_that_pyterrier_wrote_alone_is_read(tmp_path):
    qrels, results = draw()
    alone = qrels[qrels.assessor == "ann"]
    pt.Experiment([as_system(results[0])], TOPICS, alone, ["map"], names=["bm25"], save_dir=str(tmp_path))
    assert qrowd.read_runs(tmp_path).systems == ("bm25",)


# ---- qrels and mistakes


def test_qrels_are_a_frame_judgments_or_files(tmp_path):
    qrels, results = draw()
    for who, part in qrels.groupby("assessor"):
        part.assign(Q0=0)[["qid", "Q0", "docno", "label"]].to_csv(
            tmp_path / f"{who}.qrels", sep=" ", header=False, index=False
        )
    expected = Experiment(results, TOPICS, qrels, [AP], names=SYSTEMS).to_frame()
    for shape in (qrowd.Judgments.from_frame(qrels), str(tmp_path / "*.qrels"), tmp_path):
        pd.testing.assert_frame_equal(Experiment(results, TOPICS, shape, [AP], names=SYSTEMS).to_frame(), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a", "b", "a"]}, "'a' is the name of two systems"),
        ({"names": ["a"]}, "1 names for 3 systems"),
        ({"baseline": 3}, "baseline=3: choose from bm25, dense, fused"),
        ({"baseline": "bm52"}, "baseline='bm52'"),
        ({"baseline": 0, "test": "z"}, "test='z': choose one of t, topics and assessors"),
        ({"baseline": 0, "correction": "hs"}, "correction='hs': choose one of holm"),
        ({"highlight": "bold"}, "highlight: this is for frames of PyTerrier"),
        ({"eval_metrics": ["mrt"]}, "mrt is a time, no score"),
    ],
    ids=str,
)
def test_mistakes_are_named_before_anything_runs(options, message):
    qrels, _ = draw()

    def never(_):
        raise AssertionError("a system was run")

    systems = [pt.apply.generic(never) for _ in SYSTEMS]
    arguments = {"names": SYSTEMS, "eval_metrics": [AP], **options}
    with pytest.raises(ArgumentError, match=message):
        Experiment(systems, TOPICS, qrels, **arguments)


def test_an_unknown_measure_is_named():
    qrels, results = draw()
    with pytest.raises(MeasureError, match="did you mean"):
        Experiment(results, TOPICS, qrels, ["ndcgg@10"])


def test_frames_without_names_are_numbered():
    qrels, results = draw()
    assert Experiment(results, TOPICS, qrels, [AP]).systems == ("system 0", "system 1", "system 2")
