"""How often the interval of assessor bias holds 0."""

import numpy as np
import pytest

import qrowd_papers.assessor_bias as study
from qrowd.reports.document import render
from qrowd_papers.assessor_bias import MEASURES, MODELS, TASTES, assessor_bias_page, bias_coverage


@pytest.mark.nightly
def test_the_interval_holds_0_for_lenient_and_severe_models_and_that_of_topics_alone_does_not():
    found = bias_coverage({50: 10}, (5,), measures=("P(rel=1)@10",), shuffles=4, rng=3)
    assert found.coverage.mean() > 0.9
    off = np.isin(found.design, ["lenient", "severe", "severe, own tastes"])
    assert found.topics_alone[off].max() < 0.6
    assert len(found) == len(MODELS) * len(TASTES)
    np.testing.assert_allclose(found.error, np.sqrt(found.coverage * (1 - found.coverage) / 10))


def test_the_page_says_how_often_and_beside_it_how_much_is_found(monkeypatch):
    def small(topics, people, **options):
        (n,) = topics.values()
        return bias_coverage({10: n}, people, shuffles=2, **options)

    told = []
    monkeypatch.setattr(study, "bias_coverage", small)
    page = assessor_bias_page(quick=True, rng=1, progress=lambda *what: told.append(what))
    assert told[-1] == ("assessor bias", 5, 5)
    assert page.sentence.startswith("The interval of `assessor_bias` holds 0 in ")
    assert [table.title for table in page.tables] == [f"coverage and power: {measure}" for measure in MEASURES]
    assert len(page.frame()) == len(MODELS) * len(TASTES) * len(MEASURES)
    assert b"power" in render(page, "page.md")


def test_one_seed_one_table():
    one, two, other = (
        bias_coverage({10: 2}, (3,), measures=("P(rel=1)@10",), shuffles=1, rng=rng) for rng in (4, 4, 5)
    )
    np.testing.assert_array_equal(one.half, two.half)
    assert not np.array_equal(one.half, other.half)
