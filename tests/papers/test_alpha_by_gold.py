"""Agreement on documents of each gold grade."""

from itertools import combinations

import numpy as np
import pytest

from oracles import agreement as oracle
from panels import ASSESSORS, judgments_of
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool
from qrowd_papers.agreement.gold import alpha_by_gold, alpha_of_matched_subsets
from qrowd_papers.agreement.study import read_crowd


@pytest.fixture(scope="module")
def truth():
    return simulate_pool(6, 60, n_grades=3, rng=1)


@pytest.fixture(scope="module")
def judged(truth):
    return simulate_judgments(truth, {name: Lenient(noise=0.6) for name in ASSESSORS}, coverage=0.8, rng=1)


@pytest.fixture(scope="module")
def rf(rf10):
    """Labels and gold grades, a broken link being not relevant."""
    found = read_crowd(rf10)
    return found.labels.recode({-2: 0}), found.gold


# ---- the numbers of the agreement paper's first collection


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("least", "n_judgments", "n_topics", "lowest", "highest"),
    [(2, 15_561, 89, -0.109, 0.394), (5, 13_990, 87, -0.108, 0.334)],
)
def test_rf10_has_the_judgments_topics_and_range_of_alpha_recomputed_from_the_data(
    rf, least, n_judgments, n_topics, lowest, highest
):
    found = alpha_by_gold(*rf, level="interval", by="topic", slots=5, min_judgments=least)
    assert found.grades == (0, 1, 2)
    assert found.names == ("0", "1", "2", "01", "02", "12", "012")
    whole = [row[-1] for row in found.alphas]
    alone = sum(alpha.n_left_out for alpha in whole) if least == 2 else 0  # judged once: counted, not compared
    assert sum(alpha.n_judgments for alpha in whole) + alone == n_judgments
    assert found.complete.sum() == n_topics
    alphas = found.of("012")[found.complete]
    assert (round(alphas.min(), 3), round(alphas.max(), 3)) == (lowest, highest)


@pytest.mark.nightly
def test_topics_whose_agreement_is_high_on_some_documents_need_not_have_it_on_others(rf):
    # Maddalena et al. (2017), Table 2: alpha^i and alpha^j do not correlate, alpha^ij and alpha^A do.
    table = alpha_by_gold(*rf, level="interval", by="topic", slots=5).correlations().set_index(["first", "second"])
    for first, second in combinations("012", 2):
        assert not table.loc[(first, second), "significant"]
        assert abs(table.loc[(first, second), "pearson"]) < 0.25
    for pair in ("01", "02", "12"):
        assert table.loc[(pair, "012"), "significant"]


# ---- what it means


def test_alpha_of_some_gold_grades_is_the_alpha_of_their_documents(truth, judged):
    gold = truth.judgments()
    grade = {
        (gold.topics[t], gold.documents[d]): g for t, d, g in zip(gold.topic, gold.document, gold.value, strict=True)
    }
    by_topic = alpha_by_gold(judged, gold, level="interval", by="topic")
    together = alpha_by_gold(judged, gold, level="interval")
    said = judged.to_frame()
    said["gold"] = [grade[pair] for pair in zip(said["topic"], said["document"], strict=True)]
    for name in together.names:
        wanted = said[said["gold"].isin([float(g) for g in name])]
        whole = {}
        for row in wanted.itertuples():
            whole.setdefault((row.topic, row.document), {})[row.assessor] = row.value
        assert together.of(name)[0] == pytest.approx(oracle.krippendorff_alpha(whole, "interval"))
        for topic, alpha in zip(by_topic.topics, by_topic.of(name), strict=True):
            part = {pair: values for pair, values in whole.items() if pair[0] == topic}
            assert alpha == pytest.approx(oracle.krippendorff_alpha(part, "interval"), nan_ok=True)


def test_gold_may_be_an_assessor_judgments_or_a_mapping(truth, judged):
    gold = truth.judgments(name="nist")
    expected = alpha_by_gold(judged, gold).value
    together = concatenate_judgments([judged, gold])
    assert alpha_by_gold(together, "nist").value == pytest.approx(expected)
    rows = gold.to_frame()
    mapping = {(r.topic, r.document): r.value for r in rows.itertuples()}
    assert alpha_by_gold(judged, mapping).value == pytest.approx(expected)


def test_documents_without_gold_count_nowhere_and_negative_gold_is_none(judged, truth):
    gold = truth.judgments()
    unknown = Judgments.from_frame(
        gold.to_frame().assign(value=lambda rows: rows["value"].where(rows["value"] > 0, -1))
    )
    found = alpha_by_gold(judged, unknown)
    assert found.grades == (1, 2)
    assert found.of("12")[0] == pytest.approx(alpha_by_gold(judged, gold).of("12")[0])


def test_every_combination_has_its_interval(judged, truth):
    found = alpha_by_gold(judged, truth.judgments(), n_resamples=100, rng=1)
    frame = found.to_frame()
    assert list(frame["gold"]) == list(found.names)
    assert (frame["low"] < frame["alpha"]).all()
    assert (frame["alpha"] < frame["high"]).all()


def test_subsets_of_matched_size_have_the_alpha_of_the_whole_on_average(truth, judged):
    found = alpha_of_matched_subsets(judged, truth.judgments(), level="interval", n_resamples=200, rng=1)
    assert found.sets == ("all", "0")
    assert found.n_resamples == 200
    grade = truth.judgments().panel().values[:, 0].reshape(6, 60)
    assert (found.sizes <= (grade > 0).sum(axis=1)).all()  # those that two assessors judged
    whole = krippendorff_alpha(judged, level="interval", by="topic")
    assert found.whole[:, 0] == pytest.approx(whole.value)
    known = ~np.isnan(found.mean[:, 0])
    assert known.any()
    assert found.mean[known, 0] == pytest.approx(found.whole[known, 0], abs=0.1)
    again = alpha_of_matched_subsets(judged, truth.judgments(), level="interval", n_resamples=200, rng=found.seed)
    assert np.array_equal(again.mean, found.mean, equal_nan=True)
    assert len(found.to_frame()) == 12


def test_bad_gold_gets_one_clear_line(judged, truth):
    with pytest.raises(ArgumentError, match=r"gold='annn': no assessor has this name; did you mean 'ann'\?"):
        alpha_by_gold(judged, "annn")
    with pytest.raises(ArgumentError, match=r"gold: one assessor was expected, found 4 \(ann, bob, cyd \.\.\.\)"):
        alpha_by_gold(judged, judged)
    with pytest.raises(NoOverlapError, match="gold 'gold' has no grade for any document that the others judged"):
        alpha_by_gold(judged, {("elsewhere", "d"): 1.0})
    many = {(judged.topics[0], d): float(i) for i, d in enumerate(judged.documents)}
    with pytest.raises(ArgumentError, match="grades have too many combinations; recode gold"):
        alpha_by_gold(judged, many)
    with pytest.raises(ArgumentError, match="combination '3' is not among the combinations; there are 7"):
        alpha_by_gold(judged, truth.judgments()).of("3")
    with pytest.raises(ArgumentError, match="by='unit': choose one of None, topic"):
        alpha_by_gold(judged, truth.judgments(), by="unit")
    with pytest.raises(NoOverlapError, match="agreement needs at least two assessors"):
        alpha_by_gold(judgments_of({"d": {"ann": 1.0, "gold": 1.0}}), "gold")
