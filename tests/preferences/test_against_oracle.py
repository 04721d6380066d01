"""Every preference measure against the slow oracle: on small worlds drawn at random, and on real preferences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import measures as ranks
from oracles import preferences as oracle
from qrowd.evaluation import evaluate, measure
from qrowd.model.conventions import Conventions
from qrowd.preferences import DEFINITIONS
from strategies import preference_worlds

# Each: (ranking, what was said, marks) -> score. Rankings break ties as the measure does.
DESCENDING = {
    "ppref": lambda r, said, bad: oracle.ppref(r, said),
    "ppref@2": lambda r, said, bad: oracle.ppref(r, said, 2),
    "wpref": lambda r, said, bad: oracle.wpref(r, said),
    "wpref@3": lambda r, said, bad: oracle.wpref(r, said, 3),
    "wpref(weight='upper')": lambda r, said, bad: oracle.wpref(r, said, weight="upper"),
    "wpref(weight='upper-log2')@2": lambda r, said, bad: oracle.wpref(r, said, 2, "upper-log2"),
    "rpref": lambda r, said, bad: oracle.rpref(r, said),
    "rpref@1": lambda r, said, bad: oracle.rpref(r, said, 1),
    "APpref": lambda r, said, bad: oracle.appref(r, said),
    "APpref@2": lambda r, said, bad: oracle.appref(r, said, 2),
    "nppref": lambda r, said, bad: oracle.nppref(r, said),
    "nppref@2": lambda r, said, bad: oracle.nppref(r, said, 2),
}
STRONG = {f"{name}(strong=3)": DESCENDING[name] for name in ("ppref", "wpref", "rpref", "APpref", "nppref")}
ASCENDING = {
    "compatibility": lambda r, said, bad: oracle.compatibility(r, oracle.wins(said, bad)),
    "compatibility(p=0.5)@3": lambda r, said, bad: oracle.compatibility(r, oracle.wins(said, bad), 0.5, 3),
}
MEANING = DESCENDING | STRONG | ASCENDING


def expected(text, world, assessor, topic, system, condensed=False, float32=False):
    said = world.said(assessor, topic, 3 if "strong=3" in text else 1)
    bad = world.marked(assessor, topic)
    if not said and not bad:
        return np.nan
    scores = world.scores(system, topic)
    if float32:
        scores = {document: float(np.float32(score)) for document, score in scores.items()}
    ranking = oracle.rank_ascending(scores) if text in ASCENDING else ranks.rank(scores)
    if condensed:
        judged = {document for row in said for document in row[:2]} | {document for document, _ in bad}
        ranking = [document for document in ranking if document in judged]
    return MEANING[text](ranking, said, bad)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)
def test_the_oracle_speaks_of_every_parameter_of_every_measure(definition):
    texts = [text for text in MEANING if measure(text).definition is definition]
    assert texts
    for parameter in definition.parameters:
        assert any(measure(text)[parameter.name] != parameter.default for text in texts), parameter.name


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(preference_worlds(), st.booleans(), st.booleans())
def test_every_measure_is_the_oracles_on_any_small_world(world, condensed, float32):
    scores = evaluate(
        world.runs,
        world.preferences,
        list(MEANING),
        conventions=Conventions(
            unjudged="condensed" if condensed else "nonrelevant",
            score_dtype="float32" if float32 else "float64",
            min_coverage=0,
        ),
    ).to_xarray()
    labels = (list(map(str, map(measure, MEANING))), world.assessors, world.topics, world.systems)
    assert [scores[dim].values.tolist() for dim in scores.dims] == list(labels)
    for (m, a, t, s), score in np.ndenumerate(scores.values):
        at = (list(MEANING)[m], world.assessors[a], world.topics[t], world.systems[s])
        wanted = expected(at[0], world, *at[1:], condensed, float32)
        assert score == pytest.approx(wanted, rel=1e-12, abs=1e-14, nan_ok=True), at
