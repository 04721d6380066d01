"""Random merges of fully judged lists."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import real_runs
from oracles import label_uncertainty as oracle
from qrowd.errors import NoOverlapError
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd_papers.magnitude.merged_runs import complete_lists, merged_runs
from strategies import worlds

LISTS = {
    "a": {"q": ["d1", "d2", "x"], "r": ["e1", "e2"], "s": ["f1", "f2"]},
    "b": {"q": ["d2", "d1"], "r": ["e1", "x"], "s": ["f1"]},
    "c": {"q": ["d3", "d1"], "r": ["e2", "e1"], "s": ["f2", "f1"]},
}
JUDGED = {"q": ["d1", "d2", "d3"], "r": ["e1", "e2"], "s": ["f1"], "t": ["g"]}


def runs_of(lists):
    return Runs.from_dict(
        {
            system: {topic: {d: -float(i) for i, d in enumerate(documents)} for topic, documents in topics.items()}
            for system, topics in lists.items()
        }
    )


def ranked(runs):
    """{system: {topic: [document]}} in rank order."""
    rankings = runs.ranked()
    return {
        system: {
            topic: [runs.documents[d] for d in rankings.document[start : start + length]]
            for topic, start, length in zip(runs.topics, rankings.starts[s], rankings.lengths[s], strict=True)
            if length
        }
        for s, system in enumerate(runs.systems)
    }


RUNS = runs_of(LISTS)
JUDGMENTS = Judgments.from_rows([(topic, d, "ann", 1) for topic, documents in JUDGED.items() for d in documents])


def test_a_list_is_complete_if_it_is_long_enough_and_its_head_is_judged():
    found = complete_lists(RUNS, JUDGMENTS, cutoff=2)
    assert {topic: row.tolist() for topic, row in found.items()} == {
        "q": [True, True, True], "r": [True, False, True], "s": [False, False, False],
    }  # fmt: skip


def test_what_was_pooled_but_not_judged_is_no_judgment():
    more = [("s", "f2", "ann", -1), *((t, d, "ann", 1) for t, documents in JUDGED.items() for d in documents)]
    assert complete_lists(RUNS, Judgments.from_rows(more), cutoff=2)["s"].sum() == 0
    more.append(("s", "f2", "bob", 0))
    assert complete_lists(RUNS, Judgments.from_rows(more), cutoff=2)["s"].sum() == 2


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(worlds(n_systems=3, n_documents=4), st.integers(1, 3))
def test_complete_lists_are_those_of_the_oracle(world, depth):
    lists = ranked(world.runs)
    judged = {(topic, document) for topic, document, _, value in world.rows if value >= 0}
    expected = oracle.complete(lists, judged, depth)
    found = complete_lists(world.runs, world.judgments, cutoff=depth)
    for topic, row in found.items():
        assert [s for s, yes in zip(world.runs.systems, row, strict=True) if yes] == [
            s for s in world.runs.systems if s in expected.get(topic, [])
        ]


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(worlds(n_systems=3, n_documents=4), st.integers(1, 2), st.integers(1, 2))
def test_every_list_of_a_merge_is_the_head_of_a_complete_one(world, depth, least):
    lists = ranked(world.runs)
    judged = {(topic, document) for topic, document, _, value in world.rows if value >= 0}
    enough = {
        topic: {tuple(lists[system][topic][:depth]) for system in systems}
        for topic, systems in oracle.complete(lists, judged, depth).items()
        if len(systems) >= least
    }
    if not enough:
        with pytest.raises(NoOverlapError, match="no topic has"):
            merged_runs(world.runs, world.judgments, n_systems=3, cutoff=depth, min_lists=least, rng=1)
        return
    merged = ranked(merged_runs(world.runs, world.judgments, n_systems=3, cutoff=depth, min_lists=least, rng=1))
    assert len(merged) == 3
    for topics in merged.values():
        assert set(topics) == set(enough)
        assert all(tuple(documents) in enough[topic] for topic, documents in topics.items())


def test_every_complete_list_is_equally_likely_and_topics_draw_independently():
    n = 6000
    merged = ranked(merged_runs(RUNS, JUDGMENTS, n_systems=n, cutoff=2, rng=1))
    pairs = [(topics["q"][0], topics["r"][0]) for topics in merged.values()]
    for q in ("d1", "d2", "d3"):
        for r in ("e1", "e2"):
            assert abs(pairs.count((q, r)) / n - 1 / 6) < 4 * (5 / 36 / n) ** 0.5


def test_a_merge_depends_on_labels_and_its_number_alone():
    many = ranked(merged_runs(RUNS, JUDGMENTS, n_systems=150, cutoff=2, rng=5))
    few = ranked(merged_runs(RUNS, JUDGMENTS, n_systems=100, cutoff=2, rng=5))
    assert list(few.values()) == list(many.values())[:100]
    turned = runs_of({system: dict(reversed(LISTS[system].items())) for system in reversed(LISTS)})
    assert ranked(merged_runs(turned, JUDGMENTS, n_systems=150, cutoff=2, rng=5)) == many


def test_what_cannot_be_merged_is_said():
    with pytest.raises(NoOverlapError, match=r"no topic has 4 lists whose first 2 documents .* \(the most is 3\)"):
        merged_runs(RUNS, JUDGMENTS, cutoff=2, min_lists=4)
    with pytest.raises(NoOverlapError, match="no topic has 2 lists whose first 10"):
        merged_runs(RUNS, JUDGMENTS)
    with pytest.raises(NoOverlapError, match="share no topic"):
        complete_lists(RUNS, Judgments.from_rows([("elsewhere", "d", "ann", 1)]))


def test_dl21_merges_of_real_lists_have_no_unjudged_document_at_10(dl21):
    runs = real_runs.runs_of(dl21)
    nist = read_judgments(str(dl21 / "qrels.nist.txt"))
    found = complete_lists(runs, nist)
    counts = [int(row.sum()) for row in found.values()]
    assert (min(counts), max(counts), sum(counts)) == (59, 63, 3287)
    merged = merged_runs(runs, nist, rng=1)
    scores = evaluate(merged, nist, "nDCG@10").to_xarray()
    assert scores.attrs["unjudged_shares"] == {10: 0}
    assert scores.sizes["system"] == 100
    # Chance mixes good systems and bad ones, so that the merged differ less than the real.
    assert scores.mean("topic").std() < 0.3 * evaluate(runs, nist, "nDCG@10").to_xarray().mean("topic").std()
    assert not np.isnan(scores.values).any()
