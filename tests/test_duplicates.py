"""Duplicates: of documents that say the same, the first in a ranking gains."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import measures as oracle
from oracles.notation import ON_A_BOUNDED_SCALE, ON_ANY_SCALE
from qrowd.aware import similarity_to_random
from qrowd.errors import ArgumentError, FileError
from qrowd.evaluation import evaluate
from qrowd.files import read_duplicates
from qrowd.model.conventions import Conventions, Duplicates
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.simulation import simulate_demo
from strategies import BOUNDED, DOCUMENTS, few, worlds

MEASURES = [*ON_ANY_SCALE, *ON_A_BOUNDED_SCALE]
SAME = Duplicates.from_groups([("t", "a", "1"), ("t", "b", "1")])
RUNS = Runs.from_dict({"s": {"t": {"b": 4, "a": 3, "c": 2, "d": 1}}})
JUDGMENTS = Judgments.from_rows([("t", "a", "ann", 3), ("t", "b", "ann", 2), ("t", "c", "ann", 1)])


def score(measure, **conventions):
    return evaluate(RUNS, JUDGMENTS, measure, conventions=Conventions(**conventions)).values.item()


def test_the_first_of_a_group_gains_its_highest_grade_once_and_the_ideal_ranking_holds_it_once():
    gain, ideal = 3 + 0 + 1 / np.log2(4), 3 + 1 / np.log2(3)
    assert score("DCG", duplicates=SAME) == pytest.approx(gain)
    assert score("nDCG", duplicates=SAME) == pytest.approx(gain / ideal)
    assert score("AP", duplicates=SAME) == pytest.approx((1 + 2 / 3) / 2)
    assert score("AP") == 1


def test_condensed_lists_lose_later_duplicates():
    assert score("AP", duplicates=SAME, unjudged="condensed") == 1


def test_later_duplicates_are_counted_and_are_not_unjudged():
    scores = evaluate(RUNS, JUDGMENTS, "P@2", conventions=Conventions(duplicates=SAME))
    assert scores.attributes["later_duplicates"] == 1
    assert scores.attributes["unjudged_shares"] == {2: 0.0}
    assert scores.attributes["conventions"]["duplicates"] == "1 group of 2 documents"


def one_by_one(world, group_of):
    """The same world, in which a group is one document: its first name; later ones have a name nobody judged."""
    rows: dict[tuple[str, str, str], float] = {}
    for topic, document, assessor, value in zip(*columns(world.judgments), strict=True):
        key = (topic, group_of.get((topic, document), document), assessor)
        rows[key] = max(rows.get(key, -1.0), value)
    scales = dict(zip(world.judgments.assessors, world.judgments.scales, strict=True))
    judgments = Judgments.from_rows([(*key, value) for key, value in rows.items()], scales=scales)
    lists = {}
    for system in world.systems:
        for topic in world.topics:
            ranking = []
            for document in oracle.rank(world.scores(system, topic)):
                name = group_of.get((topic, document), document)
                ranking.append(f"later {document}" if name in ranking else name)
            if ranking:
                lists.setdefault(system, {})[topic] = {document: -r for r, document in enumerate(ranking)}
    return lists, judgments


def columns(judgments):
    labels = ("topic", "document", "assessor")
    return *([getattr(judgments, f"{n}s")[i] for i in getattr(judgments, n)] for n in labels), judgments.value.tolist()


@few
@given(worlds(BOUNDED), st.data())
def test_every_measure_is_that_of_rankings_in_which_a_group_is_one_document(world, data):
    pairs = [(topic, document) for topic in world.topics for document in DOCUMENTS]
    chosen = data.draw(st.dictionaries(st.sampled_from(pairs), st.sampled_from("xy")))
    duplicates = Duplicates.from_groups([(t, d, group) for (t, d), group in chosen.items()])
    group_of = {(t, d): documents[0] for t, documents in duplicates.groups for d in documents}
    lists, judgments = one_by_one(world, group_of)
    conventions = Conventions(min_coverage=0, duplicates=duplicates)
    ours = evaluate(world.runs, world.judgments, MEASURES, conventions=conventions)
    if not lists:
        return
    theirs = evaluate(Runs.from_dict(lists), judgments, MEASURES, conventions=replace(conventions, duplicates=None))
    for system in theirs.systems:
        assert ours.sel(system=system, topic=theirs.topics, assessor=theirs.assessors).values == pytest.approx(
            theirs.sel(system=system).values, nan_ok=True
        )


def test_preferences_between_duplicates_are_refused():
    preferences = Preferences.from_rows([("t", "a", "c", "ann")])
    with pytest.raises(ArgumentError, match="leave the duplicates out of the runs"):
        evaluate(RUNS, preferences, "ppref", conventions=Conventions(duplicates=SAME))


@pytest.mark.parametrize(
    "text",
    ["topic,document,group\nt,a,1\nt,b,1\nt,c,2\n", "topic,one,same_as,assessor\nt,a,b,ann\nt,b,a,bob\n"],
)
def test_duplicates_are_read_as_groups_and_as_the_pairs_that_a_campaign_exports(tmp_path, text):
    path = tmp_path / "duplicates.csv"
    path.write_text(text)
    assert read_duplicates(path) == SAME


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topic,document\nt,a\n", "d.csv: there is no column 'group' among topic, document"),
        ("topic,document,group\nt,a,\n", "d.csv, line 2: group is missing"),
        ("topic,document,group\nt,a,1\nu,a,1\n", "d.csv: no group holds two documents of a topic"),
    ],
)
def test_a_table_that_names_no_groups_is_refused(tmp_path, text, message):
    path = tmp_path / "d.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_duplicates(path)


def test_random_assessors_of_aware_are_scored_with_the_same_duplicates():
    runs, judgments, _ = simulate_demo()
    people = judgments.select(assessors=["ann", "bob", "lena"])
    pairs = people.to_frame()[["topic", "document"]].drop_duplicates()
    group = pairs.groupby("topic").cumcount() // 3
    duplicates = Duplicates.from_groups(zip(pairs["topic"], pairs["document"], group.astype(str), strict=True))
    conventions = Conventions(empty="nan", duplicates=duplicates)
    found = similarity_to_random(runs, people, "AP", n_resamples=5, rng=1, conventions=conventions)
    expected = evaluate(runs, people, "AP", conventions=conventions)
    assert found.scores.values == pytest.approx(expected.values, nan_ok=True)
    plain = similarity_to_random(runs, people, "AP", n_resamples=5, rng=1)
    assert not np.allclose(found.single, plain.single)


def test_the_pairs_that_a_campaign_exports_have_the_columns_that_are_read():
    from qrowd_server.store import export

    assert export.DUPLICATES[:3] == ("topic", "one", "same_as")
