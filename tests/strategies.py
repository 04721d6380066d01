"""Small worlds to draw: what a few assessors said of a few documents, and how a few systems ranked them.

What is untidy about real data is likely here: tied scores, some of them only in single precision; documents nobody or
only some judged; negative grades; topics that an assessor or a system lacks; every assessor on a scale of their own.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from hypothesis import settings
from hypothesis import strategies as st

from oracles.notation import Opinion
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

DOCUMENTS = ("D1", "D10", "D2", "D9", "a", "é", "\uffff", "🙂")  # in trec_eval's order, which is not UTF-16's
SCORES = (0.0, 1.0, 1.0 + 1e-9, 2.0)
VALUES = {
    "binary": (0.0, 1.0),
    "0-3": (0.0, 1.0, 2.0, 3.0),
    "0..1": (0.0, 0.25, 0.5, 0.8, 1.0),
    "magnitude": (0.3, 1.0, 2.5, 20.0, 64.0),
}
BOUNDED = ("binary", "0-3", "0..1")
ANY = (*BOUNDED, "magnitude")
PROBABILITIES = ("binary", "0..1")
few = settings(max_examples=settings.default.max_examples * 2 // 5)  # for laws whose examples take milliseconds


@dataclass(frozen=True)
class World:
    """An evaluation in plain Python.

    scales : {assessor: scale}.
    rows : (topic, document, assessor, value), one per judgment, in the order they were given.
    lists : {system: {topic: {document: score}}}.
    """

    scales: dict
    rows: list
    lists: dict

    @cached_property
    def judgments(self):
        return Judgments.from_rows(self.rows, scales=self.scales)

    @cached_property
    def runs(self):
        return Runs.from_dict(self.lists)

    @property
    def assessors(self):
        return list(dict.fromkeys(assessor for _, _, assessor, _ in self.rows))

    @property
    def topics(self):
        return list(dict.fromkeys(topic for topic, _, _, _ in self.rows))

    @property
    def systems(self):
        return list(self.lists)

    def scores(self, system, topic):
        """{document: score} of one list; empty where the system has none."""
        return self.lists[system].get(topic, {})

    @cached_property
    def opinions(self):
        """{(assessor, topic): Opinion}: what the assessor said first of each document, and what the others did."""
        said = {(assessor, topic): {} for topic in self.topics for assessor in self.assessors}
        for topic, document, assessor, value in self.rows:
            said[assessor, topic].setdefault(document, value)
        alone = {
            (assessor, topic): Opinion({d: v for d, v in grades.items() if v >= 0}, self.scales[assessor])
            for (assessor, topic), grades in said.items()
        }
        return {
            (assessor, topic): replace(one, panel=tuple(alone[a, topic] for a in self.assessors))
            for (assessor, topic), one in alone.items()
        }

    def shuffled(self, random):
        """The same world, told in another order."""
        return World(self.scales, random.sample(self.rows, len(self.rows)), reordered(self.lists, random))


def scores_of(ranking):
    """Scores that put the documents into this order."""
    return {document: -float(rank) for rank, document in enumerate(ranking)}


def reordered(nested, random):
    if not isinstance(nested, dict):
        return nested
    return {key: reordered(nested[key], random) for key in random.sample(list(nested), len(nested))}


@st.composite
def worlds(draw, scales=ANY, n_assessors=3, n_topics=2, n_systems=2, n_documents=7, repeats=False):
    """Worlds of up to that size; with `repeats`, some assessors judged some documents several times."""
    documents = draw(st.permutations(DOCUMENTS))[:n_documents]
    topics = [f"t{i + 1}" for i in range(draw(st.integers(1, n_topics)))]
    scale_of = {f"a{i + 1}": scale for i, scale in enumerate(draw(many(scales, 1, n_assessors)))}
    systems = [f"s{i + 1}" for i in range(draw(st.integers(1, n_systems)))]
    rows, lists = [], {}
    for assessor, scale in scale_of.items():
        for topic in topics:
            given = draw(all_or_none((None, -1.0, *VALUES[scale]), len(documents)))
            rows += [(topic, d, assessor, v) for d, v in zip(documents, given, strict=True) if v is not None]
        if repeats:
            again = draw(st.lists(st.tuples(*map(st.sampled_from, (topics, documents, VALUES[scale]))), max_size=4))
            rows += [(topic, document, assessor, value) for topic, document, value in again]
    for system in systems:
        for topic in topics:
            given = draw(all_or_none((None, *SCORES), len(documents)))
            scores = {d: score for d, score in zip(documents, given, strict=True) if score is not None}
            if scores:
                lists.setdefault(system, {})[topic] = scores
        lists.setdefault(system, {"t0": {"a": 1.0}})  # a topic that nobody judged
    # Something in common, or there is nothing to evaluate.
    lists["s1"].setdefault("t1", {documents[0]: 1.0})
    if all(topic != "t1" for topic, _, _, _ in rows):
        rows.append(("t1", documents[0], "a1", VALUES[scale_of["a1"]][-1]))
    used = {assessor for _, _, assessor, _ in rows}
    return World({a: scale for a, scale in scale_of.items() if a in used}, rows, lists)


def many(choices, least, most):
    """From `least` to `most` choices."""
    return st.lists(st.sampled_from(choices), min_size=least, max_size=most)


def all_or_none(choices, n):
    """n choices; or, one time in three, n times None."""
    return st.sampled_from([False, True, True]).flatmap(
        lambda some: many(choices, n, n) if some else st.just([None] * n)
    )


# ---- preferences


@dataclass(frozen=True)
class PreferenceWorld:
    """Preferences and runs in plain Python.

    rows : (topic, preferred, other, assessor, strength, weight, group), one per preference, in the order given.
    bad : (topic, document, assessor, group) of every mark.
    lists : {system: {topic: {document: score}}}.
    """

    rows: list
    bad: list
    lists: dict

    @cached_property
    def preferences(self):
        names = ("topic", "preferred", "other", "assessor", "strength", "weight", "group")
        marks = [(topic, None, document, assessor, None, None, group) for topic, document, assessor, group in self.bad]
        columns = zip(*self.rows, *marks, strict=True)
        return Preferences.from_frame(dict(zip(names, map(list, columns), strict=True)))

    @cached_property
    def runs(self):
        return Runs.from_dict(self.lists)

    @property
    def assessors(self):
        return list(dict.fromkeys([row[3] for row in self.rows] + [mark[2] for mark in self.bad]))

    @property
    def topics(self):
        return list(dict.fromkeys([row[0] for row in self.rows] + [mark[0] for mark in self.bad]))

    @property
    def systems(self):
        return list(self.lists)

    def scores(self, system, topic):
        """{document: score} of one list; empty where the system has none."""
        return self.lists[system].get(topic, {})

    def said(self, assessor, topic, strong=1):
        """(preferred, other, weight, group) of what one assessor said of one topic."""
        return [
            (preferred, other, weight * (strong if strength == 2 else 1), group)
            for where, preferred, other, who, strength, weight, group in self.rows
            if (where, who) == (topic, assessor)
        ]

    def marked(self, assessor, topic):
        """(document, group) of an assessor's marks."""
        return [(document, group) for where, document, who, group in self.bad if (where, who) == (topic, assessor)]


@st.composite
def preference_worlds(draw, *, topics=("t", "u"), grouped=True):
    """A world of preferences in which runs and preferences share at least one topic; cycles and repeats abound."""
    pair = st.lists(st.sampled_from(DOCUMENTS), min_size=2, max_size=2, unique=True)
    groups = ("g", "h") if grouped else ("g",)
    row = st.tuples(
        st.sampled_from(topics),
        pair,
        st.sampled_from(["ann", "bob"]),
        st.sampled_from([1, 2]),
        st.sampled_from([1.0, 1.0, 0.5]),
        st.sampled_from(groups),
    )
    rows = [(t, *two, a, s, w, g) for t, two, a, s, w, g in draw(st.lists(row, min_size=1, max_size=20))]
    mark = st.tuples(
        st.sampled_from(topics), st.sampled_from(DOCUMENTS), st.sampled_from(["ann", "bob"]), st.sampled_from(groups)
    )
    bad = draw(st.lists(mark, max_size=5, unique=True))
    lists = {}
    for system in ("s1", "s2")[: draw(st.integers(1, 2))]:
        lists[system] = {
            topic: draw(st.dictionaries(st.sampled_from([*DOCUMENTS, "x", "y"]), st.sampled_from(SCORES), max_size=8))
            for topic in draw(st.lists(st.sampled_from([*topics, "z"]), unique=True, max_size=3))
        }
        lists[system] = {topic: scores for topic, scores in lists[system].items() if scores}
    lists["s1"].setdefault(rows[0][0], {rows[0][1]: 1.0})
    return PreferenceWorld(rows, bad, {system: topics for system, topics in lists.items() if topics})
