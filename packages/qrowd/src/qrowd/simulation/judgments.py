"""What a panel of assessors says about a pool."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.simulation.arguments import share
from qrowd.simulation.assessors import Behaviour
from qrowd.simulation.records import CAMPAIGN_SECONDS, clock, comments, seconds_spent
from qrowd.simulation.truth import Truth

RECORDABLE = ("order", "seconds", "time", "comment")


def simulate_judgments(
    truth: Truth,
    assessors: Mapping[str, Behaviour],
    *,
    coverage: float | Mapping[str, float] = 1.0,
    repeat_share: float | Mapping[str, float] = 0.0,
    record: Collection[str] = (),
    rng: Rng,
) -> Judgments:
    """The judgments of assessors whose behaviour is known, on the scale each behaviour declares.

    Parameters
    ----------
    assessors : {name: behaviour}. Each draws from a stream of their own, found by name: nobody's judgments depend on
        who else takes part or in what order.
    coverage : share of every topic's pool that an assessor judges, drawn at random, at least one document; for
        everyone, or by name (whoever is not named judges all). A behaviour's own gaps come on top.
    repeat_share : share of their judgments that an assessor gives once more at the end, looking anew; for everyone, or
        by name (whoever is not named repeats nothing).
    record : any of "order" (1, 2, ... over all assessors, as the judgments came in), "seconds", "time" (ISO 8601) and
        "comment". An assessor works through the topics, and through each topic's documents, in random order.

    Rows stand assessor by assessor, in the order each worked.

    >>> from qrowd.simulation import Lenient, Spammer, simulate_pool
    >>> truth = simulate_pool(10, 40, rng=1)
    >>> simulate_judgments(truth, {"ann": Lenient(noise=0.2), "bob": Spammer(0)}, coverage={"bob": 0.5}, rng=1)
    Judgments(600 judgments: 10 topics, 400 documents, 2 assessors)
    """
    unknown = [name for name in record if name not in RECORDABLE]
    if unknown:
        raise ArgumentError(f"choose from {', '.join(RECORDABLE)}", "record", unknown[0])
    coverage_of = _by_name("coverage", coverage, assessors, default=1.0)
    repeat_share_of = _by_name("repeat_share", repeat_share, assessors, default=0.0)
    chance = Chance.of(rng)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in ("pair", "who", "value", "elapsed", *RECORDABLE)}
    scales = {name: behaviour.scale(truth) for name, behaviour in assessors.items()}
    for number, (name, behaviour) in enumerate(assessors.items()):
        # A stream for each purpose, so that asking for more judgments or records does not change the values.
        first_look, second_look, work = (chance.stream(name, purpose) for purpose in range(3))
        first = behaviour.judge(truth, rng=first_look)
        pair = _covered(truth, coverage_of[name], work)
        pair = pair[~np.isnan(first[pair])]
        value = first[pair]
        if repeat_share_of[name]:
            second = behaviour.judge(truth, rng=second_look)
            more = work.permutation(pair)[: round(repeat_share_of[name] * pair.size)]
            more = more[~np.isnan(second[more])]
            pair, value = np.append(pair, more), np.append(value, second[more])
        spent = seconds_spent(pair.size, work)
        parts["pair"].append(pair)
        parts["who"].append(np.full(pair.size, number, np.int32))
        parts["value"].append(value)
        parts["seconds"].append(spent)
        parts["elapsed"].append(work.uniform(0, CAMPAIGN_SECONDS) + np.cumsum(spent))
        if "comment" in record:
            top = scales[name].maximum
            level = value / top if np.isfinite(top) else truth.grade[pair] / (truth.n_grades - 1)
            parts["comment"].append(comments(level, work))
    if not assessors:
        raise ArgumentError("assessors={}: at least one needed")
    column = {name: np.concatenate(arrays) for name, arrays in parts.items() if arrays}
    optional: dict[str, Any] = {name: column[name] for name in ("seconds", "comment") if name in record}
    if "order" in record:
        place = np.empty(column["elapsed"].size)
        place[np.argsort(column["elapsed"], kind="stable")] = np.arange(1, place.size + 1)
        optional["order"] = place
    if "time" in record:
        optional["time"] = clock(column["elapsed"])
    return Judgments.from_codes(
        truth.pool.topics,
        truth.pool.documents,
        tuple(assessors),
        truth.topic[column["pair"]],
        truth.pool.document[column["pair"]],
        column["who"],
        column["value"],
        scales=scales,
        **optional,
    ).select()  # leaves out the labels of documents that nobody judged


def _by_name(
    argument: str, shares: float | Mapping[str, float], assessors: Collection[str], default: float
) -> dict[str, float]:
    """{assessor: share} from one share for all, or from shares by name."""
    if not isinstance(shares, Mapping):
        return dict.fromkeys(assessors, share(argument, shares))
    for name in shares:
        if name not in assessors:
            raise ArgumentError(f"{argument}={{{name!r}: ...}}: the assessors are {', '.join(assessors)}")
    return {name: share(argument, shares.get(name, default)) for name in assessors}


def _covered(truth: Truth, coverage: float, random: np.random.Generator) -> NDArray[np.int64]:
    """Pairs an assessor judges, in the order of work: topic after topic, each in random order."""
    lots = random.random(truth.topic.size)
    turn = random.permutation(len(truth.pool.topics))[truth.topic]
    shuffled = np.lexsort((lots, turn))
    sizes = np.diff(truth.pool.starts)
    sizes_judged = np.maximum(np.round(coverage * sizes), 1) if coverage else np.zeros(sizes.size)
    topic = truth.topic[shuffled]
    begins = np.flatnonzero(np.append(True, topic[1:] != topic[:-1]))
    place = np.arange(topic.size) - np.repeat(begins, np.diff(np.append(begins, topic.size)))
    return shuffled[place < sizes_judged[topic]]
