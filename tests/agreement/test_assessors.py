"""One row per assessor."""

from math import isnan

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from oracles import agreement as oracle
from panels import ASSESSORS, GRADES, LEVELS, MAGNITUDES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.assessor_profiles import assessor_profiles
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.reports.agreement_tables import assessors_document
from qrowd.simulation import Inverted, Lenient, Spammer, simulate_judgments, simulate_magnitudes, simulate_pool


def row(found, name):
    return found.to_frame().set_index("assessor").loc[name]


# ---- beside the others


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(GRADES), st.sampled_from(LEVELS))
def test_severity_and_agreement_with_the_others_are_what_their_definitions_say(panel, level):
    assume(pairable(panel))
    found = assessor_profiles(judgments_of(panel, "0-3"), level=level)
    for a, name in enumerate(found.assessors):
        severity, agreement = oracle.beside_the_others(panel, name, level, maximum=3)
        assert found.severity[a] == pytest.approx(severity, nan_ok=True)
        assert found.agreement[a] == pytest.approx(agreement, nan_ok=True, abs=1e-9)


def test_a_single_document_tells_no_agreement_with_the_others_nor_with_gold() -> None:
    few = judgments_of({"d0": {"ann": 1, "bob": 2, "cyd": 2}, "d1": {"bob": 0, "cyd": 1}, "d2": {"cyd": 3}}, "0-3")
    profiles = assessor_profiles(few, gold="cyd")
    assert profiles.assessors == ("ann", "bob")
    assert np.isnan(profiles.agreement).all()
    assert np.isnan(profiles.gold_agreement).tolist() == [True, False]


@pytest.mark.parametrize("level", LEVELS)
def test_agreement_on_many_distinct_values_is_what_its_definition_says(level):
    rng = np.random.default_rng(1)
    panel = {f"d{i}": {who: float(np.exp(rng.normal())) for who in ASSESSORS if rng.random() < 0.8} for i in range(40)}
    found = assessor_profiles(judgments_of(panel, "magnitude"), level=level)
    for a, name in enumerate(found.assessors):
        _, agreement = oracle.beside_the_others(panel, name, level, maximum=1)
        assert found.agreement[a] == pytest.approx(agreement, abs=1e-9)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES, complete=True), st.sampled_from(GRADES), st.sampled_from(LEVELS))
def test_one_grade_throughout_agrees_by_chance_only(panel, grade, level):
    constant = {document: said | {"ann": grade} for document, said in panel.items()}
    found = assessor_profiles(judgments_of(constant, "0-3"), level=level)
    agreement = found.agreement[found.assessors.index("ann")]
    assert isnan(agreement) or agreement == pytest.approx(0, abs=1e-9)


def test_magnitudes_are_severe_in_logarithms():
    rows = {"d1": {"ann": 1.0, "bob": 10.0}, "d2": {"ann": 3.0, "bob": 30.0}}
    found = assessor_profiles(judgments_of(rows, "magnitude"))
    assert found.severity == pytest.approx([np.log(10), -np.log(10)])
    assert found.level == "ratio"


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(panels(MAGNITUDES), st.permutations(ASSESSORS))
def test_nobodys_name_matters(panel, names):
    assume(pairable(panel))
    new = dict(zip(ASSESSORS, names, strict=True))
    renamed = {d: {new[who]: value for who, value in said.items()} for d, said in panel.items()}
    before, after = (assessor_profiles(judgments_of(p, "magnitude")) for p in (panel, renamed))
    for a, name in enumerate(before.assessors):
        b = after.assessors.index(new[name])
        for figure in ("severity", "severity_standard_error", "agreement", "n_shared"):
            x, y = getattr(before, figure)[a], getattr(after, figure)[b]
            assert y == pytest.approx(x, nan_ok=True, abs=1e-9)


# ---- beside gold and themselves


def test_gold_takes_the_others_place():
    judgments = judgments_of_rows(gold="0123", ann="0122", bob="3***")
    found = assessor_profiles(judgments, gold="gold")
    assert found.assessors == ("ann", "bob")
    assert list(found.n_gold) == [4, 1]
    assert found.gold_share == pytest.approx([0.75, 0])
    assert found.gold_severity == pytest.approx([1 / 12, -1])
    perfect = assessor_profiles(judgments_of_rows(gold="0123", ann="0123", bob="3210"), gold="gold")
    assert perfect.gold_agreement[0] == 1
    assert perfect.gold_agreement[1] < 0


@pytest.mark.nightly
def test_rf10_has_1489_documents_that_a_worker_judged_more_than_once(crowd, nist):
    found = assessor_profiles(crowd, gold=nist)
    assert found.n_repeated.sum() == 1489
    assert len(found.assessors) == 766
    rows = crowd.to_frame()
    by_pair = rows.groupby(["assessor", "topic", "document"])["value"].agg(["size", "nunique"])
    again = by_pair[by_pair["size"] > 1]
    same = (again["nunique"] == 1).groupby("assessor").mean()
    frame = found.to_frame().set_index("assessor")
    assert frame.loc[same.index, "consistency"].to_numpy() == pytest.approx(same.to_numpy())
    assert frame.drop(same.index)["consistency"].isna().all()
    once = rows.drop_duplicates(["assessor", "topic", "document"])
    assert list(frame["n_judgments"]) == list(once.groupby("assessor", sort=False).size().loc[frame.index])
    shares = once.groupby("assessor")["value"].value_counts(normalize=True).unstack(fill_value=0).loc[frame.index]
    assert frame[["share_0", "share_1", "share_2"]].to_numpy() == pytest.approx(shares.to_numpy())
    gold = nist.to_frame().rename(columns={"value": "gold"}).drop(columns="assessor")
    joined = once.merge(gold[gold["gold"] >= 0], on=["topic", "document"])
    right = (joined["value"] == joined["gold"]).groupby(joined["assessor"]).mean()
    assert frame.loc[right.index, "gold_share"].to_numpy() == pytest.approx(right.to_numpy())


# ---- drift and speed


def test_drift_is_the_slope_of_leniency_over_an_assessors_own_order():
    truth = simulate_pool(1, 80, rng=2)
    panel = {name: Lenient(noise=0.4) for name in ASSESSORS}
    judgments = simulate_judgments(truth, panel, record=("order",), rng=2)
    found = assessor_profiles(judgments)
    assert found.order_from == "order"
    values = judgments.panel().values / 3
    rows = judgments.to_frame()
    for a, name in enumerate(found.assessors):
        own = rows[rows["assessor"] == name].sort_values("order")
        place = np.linspace(0, 1, len(own))
        at = {d: i for i, d in enumerate(np.array(judgments.documents)[judgments.panel().pool.document])}
        differences = [values[at[d], a] - np.delete(values[at[d]], a).mean() for d in own["document"]]
        line = stats.linregress(place, differences)
        assert found.drift[a] == pytest.approx(line.slope)
        assert found.drift_p[a] == pytest.approx(line.pvalue)


def test_lines_of_a_file_are_no_order_of_judging():
    truth = simulate_pool(3, 30, rng=2)
    panel = {name: Lenient(noise=0.4) for name in ASSESSORS}
    found = assessor_profiles(simulate_judgments(truth, panel, rng=2))
    assert found.order_from == ""
    assert np.isnan(found.drift).all()
    assert np.isnan(found.drift_p).all()
    assert not {"drift", "drift_p"} & set(found.to_frame().columns)
    notes = assessors_document(found)
    assert "drift" not in notes.tables[0].header
    assert any(str(note).startswith("drift: not shown") for note in notes.notes)


@pytest.mark.parametrize("written", [lambda order: 1.7e9 + order, lambda order: f"2026-03-01T10:{int(order):02}:00Z"])
def test_a_time_stands_for_an_order_and_where_it_is_missing_the_judgment_has_no_place(written):
    truth = simulate_pool(1, 50, rng=2)
    panel = {name: Lenient(noise=0.4) for name in ASSESSORS}
    rows = simulate_judgments(truth, panel, record=("order",), rng=2).to_frame()
    rows["order"] = rows.groupby("assessor")["order"].rank() - 1
    ordered = assessor_profiles(Judgments.from_frame(rows))
    timed = (
        rows.assign(time=[written(order) for order in rows["order"]])
        .drop(columns="order")
        .sample(frac=1, random_state=1)
    )
    found = assessor_profiles(Judgments.from_frame(timed))
    assert found.order_from == "time"
    by_name = dict(zip(ordered.assessors, ordered.drift, strict=True))
    assert dict(zip(found.assessors, found.drift, strict=True)) == pytest.approx(by_name)
    ann = (timed["assessor"] == "ann").to_numpy()
    timed["time"] = np.where(ann, "", timed["time"].astype(str))
    without = assessor_profiles(Judgments.from_frame(timed))
    assert np.isnan(without.drift[without.assessors.index("ann")])
    assert without.drift[without.assessors.index("bob")] == pytest.approx(by_name["bob"])


def test_topic_after_topic_is_no_drift_but_growing_leniency_is():
    truth = simulate_pool(12, 40, rng=3)
    panel = {name: Lenient(noise=0.3) for name in ASSESSORS} | {"spam": Spammer(), "zero": Spammer(0)}
    judgments = simulate_judgments(truth, panel, record=("order",), rng=3)
    found = assessor_profiles(judgments)
    assert not any("drift" in reason for reasons in found.reasons for reason in reasons)
    rows = judgments.to_frame()
    ann = rows["assessor"] == "ann"
    place = rows.loc[ann, "order"].rank(pct=True)
    lenient = (place > np.random.default_rng(3).random(len(place))) & (rows.loc[ann, "value"] < 3)
    rows.loc[ann, "value"] += lenient.astype(float)
    drifting = assessor_profiles(Judgments.from_frame(rows))
    assert drifting.drift[drifting.assessors.index("ann")] > 0.2
    assert "drift: " in row(drifting, "ann")["reasons"]
    assert "more lenient at the last judgment than at the first" in row(drifting, "ann")["reasons"]


def test_under_no_drift_its_p_is_small_no_more_often_than_it_says():
    p = []
    for seed in range(20):
        truth = simulate_pool(10, 20, rng=seed)
        panel = {f"w{i}": Lenient(noise=0.5) for i in range(8)}
        p += list(assessor_profiles(simulate_judgments(truth, panel, record=("order",), rng=seed)).drift_p)
    assert np.mean(np.array(p) < 0.05) < 0.13


def test_speed_is_the_median_of_the_seconds_recorded():
    truth = simulate_pool(2, 40, rng=4)
    judgments = simulate_judgments(truth, {name: Lenient() for name in ASSESSORS}, record=("seconds",), rng=4)
    found = assessor_profiles(judgments)
    medians = judgments.to_frame().groupby("assessor")["seconds"].median()
    assert found.seconds == pytest.approx(medians.loc[list(found.assessors)].to_numpy())
    rows = judgments.to_frame()
    rows.loc[rows["assessor"] == "bob", "seconds"] /= 20
    fast = assessor_profiles(Judgments.from_frame(rows))
    assert "fast:" in row(fast, "bob")["reasons"]
    assert not fast.to_frame().set_index("assessor").drop("bob")["reasons"].str.contains("fast").any()
    rows["seconds"] = np.where(rows["assessor"] == "bob", 0.51, 1.0)
    assert not assessor_profiles(Judgments.from_frame(rows)).to_frame()["reasons"].str.contains("fast").any()
    rows["seconds"] = np.where(rows["assessor"] == "bob", 0.49, 1.0)
    assert "fast: 0.49 s" in row(assessor_profiles(Judgments.from_frame(rows)), "bob")["reasons"]
    assert "seconds" not in assessor_profiles(judgments_of_rows(ann="01", bob="01")).to_frame().columns


# ---- who stands out


def test_planted_misfits_stand_out_and_others_do_not():
    truth = simulate_pool(8, 60, rng=5)
    fair = {f"fair {i}": Lenient(noise=0.3) for i in range(8)}
    odd = {
        "severe": Lenient(shift=-1.5, noise=0.3),
        "lenient": Lenient(shift=1.5, noise=0.3),
        "spam": Spammer(),
        "zero": Spammer(0),
        "inverted": Inverted(Lenient(noise=0.3)),
    }
    once, again = (simulate_judgments(truth, fair | odd, coverage=c, rng=seed) for c, seed in ((1.0, 5), (0.2, 6)))
    judgments = concatenate_judgments([once, again])
    found = assessor_profiles(judgments, gold=truth.judgments())
    frame = found.to_frame().set_index("assessor")
    assert set(frame.index[frame["outlying"]]) == set(odd)
    assert "severe:" in frame.loc["severe", "reasons"]
    assert "lenient:" in frame.loc["lenient", "reasons"]
    assert "always grade 0" in frame.loc["zero", "reasons"]
    assert "low agreement with the others" in frame.loc["spam", "reasons"]
    assert "low agreement with gold" in frame.loc["spam", "reasons"]
    assert "inconsistent" in frame.loc["spam", "reasons"]
    assert "low agreement with the others: -" in frame.loc["inverted", "reasons"]
    assert all(";" not in reason for reasons in found.reasons for reason in reasons)


def test_few_judgments_mark_nobody():
    truth = simulate_pool(1, 60, rng=6)
    panel = {f"fair {i}": Lenient(noise=0.3) for i in range(6)} | {"inverted": Inverted(Lenient())}
    judgments = simulate_judgments(truth, panel, coverage={"inverted": 0.15}, rng=6)
    assert not assessor_profiles(judgments).reasons[-1]
    assert assessor_profiles(judgments, min_documents=5).reasons[-1]


def test_a_higher_threshold_marks_fewer():
    truth = simulate_pool(6, 60, rng=7)
    panel = {f"w{i}": Lenient(shift=0.15 * i - 0.6, noise=0.4) for i in range(9)} | {"spam": Spammer()}
    judgments = simulate_judgments(truth, panel, rng=7)
    marked = [sum(map(bool, assessor_profiles(judgments, threshold=t).reasons)) for t in (1, 2, 3, 50)]
    assert marked == sorted(marked, reverse=True)
    assert marked[0] > marked[-1]


# ---- edges


def test_one_assessor_alone_has_a_row_without_others():
    found = assessor_profiles(judgments_of_rows(ann="0123"))
    only = row(found, "ann")
    assert (only["n_judgments"], only["n_shared"], only["reasons"]) == (4, 0, "")
    assert isnan(only["severity"])
    assert isnan(only["agreement"])


def test_too_many_values_have_no_share_each():
    truth = simulate_pool(2, 40, rng=8)
    found = assessor_profiles(simulate_magnitudes(truth, 80, rng=8))
    assert found.grades.size == 0
    assert not any(name.startswith("share_") for name in found.to_frame().columns)


def test_frames_come_from_any_library():
    found = assessor_profiles(judgments_of_rows(ann="0123", bob="0120"))
    assert isinstance(found.to_frame(), pd.DataFrame)
    assert list(found.to_frame("polars")["assessor"]) == ["ann", "bob"]


def test_bad_input_gets_one_clear_line():
    with pytest.raises(NoOverlapError, match="there are no judgments, so there are no assessors to describe"):
        assessor_profiles(Judgments.from_rows([]))
    with pytest.raises(ArgumentError, match="level='metric': choose one of"):
        assessor_profiles(judgments_of_rows(ann="01", bob="01"), level="metric")
    with pytest.raises(ArgumentError, match=r"threshold=0, min_documents=10: expected above 0, and 2 or more"):
        assessor_profiles(judgments_of_rows(ann="01", bob="01"), threshold=0)
    other_scale = Judgments.from_rows([("q", "d0", "gold", 40)])
    with pytest.raises(ScaleError, match="judge on different scales"):
        assessor_profiles(judgments_of_rows(ann="03", bob="03"), gold=other_scale)
