"""Every measure against the slow oracle: on small worlds drawn at random, and on real collections."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import measures as oracle
from oracles.notation import MEANING, ON_A_BOUNDED_SCALE, ON_ANY_SCALE, ON_PROBABILITIES, texts_of
from qrowd.evaluation import evaluate, measure
from qrowd.files import read_judgments, read_runs
from qrowd.measures import DEFINITIONS
from qrowd.model.conventions import Conventions
from strategies import ANY, BOUNDED, PROBABILITIES, worlds

TABLES = {
    "any scale": (ON_ANY_SCALE, ANY),
    "bounded scales": (ON_A_BOUNDED_SCALE, BOUNDED),
    "probabilities": (ON_PROBABILITIES, PROBABILITIES),
}
OF_RANKINGS = [definition for definition in DEFINITIONS if not definition.of_units]  # others: test_units.py
NAMES = [definition.name for definition in OF_RANKINGS]


def equal(score, expected):
    """As `pytest.approx` has it, which takes as long as many an oracle."""
    if np.isnan(expected):
        return np.isnan(score)
    return score == expected or abs(score - expected) <= max(1e-12 * abs(expected), 1e-14)


@pytest.mark.parametrize("definition", OF_RANKINGS, ids=NAMES)
def test_the_oracle_speaks_of_every_parameter_of_every_measure(definition):
    texts = texts_of(definition.name, MEANING)
    assert all(measure(text).definition is definition for text in texts)
    for parameter in definition.parameters:
        assert any(measure(text)[parameter.name] != parameter.default for text in texts), parameter.name


@pytest.mark.parametrize("scales", TABLES)
@settings(max_examples=settings.default.max_examples // 2)
@given(st.data(), st.sampled_from(["nonrelevant", "condensed"]), st.sampled_from(["float64", "float32"]))
def test_every_measure_is_the_oracles_on_any_small_world(scales, data, unjudged, score_dtype):
    table, allowed = TABLES[scales]
    world = data.draw(worlds(allowed))
    scores = evaluate(
        world.runs,
        world.judgments,
        list(table),
        conventions=Conventions(unjudged=unjudged, score_dtype=score_dtype, min_coverage=0),
    ).to_xarray()
    labels = (list(table), world.assessors, world.topics, world.systems)
    assert scores.dims == ("measure", "assessor", "topic", "system")
    assert scores.shape == tuple(map(len, labels))
    for at, score in np.ndenumerate(scores.values):
        text, assessor, topic, system = (names[i] for names, i in zip(labels, at, strict=True))
        opinion = world.opinions[assessor, topic]
        ranking = oracle.rank(world.scores(system, topic), float32=score_dtype == "float32")
        if unjudged == "condensed":
            ranking = oracle.condensed(ranking, opinion.grades)
        expected = table[text](ranking, opinion) if opinion.grades else np.nan
        assert equal(score, expected), (text, assessor, topic, system, score, expected)


@pytest.fixture(scope="module")
def scored(collection):
    """Scores of all systems for all judges at once, by every measure of the oracle that is fit for their scales."""
    judgments = read_judgments(collection.judgment_files)
    runs = read_runs(collection.run_files)
    to_one = judgments.select(assessors=[a for a, scale in collection.scales.items() if scale in PROBABILITIES])
    return [
        evaluate(
            runs, judgments, [*ON_ANY_SCALE, *ON_A_BOUNDED_SCALE], conventions=Conventions(min_coverage=0)
        ).to_xarray(),
        evaluate(runs, to_one, list(ON_PROBABILITIES), conventions=Conventions(min_coverage=0)).to_xarray(),
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_measure_is_the_oracles_on_real_collections(collection, scored, name):
    """NIST and the judge files, all parameter settings; of the lists a sample.

    Each setting visits, for each judge, every third topic of dl21, each time in another of the systems, and every
    twelfth topic of dl19 likewise, whose lists are ten times as long; half as many where some of the runs are read.
    (test_against_peers.py meets all lists.)
    """
    step = (12 if collection.name == "dl19" else 3) * min(collection.step, 2)
    n = 0
    for scores in scored:
        texts, assessors, topics, systems = (scores[dim].values.tolist() for dim in scores.dims)
        for text in texts_of(name, texts):
            m = texts.index(text)
            for a, assessor in enumerate(assessors):
                for t in range((m + a) % step, len(topics), step):
                    s = (7 * m + 5 * a + t) % len(systems)
                    opinion = collection.opinions[assessor, topics[t]]
                    ranking = collection.ranking(systems[s], topics[t])
                    expected = MEANING[text](ranking, opinion) if opinion.grades else np.nan
                    score = scores.values[m, a, t, s]
                    assert equal(score, expected), (text, assessor, topics[t], systems[s], score, expected)
                    n += 1
    assert n > 0
