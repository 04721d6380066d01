"""Intraclass correlation: printed values, a slow analysis of variance, and incomplete tables."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import GRADES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement import intraclass_correlation
from qrowd.errors import NoOverlapError
from qrowd.model.judgments import Judgments

PRINTED = ("9258", "6132", "8468", "7126", "A569", "6247")  # Shrout & Fleiss (1979), Table 2; A is 10


def shrout_and_fleiss():
    panel = {f"d{i}": {f"a{j}": float(int(value, 16)) for j, value in enumerate(row)} for i, row in enumerate(PRINTED)}
    return judgments_of(panel, "0-10")


def test_the_values_that_shrout_and_fleiss_print():
    # Psychol. Bull. 86(2), Table 4: ICC(1, 1), ICC(1, 4), ICC(2, 1), ICC(2, 4).
    found = intraclass_correlation(shrout_and_fleiss())
    assert found.value[0].round(2).tolist() == [0.17, 0.44, 0.29, 0.62]
    assert (found.k[0], found.n_documents[0], found.n_judgments[0], found.n_assessors[0]) == (4, 6, 24, 4)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES, complete=True))
def test_of_a_complete_table_it_is_the_analysis_of_variance(panel):
    found = intraclass_correlation(judgments_of(panel, "0-3")).value[0]
    table = [list(said.values()) for said in panel.values()]
    assert found == pytest.approx(oracle.intraclass_correlations(table), nan_ok=True, abs=1e-9)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES), st.sampled_from([2.0, 5.0]))
@example({"d0": {"ann": 2.0, "dan": 2.0}, "d1": {"ann": 3.0, "cyd": 1.0}}, 5.0)  # documents of equal means
def test_the_unit_of_the_scale_and_its_zero_do_not_matter(panel, times):
    assume(pairable(panel))
    moved = {d: {who: times * v + 7 for who, v in said.items()} for d, said in panel.items()}
    first, second = (intraclass_correlation(judgments_of(p, "0-40")).value for p in (panel, moved))
    assert first == pytest.approx(second, nan_ok=True, abs=1e-6)


UNIT = 40


def incomplete(random, n_documents=60, n_assessors=8, n_topics=6):
    """Variance 1 between documents, .49 between assessors, .49 of error; two judgments of five are there."""
    document, assessor = random.normal(size=n_documents), 0.7 * random.normal(size=n_assessors)
    rows = [
        (f"t{d % n_topics}", f"d{d}", f"a{a}", 0.5 + (document[d] + assessor[a] + 0.7 * random.normal()) / UNIT)
        for d in range(n_documents)
        for a in range(n_assessors)
        if random.random() < 0.4
    ]
    return Judgments.from_rows(rows, scales={"*": "0..1"})


def test_missing_judgments_do_not_bias_the_components_of_variance():
    random = np.random.default_rng(1)
    found = np.array([intraclass_correlation(incomplete(random)).variance[0] for _ in range(150)]) * UNIT**2
    error = found.std(axis=0, ddof=1) / np.sqrt(150)
    assert (np.abs(found.mean(axis=0) - [1, 0.49, 0.49]) < 4 * error).all()
    assert error.max() < 0.03


def test_the_interval_draws_topics_and_is_the_same_for_the_same_seed():
    judgments = incomplete(np.random.default_rng(2))
    found, again = (intraclass_correlation(judgments, n_resamples=200, rng=4) for _ in range(2))
    assert np.array_equal(found.low, again.low)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()


def test_groups_have_the_correlation_of_their_own_judgments():
    judgments = incomplete(np.random.default_rng(3))
    by_topic = intraclass_correlation(judgments, by="topic")
    alone = intraclass_correlation(judgments.select(topics=["t3"]))
    assert by_topic.value[by_topic.labels.index("t3")] == pytest.approx(alone.value[0])
    assert len(by_topic.to_frame()) == 6 * 4


def test_assessors_of_one_document_each_have_no_two_way_form():
    found = intraclass_correlation(
        Judgments.from_rows([("q", f"d{i // 2}", f"a{i}", v) for i, v in enumerate([0, 1, 3, 3, 2, 2])])
    )
    assert np.isnan(found.value[0, 2:]).all()
    assert found.value[0, 0] > 0.8


def test_documents_judged_once_are_left_out_or_nothing_is_left():
    assert intraclass_correlation(judgments_of_rows(ann="0123", bob="013*")).n_documents[0] == 3
    with pytest.raises(NoOverlapError, match="no document was judged 2 times or more"):
        intraclass_correlation(judgments_of_rows(ann="01**", bob="**13"))
