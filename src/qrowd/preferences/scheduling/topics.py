"""Real topics to replay: the first documents of some systems, and what was said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.chance import Chance, Rng
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.preferences.scheduling.answers import Answers, Topic
from qrowd.preferences.scheduling.systems import Systems, Weight


def real_topics(
    preferences: Preferences,
    runs: Runs,
    *,
    systems: Sequence[str] | None = None,
    depth: int = 5,
    least: int = 3,
    weight: Weight = "none",
    rng: Rng = None,
) -> Iterator[Topic]:
    """Every topic with at least `least` documents that were compared and that a system ranks among its first `depth`.

    preferences : all assessors are taken as one; what nobody was asked is filled in (see `Answers.of_preferences`).
    systems : which to compare; all by default. weight : as in `Systems`.

    Raises
    ------
    ArgumentError
        A system that the runs do not have, or fewer than two.
    NoOverlapError
        No topic has as many such documents.
    """
    names = list(runs.systems if systems is None else systems)
    if unknown := [name for name in names if name not in runs.systems]:
        raise ArgumentError(f"systems: {unknown[0]!r} is not among the runs ({', '.join(runs.systems[:3])} ...)")
    if len(names) < 2 or depth < 1 or least < 2:
        raise ArgumentError(f"systems={len(names)}, depth={depth}, least={least}: 2, 1 and 2 or more were expected")
    ranked, chance, n_topics = runs.ranked(), Chance.of(rng), 0
    for number, topic in enumerate(preferences.topics):
        if topic not in runs.topics:
            continue
        t = runs.topics.index(topic)
        lists = []
        for name in names:
            s = runs.systems.index(name)
            start, length = int(ranked.starts[s, t]), min(int(ranked.lengths[s, t]), depth)
            lists.append([runs.documents[d] for d in ranked.document[start : start + length]])
        pooled = dict.fromkeys(document for documents in lists for document in documents)
        own = preferences.select(topics=[topic], documents=[d for d in preferences.documents if d in pooled])
        if not len(own):
            continue
        view = own.pooled().topic_view(0)
        if view.n_documents < least:
            continue
        place = {own.documents[d]: i for i, d in enumerate(own.pool.document.tolist())}
        rankings = [[place[d] for d in documents if d in place] for documents in lists]
        answers = Answers.of_preferences(view, rng=chance.stream("answers", number))
        n_topics += 1
        yield Topic(answers, Systems.of(rankings, view.n_documents, names=names, weight=weight))
    if not n_topics:
        raise NoOverlapError(
            f"preferences: no topic has {least} documents that were compared and stand among the first {depth} of a "
            "run; raise depth or lower least"
        )
