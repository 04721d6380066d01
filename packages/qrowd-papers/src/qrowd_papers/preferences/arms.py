"""The study of Here or There as three arms: who judged what, how long it took, and what was said afterwards.

Carterette, Bennett, Chickering & Dumais (2008), Here or There: Preference Judgments for Relevance. ECIR, section 3.
Times, feedback and use of context are simulated with medians set near those printed; what is computed from them is
computed as from a campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.reports.phrases import probability
from qrowd_papers.arms.compared_arms import ArmsReport, compare_arms
from qrowd_papers.claims import MATCH, NOT_PUBLIC, Claim, Claims
from qrowd_papers.preferences.claims import SECONDS, Study

ASSESSORS = tuple(f"Assessor {number}" for number in range(1, 7))
OVERALL = (3.70, 3.55, 2.82, 4.71, 3.17, 2.31, 3.23)  # Table 4, all interfaces
FIRST_SIGHT = {"preference": 3.89, "strong": 5.40, "absolute": 6.33}  # section 3.2
CONTEXT = 41  # times that the context was opened
PACE = {"preference": (2.65, 1.15), "strong": (2.75, 2.25), "absolute": (3.2, 3.1)}
"""Seconds of a decision, and of reading a page that is new to the assessor."""
NOISE = 0.45  # standard deviation of the logarithm of a time
SIMULATED = "simulated: paces are set near the printed medians"


def three_arms(study: Study, *, rng: Rng) -> ArmsReport:
    """The three arms of a simulated study, compared.

    Each of six assessors sees each query in one arm, two of them in each; which, rotates over the queries.
    """
    chance = Chance.of(rng)
    arms: dict[str, Judgments | Preferences] = {}
    units: dict[str, list[object]] = {
        name: [] for name in ("arm", "seconds", "looked_up", "confidence", "understanding")
    }
    two_ways = replace(study.preferred, strength=np.ones_like(study.preferred.strength))
    answers: dict[str, Judgments | Preferences]
    answers = {"preference": two_ways, "strong": study.strong, "absolute": study.graded}
    for number, (arm, judged) in enumerate(answers.items()):
        random = chance.stream(arm)
        order, new = _order(judged, random)
        topics = np.array([study.runs.topics.index(name) for name in judged.topics])
        who = (topics[judged.topic] + 2 * number + judged.assessor) % len(ASSESSORS)
        decision, reading = PACE[arm]
        pace = np.array(OVERALL[:-1]) / OVERALL[-1]
        seconds = pace[who] * (decision + reading * new) * np.exp(NOISE * random.standard_normal(who.size))
        changes: dict[str, Any] = {
            "assessors": ASSESSORS,
            "assessor": who.astype(np.int32),
            "order": order,
            "seconds": seconds,
        }
        if isinstance(judged, Preferences):
            marks = (topics[judged.bad_topic] + 2 * number + judged.bad_assessor) % len(ASSESSORS)
            arms[arm] = replace(judged, **changes, bad_assessor=marks.astype(np.int32))
        else:
            arms[arm] = replace(judged, **changes, scales=(judged.scales[0],) * len(ASSESSORS))
        for total in np.bincount(_cell(judged), seconds).tolist():
            if total:
                units["arm"].append(arm)
                units["seconds"].append(total)
                units["looked_up"].append(int(random.poisson(CONTEXT / (3 * 2 * len(judged.topics)))))
                units["confidence"].append(int(random.choice(5, p=(0.02, 0.08, 0.25, 0.4, 0.25)) + 1))
                units["understanding"].append(int(random.choice(5, p=(0.02, 0.08, 0.2, 0.4, 0.3)) + 1))
    return compare_arms(arms, units)


def _cell(judged: Judgments | Preferences) -> Ints:
    """(n,) number of the topic and assessor of a row."""
    return judged.topic.astype(np.int64) * len(judged.assessors) + judged.assessor


def _order(judged: Judgments | Preferences, random: np.random.Generator) -> tuple[Floats, Floats]:
    """(n,) when each judgment is made within its topic, and how many of its pages are then new.

    Pages come in an order drawn for each assessor. Of a pair the preferred page stays and meets the next one.
    """
    n = len(judged)
    order, new = np.zeros(n), np.ones(n)
    cell = _cell(judged)
    rows = np.argsort(cell, kind="stable")
    for part in np.split(rows, np.flatnonzero(np.diff(cell[rows])) + 1):
        if not isinstance(judged, Preferences):
            order[part] = random.permutation(part.size)
            continue
        pairs = {frozenset((int(judged.preferred[i]), int(judged.other[i]))): int(i) for i in part}
        pages = random.permutation(np.unique([judged.preferred[part], judged.other[part]]))
        for place, (row, unseen) in enumerate(_kept_first(pairs, pages, judged.preferred)):
            order[row], new[row] = place, unseen
    return order, new


def _kept_first(
    pairs: dict[frozenset[int], int], pages: NDArray[np.integer], preferred: NDArray[np.integer]
) -> Iterator[tuple[int, int]]:
    """Each row in the order of section 3.1, and how many of its two pages were not seen before."""
    left, seen, kept = dict(pairs), set[int](), -1
    sequence = pages.tolist()
    while left:
        pair = next((frozenset((kept, page)) for page in sequence if frozenset((kept, page)) in left), None)
        if pair is None:
            both = (frozenset((a, b)) for i, a in enumerate(sequence) for b in sequence[i + 1 :])
            pair = next(one for one in both if one in left)
        row = left.pop(pair)
        yield row, len(pair - seen)
        seen |= pair
        kept = int(preferred[row])


# ---------------------------------------------------------------------- claims


def times_claims(report: ArmsReport) -> Claims:
    """Table 4 and the times at first sight, beside the same from the simulated arms."""
    times = report.times
    assert times is not None
    arms = [times.arms.index(arm) for arm in SECONDS]
    claims = []
    for i, printed in enumerate(zip(*SECONDS.values(), OVERALL, strict=True)):
        ours = [float(times.median[i, arm]) for arm in (*arms, -1)]
        name = "Overall" if i == len(ASSESSORS) else ASSESSORS[i]
        claims.append(Claim("Table 4", name, printed, ours, f"{NOT_PUBLIC}; {SIMULATED}"))
    ratio = SECONDS["absolute"][-1] / SECONDS["preference"][-1]
    length = f"{'about twice' if 1.75 < ratio < 2.5 else 'not twice'} as long: {MATCH}"
    claims[-1] = replace(claims[-1], verdict=f"{NOT_PUBLIC}; {length}")
    first = [float(times.first_sight[-1, arm]) for arm in (*arms, -1)]
    claims.append(Claim("3.2", "at first sight", [*FIRST_SIGHT.values(), np.nan], first, f"{NOT_PUBLIC}; {SIMULATED}"))
    names = [*SECONDS, "all"]
    header = ["Table 4", *(f"{name}, printed" for name in names), *(f"{name}, simulated" for name in names)]
    return Claims("Table 4: median seconds per judgment by assessor and interface", header, claims)


def feedback_claims(report: ArmsReport) -> Claims:
    """What section 3.2 says of feedback and of the use of the context."""
    feedback, context = report.feedback, report.context
    assert feedback is not None
    assert context is not None
    claims = []
    for arm, question, median, p in zip(
        feedback.arms, feedback.questions, feedback.median.tolist(), feedback.p.tolist(), strict=True
    ):
        if arm == "all":
            claims.append(Claim("3.2", f"median {question}", "4", f"{median:g}", f"{NOT_PUBLIC}; simulated"))
            if question == "confidence":
                what = "p of the correlation of confidence with time"
                claims.append(Claim("3.2", what, "not significant", probability(p), f"{NOT_PUBLIC}; simulated"))
    n = f"{context.times.sum():,}"
    claims.append(Claim("3.2", "times that the context was opened", str(CONTEXT), n, f"{NOT_PUBLIC}; simulated"))
    what = "p of the use of the context by interface"
    claims.append(Claim("3.2", what, "no correlation", probability(context.p), f"{NOT_PUBLIC}; simulated"))
    return Claims("section 3.2: feedback and context", ["section 3.2", "printed", "simulated"], claims)
