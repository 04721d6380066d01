"""Real judgments: eight people on passages of the TREC 2019 Deep Learning track, two or eight of them per passage."""

import pandas as pd
import pytest

from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance
from qrowd_papers.predicted_relevance.sensitivity import sensitivity_to_rank
from real_runs import runs_of


def people(folder, name):
    return Judgments.from_frame(pd.read_csv(folder / "humans" / name, sep="\t", dtype={"topic": str, "document": str}))


@pytest.fixture(scope="module")
def main(dl19):
    return people(dl19, "main.tsv")


def test_the_higher_the_grade_the_more_users_and_the_stricter_the_fewer(main):
    top, middle, any_ = (predicted_relevance(main, rel=theta, rng=1) for theta in (3, 2, 1))
    for model in (top, middle, any_):
        assert model.data.n_documents == 4489 + 4
        assert (model.probability[1:] > model.probability[:-1]).all()
        assert (model.low < model.probability).all()
        assert (model.probability < model.high).all()
    assert (top.probability < middle.probability).all()
    assert (middle.probability < any_.probability).all()
    assert middle.probability == pytest.approx([0.139, 0.292, 0.509, 0.625], abs=0.001)


def test_topics_matter_more_than_the_number_of_documents_suggests(main):
    """As section 6.2 finds: .06 and .05 where the binomial says .02 and .01."""
    by_topic, binomial = (
        predicted_relevance(main, rel=2, resample=se, rng=1).standard_error for se in ("topics", "binomial")
    )
    assert (by_topic > 2.5 * binomial).all()


@pytest.mark.nightly
def test_good_results_have_more_to_them_than_their_grade_says(main, dl19):
    """As Figure 1: p(R|i) falls as worse results are taken in."""
    curve = sensitivity_to_rank(main, runs_of(dl19), rel=2)
    assert (curve.probability[0] > curve.probability[-1] + 0.1).all()
