"""What `qrowd aware` and the report say of the weights: which case a panel looks like, and whose weight is doubtful."""

import numpy as np
import pytest

from qrowd.aware import assessor_weights, doubtful_weights, similarity_to_random
from qrowd.aware.weights import AssessorWeights, DoubtfulWeight
from qrowd.reports.aware import aware_summary, weight_notes
from qrowd.simulation import Lenient, Random, Spammer, simulate_judgments, simulate_pool, simulate_runs

TRUTH = simulate_pool(12, 40, n_grades=4, prevalence=0.3, rng=1)
RUNS = simulate_runs(TRUTH, 8, depth=30, unjudged_share=0.2, rng=1)


def judged_by(**others):
    careful = {f"a{i}": Lenient(0.1 * i - 0.2, 0.5, 0.0) for i in range(6)}
    return simulate_judgments(TRUTH, careful | others, rng=1)


def notes(judgments, **options):
    similarities = similarity_to_random(RUNS, judgments, ["AP", "nDCG@10"], n_resamples=20, rng=1)
    polarity = options.get("polarity", "dissimilarity")
    return [*map(str, aware_summary(similarities, judgments, polarity=polarity).to_document().notes)]


def test_a_note_names_the_assessor_the_share_and_the_reason_and_one_note_says_what_a_weight_is():
    share, equal = np.array([[0.134, 0.433, 0.433]]), np.array([[0.083, 0.083, 0.083]])
    weights = AssessorWeights("sgl_rmse_md", ("AP",), ("Annotator 9", "b", "c"), share, equal, share)
    first, last = map(
        str, weight_notes(weights, {"Annotator 9": ("always grade 3: others gave it to 22% of the same documents",)})
    )
    assert first == (
        "Annotator 9: has more than an equal share of the weight by AP (13.4 %; with equal weights 8.3 %), although it "
        "stands out: always grade 3: others gave it to 22% of the same documents"
    )
    assert last.startswith("weight: says how far an assessor is from random judging, not how accurate")
    assert weight_notes(weights, {}) == []
    assert doubtful_weights(weights, {"b": ("fast",)}) == (
        DoubtfulWeight("b", "AP", 0.433, 0.083, True, ("fast",)),
    )  # fmt: skip


def test_notes_on_weights_come_first_and_only_where_there_is_a_spammer_with_much_weight():
    assert not any("although" in note for note in notes(judged_by()))
    first = notes(judged_by(spammer=Spammer(3)))[0]
    assert first.startswith("spammer: has the largest weight by nDCG@10 (")


def test_frames_hold_the_scores_by_both_weights_and_the_weights(tmp_path):
    similarities = similarity_to_random(RUNS, judged_by(), ["AP", "nDCG@10"], n_resamples=20, rng=1)
    summary = aware_summary(similarities, judged_by())
    weighted = similarities.average("sgl_rmse_md")
    scores = summary.to_frame()
    assert scores["sgl_rmse_md"].tolist() == weighted.values[:, 0].ravel().tolist()
    assert scores["uniform"].tolist() == similarities.average("uniform").values[:, 0].ravel().tolist()
    weights = summary.to_frame(what="weights").groupby("measure")["share"].sum()
    assert weights.tolist() == pytest.approx([1, 1])
    summary.write(tmp_path / "aware.csv")
    assert (tmp_path / "aware.csv").read_text().startswith("measure,topic,system,sgl_rmse_md,uniform\n")


def test_the_case_of_a_panel_is_said_for_every_measure_from_the_mean_agreement_with_the_others():
    by_lot = judged_by(r1=Random(0.5), r2=Random(0.5), r3=Random(0.1))
    similarities = similarity_to_random(RUNS, by_lot, ["AP", "nDCG@10"], n_resamples=20, rng=1)
    by_weight, equal = assessor_weights(similarities, "sgl_rmse_md").mean_agreement
    assert by_weight[0] > equal[0] + 0.01
    assert by_weight[1] == pytest.approx(equal[1], abs=0.01)
    cases = [note for note in notes(by_lot) if "with more weight agree" in note]
    assert [case.split(":")[0] for case in cases] == ["AP", "nDCG@10"]
    numbers = [
        f"with the others' rankings (mean tau-b {w:.2f} by weight, {e:.2f} with equal weights)"
        for w, e in zip(by_weight, equal, strict=True)
    ]
    assert f"agree more {numbers[0]}, as where assessors differ in random errors" in cases[0]
    assert f"agree no more {numbers[1]}: there is no sign that these weights are better" in cases[1]
    assert any("agree less with the others' rankings (" in note for note in notes(by_lot, polarity="printed"))
