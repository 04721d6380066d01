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
    chosen = list(runs.systems if systems is None else systems)
    if unknown := [name for name in chosen if name not in runs.systems]:
        raise ArgumentError(f"systems: {unknown[0]!r} is not among the runs ({', '.join(runs.systems[:3])} ...)")
    if len(chosen) < 2 or depth < 1 or least < 2:
        raise ArgumentError(f"systems={len(chosen)}, depth={depth}, least={least}: 2, 1 and 2 or more were expected")
    ranked, chance, found = runs.ranked(), Chance.of(rng), 0
    for number, topic in enumerate(preferences.topics):
        if topic not in runs.topics:
            continue
        t = runs.topics.index(topic)
        lists = []
        for name in chosen:
            s = runs.systems.index(name)
            start, length = int(ranked.starts[s, t]), min(int(ranked.lengths[s, t]), depth)
            lists.append([runs.documents[d] for d in ranked.document[start : start + length]])
        wanted = dict.fromkeys(document for documents in lists for document in documents)
        said = preferences.select(topics=[topic], documents=[d for d in preferences.documents if d in wanted])
        if not len(said):
            continue
        view = said.pooled().topic_view(0)
        if view.n_documents < least:
            continue
        place = {said.documents[d]: i for i, d in enumerate(said.pool.document.tolist())}
        rankings = [[place[d] for d in documents if d in place] for documents in lists]
        answers = Answers.of_preferences(view, rng=chance.stream("answers", number))
        found += 1
        yield Topic(answers, Systems.of(rankings, view.n_documents, names=chosen, weight=weight))
    if not found:
        raise NoOverlapError(
            f"preferences: no topic has {least} documents that were compared and stand among the first {depth} of a "
            "run; raise depth or lower least"
        )
