"""How well a campaign is judged: one row per assessor, how far they agree, and how accurate they are on gold questions.

The figures are those of `qrowd agree` and `qrowd assessors` with `--campaign`, of the same judgments, and of
`qrowd.preferences`; what an assessor did besides (steps back, failed checks, lost units) comes from the tables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection

from qrowd.agreement.alpha import Alpha, Alphas, krippendorff_alpha
from qrowd.agreement.assessor_profiles import assessor_profiles
from qrowd.errors import NoOverlapError, ScaleError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd_server.campaigns.results.campaign_progress import states_of
from qrowd_server.campaigns.running import collected
from qrowd_server.campaigns.running.campaign_settings import find_arms, only_arm, read_settings
from qrowd_server.protocols import PREFERENCE, journey
from qrowd_server.protocols.settings import GoldSettings
from qrowd_server.store import progress_counts as counts
from qrowd_server.store.answer_rows import gold_answers_by_assessor
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.schema import MODEL, PERSON
from qrowd_server.store.state_rows import AssessorRow

REPLICATES = 1000  # for the interval of alpha
CELLS = 200_000_000  # replicates times judgments, at most
CONFIDENCE = 0.95  # of intervals of an accuracy

T = TypeVar("T")
Profiles = dict[str, dict[str, Any]]  # some columns of assessors, by name


@dataclass(frozen=True)
class Accuracy:
    """The answers of one assessor to gold questions.

    n, n_right : answers that are right or wrong ("cannot tell" is neither), and those that are right.
    low, high : the exact (Clopper-Pearson) 95 % interval of the accuracy. bonus : what it pays.
    """

    n: int
    n_right: int
    low: float
    high: float
    bonus: float

    @property
    def value(self) -> float:
        """The share that is right."""
        return self.n_right / self.n


def accuracy_of(n: int, n_right: int, settings: GoldSettings) -> Accuracy:
    """The accuracy after n answers, at least one.

    Clopper & Pearson (1934), The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial.
    Biometrika 26(4), 404-413.

    >>> accuracy = accuracy_of(10, 9, GoldSettings())
    >>> accuracy.value, round(accuracy.low, 3), round(accuracy.high, 4)
    (0.9, 0.555, 0.9975)
    """
    from scipy.special import betaincinv  # slow to import

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(n_right, n - n_right + 1, tail)) if n_right else 0.0
    high = float(betaincinv(n_right + 1, n - n_right, 1 - tail)) if n_right < n else 1.0
    return Accuracy(n, n_right, low, high, settings.bonus_of(n, n_right / n))


def accuracies(
    connection: Connection, campaign_id: int, settings: GoldSettings | None, arm: str | None = None
) -> dict[int, Accuracy]:
    """{assessor: accuracy} of those who answered a gold question. arm : only there; None for all."""
    if settings is None:
        return {}
    answers = gold_answers_by_assessor(connection, campaign_id, arm)
    return {
        number: accuracy_of(len(own), sum(one.is_right for one in own), settings) for number, own in answers.items()
    }


@dataclass(frozen=True)
class AssessorQuality:
    """One assessor.

    id, provider, excluded : as in the table; seen : the time. status : see `journey.state_of`.
    name : of a model; of a person
    the pseudonym, or the name where names are asked for.
    completed, failed, screened_out, lost, open : units; lost are those that expired or were withdrawn.
    answers : judgments, or preferences and Bad marks, given, also those that do not count; "cannot tell" is none.
    unanswered : replies of a model without one, in words.
    seconds : median of the judgments that count, see `AssessorProfiles`; where there are none of theirs, of all
        answers. None without an answer.
    backs : steps back to an earlier document, or preferences undone. fails : submissions that failed a check.
    practice : how often the practice was done, None where there is none.
    agreement : with the others. Judgments: beyond chance, 1 for complete agreement, see `AssessorProfiles`.
        Preferences: share of pairs ordered as another did. None where nobody else judged the same.
    severity : see `AssessorProfiles`; None for preferences. reasons : what makes them stand out, "" for nothing.
    accuracy : on gold questions of the arm; None where none was answered.
    """

    id: int
    name: str
    provider: str
    status: str
    excluded: str | None
    seen: float
    completed: int
    failed: int
    screened_out: int
    lost: int
    open: int
    answers: int
    seconds: float | None
    backs: int
    fails: int
    practice: int | None
    agreement: float | None = None
    severity: float | None = None
    reasons: str = ""
    unanswered: str = ""
    accuracy: Accuracy | None = None

    @property
    def kind(self) -> str:
        """Person or model."""
        return MODEL if self.provider == MODEL else PERSON


@dataclass(frozen=True)
class Quality:
    """The assessors of a campaign, or of one of its arms, in the order they came, and their agreement.

    alpha, by_topic : Krippendorff's, of judgments that count; None for preferences, and where no two assessors judged
        the same document. pairs_alike : share of pairs that two assessors ordered alike, each two judgments counting
        once; None for judgments. why_not : why there is no agreement to tell, "" where there is.
        has_gold : whether there are gold questions. at : when that was so.
    """

    campaign: str
    protocol: str
    assessors: tuple[AssessorQuality, ...]
    alpha: Alpha | None
    by_topic: Alphas | None
    pairs_alike: float | None
    why_not: str = ""
    arm: str = ""
    has_gold: bool = False
    at: float = 0.0


def quality(
    connection: Connection,
    name: str,
    at: float = 0.0,
    *,
    bootstrap: int = REPLICATES,
    rng: int = 1,
    names: bool = False,
) -> Quality:
    """How well a campaign is judged so far. It reads every answer: seconds, where there are a million.

    name : of the campaign, or CAMPAIGN/ARM. at : now, for the state of models.
    bootstrap : replicates for the interval of alpha; fewer where there are very many judgments, 0 for no interval.
    names : people by name, not by pseudonym.
    """
    row, arms = find_arms(connection, name)
    arm = only_arm(row.name, arms)
    protocol = arms[arm]
    further: dict[str, Any] = {"arm": arm, "has_gold": read_settings(row).gold is not None, "at": at}
    if protocol == PREFERENCE:
        profiles, pairs_alike, why_not = _alike(collected.preferences(connection, name, names=names))
        rows = _rows(connection, row, arm, profiles, at, names=names)
        return Quality(row.name, protocol, rows, None, None, pairs_alike, why_not, **further)
    judgments = collected.judgments(connection, name, names=names, final=False)
    rows = _rows(connection, row, arm, _profiles(judgments), at, names=names)
    replicates = min(bootstrap, CELLS // max(len(judgments.value), 1))
    alpha, why_not = _or_reason(lambda: krippendorff_alpha(judgments, n_resamples=replicates, rng=rng).item())
    by_topic, _ = _or_reason(lambda: krippendorff_alpha(judgments, by="topic"))
    return Quality(row.name, protocol, rows, alpha, by_topic, None, why_not, **further)


def _or_reason(compute: Callable[[], T]) -> tuple[T | None, str]:
    """A number, or why there is none; a campaign decides who judges, so that advice to assessors is left out."""
    try:
        return compute(), ""
    except (NoOverlapError, ScaleError) as error:
        return None, str(error).partition(";")[0]


# ---- agreement


def _profiles(judgments: Judgments) -> Profiles:
    profiles, _ = _or_reason(lambda: assessor_profiles(judgments))
    if profiles is None:
        return {}
    return {
        name: {
            "agreement": _number(profiles.agreement[i]),
            "severity": _number(profiles.severity[i]),
            "seconds": _number(profiles.seconds[i]),
            "reasons": "; ".join(profiles.reasons[i]),
        }
        for i, name in enumerate(profiles.assessors)
    }


def _alike(preferences: Preferences) -> tuple[Profiles, float | None, str]:
    """By assessor the share of pairs ordered as another did, weighted by pairs; of all; and why there is none."""
    from qrowd.preferences.preference_agreement import pairwise_preferences  # slow to import

    pairs, why_not = _or_reason(lambda: pairwise_preferences(preferences))
    if pairs is None:
        return {}, None, why_not
    n = pairs.n.astype(np.float64)
    np.fill_diagonal(n, 0)
    alike, of = np.nansum(np.where(n > 0, pairs.agreement, 0.0) * n, axis=1), n.sum(axis=1)
    shares = zip(pairs.assessors, alike, of, strict=True)
    return {name: {"agreement": float(a / b)} for name, a, b in shares if b}, _number(pairs.mean_agreement), ""


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


# ---- what they did


def _rows(
    connection: Connection,
    campaign: CampaignRow,
    arm: str,
    profiles: Profiles,
    at: float,
    *,
    names: bool,
) -> tuple[AssessorQuality, ...]:
    campaign_id = campaign.id
    unanswered = collected.unanswered(connection, campaign_id)
    of_gold = accuracies(connection, campaign_id, read_settings(campaign).gold, arm)
    units: defaultdict[int, Counter[str]] = defaultdict(Counter)  # by status, and what was done in them
    for unit in counts.assignment_totals(connection, campaign_id):
        if unit["arm"] == arm:
            units[unit["assessor_id"]] += Counter(
                {unit["status"]: 1, "backs": unit["backs"], "fails": unit.get("fails", 0)}
            )
    seconds: defaultdict[int, list[float]] = defaultdict(list)
    for who, took in counts.answer_seconds(connection, campaign_id, arm):
        seconds[who].append(took)
    rows = []
    for row, status in states_of(connection, campaign, at):
        own, times, name = units[row.id], seconds[row.id], row.name if names else row.label
        profile = {"seconds": median(times) if times else None, **profiles.get(name, {})}
        rows.append(
            AssessorQuality(
                id=row.id,
                name=name,
                provider=row.provider,
                status=status,
                excluded=row.excluded,
                seen=row.updated,
                completed=own["completed"],
                failed=own["failed"],
                screened_out=own["screened_out"],
                lost=own["expired"] + own["withdrawn"],
                open=own["open"],
                answers=len(times),
                backs=own["backs"],
                fails=own["fails"],
                practice=_practice(row),
                accuracy=of_gold.get(row.id),
                unanswered=unanswered.get(row.name, ""),
                **profile,
            )
        )
    return tuple(rows)


def _practice(row: AssessorRow) -> int | None:
    state = journey.from_json(row.state)
    return state.practices if state.lines else None
