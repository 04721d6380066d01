"""How a campaign collects its judgments: the choices of each protocol, with their defaults.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 3.2, for magnitudes; Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference
Judgments for Relevance. ECIR, sections 3.1 and 5, for preferences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, Literal, TypeVar, get_args

from qrowd.errors import ArgumentError, ScaleError
from qrowd.model.scales import Scale, parse_scale

Clock = Literal["server", "active"]
Equal = Literal["fails", "passes"]
Reason = Literal["required", "optional", "none"]
Sharing = Literal["own", "shared"]
PreferenceMeasure = Literal["wpref", "ppref"]
Utility = Literal["change", "settled", "printed"]
LaterBad = Literal["any", "unseen", "none"]

LABELS = {  # by the highest grade
    1: ("not relevant", "relevant"),
    3: ("not relevant", "marginally relevant", "relevant", "highly relevant"),
    4: ("bad", "fair", "good", "excellent", "perfect"),
}
MOST_GRADES = 101


@dataclass(frozen=True)
class MagnitudeSettings:
    """Magnitudes: a unit of documents, each given any number above 0, and two checks after the last.

    k : documents in a unit, the two check documents among them. redundancy : units that hold each document, at least.
    min_seconds : to be spent on each document, all visits together (check d). 0 asks for nothing.
    clock : whose seconds those are: the server's, or the smaller of its and the browser's ("active").
    revisions : how often a unit that failed a check may be submitted again; -1 for any number, as in the paper.
    equal : whether equal magnitudes of H and N pass or fail the order (check c).
    attempts : answers allowed to the question about the topic.
    reason : whether every judgment needs one. max_reason : its characters, at most.
    rating : whether confidence and understanding are asked for at the end.
    """

    k: int = 8
    redundancy: int = 10
    min_seconds: float = 20.0
    clock: Clock = "server"
    revisions: int = 1
    equal: Equal = "fails"
    attempts: int = 2
    reason: Reason = "required"
    max_reason: int = 2000
    rating: bool = True

    def __post_init__(self) -> None:
        _whole(self, "k", 3, why="two check documents and one more")
        _whole(self, "redundancy", 1)
        _number(self, "min_seconds", 0, 86_400)
        _whole(self, "revisions", -1, why="-1 means any number")
        _whole(self, "attempts", 1)
        _whole(self, "max_reason", 1, 100_000)
        for key, choices in (("clock", Clock), ("equal", Equal), ("reason", Reason)):
            _choice(self, key, get_args(choices))
        _switches(self, "rating")


@dataclass(frozen=True)
class GradesSettings:
    """Grades: documents one after another, each on a scale of whole grades.

    scale : `binary` or `0-N`. labels : a name for each grade, lowest first; without any, words for binary, 0-3 and
        0-4, else the numbers. guidelines : when to give each grade; none, or one per grade.
    k : documents in a unit. redundancy : assessors of each unit.
    attempts, reason, max_reason, rating : as for magnitudes.
    postpone : whether a document may be judged later. cannot_tell : whether "I can't tell" is an answer;
    max_cannot_tell : to which share of a unit.
    """

    scale: str = "0-3"
    labels: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    k: int = 20
    redundancy: int = 3
    attempts: int = 2
    reason: Reason = "optional"
    max_reason: int = 2000
    postpone: bool = True
    cannot_tell: bool = True
    max_cannot_tell: float = 0.5
    rating: bool = True

    def __post_init__(self) -> None:
        try:
            scale: Scale | None = parse_scale(str(self.scale))
        except ScaleError:
            scale = None
        if scale is None or scale.kind not in ("binary", "graded") or scale.maximum >= MOST_GRADES:
            raise ArgumentError(
                f"scale: {self.scale!r} cannot be used; write binary, or 0 to the highest grade, as 0-3"
            )
        object.__setattr__(self, "scale", str(scale))
        n = int(scale.maximum) + 1
        for key in ("labels", "guidelines"):
            _texts(self, key, n)
        if not self.labels:
            object.__setattr__(self, "labels", LABELS.get(n - 1, tuple(map(str, range(n)))))
        if len(set(self.labels)) < n or not all(map(str.strip, self.labels)):
            raise ArgumentError(f"labels: {list(self.labels)!r}; give every grade a name of its own")
        _whole(self, "k", 1)
        _whole(self, "redundancy", 1)
        _whole(self, "attempts", 1)
        _whole(self, "max_reason", 1, 100_000)
        _number(self, "max_cannot_tell", 0, 1)
        _choice(self, "reason", get_args(Reason))
        _switches(self, "postpone", "cannot_tell", "rating")

    @property
    def maximum(self) -> int:
        """The highest grade."""
        return len(self.labels) - 1


@dataclass(frozen=True)
class PreferenceSettings:
    """Preferences: two documents of a topic side by side, until their order is known well enough.

    redundancy : assessors per topic. sharing : whether each judges all of it alone ("own") or all of them together
        ("shared"); pair_redundancy : then, how many judge each pair.
    order : which pair comes next: "keep-preferred", or a name of `qrowd.preferences.scheduling.ORDERS`.
    measure, utility, later_bad : what the order and the stop rule look at; see `may_stop` and `expected_utility`.
    stop : whether to end as soon as no further judgment could change the comparison of the systems, if any are given.
    definitely, duplicates, bad : whether "definitely", "they are the same" and "Bad" are offered.
    attempts, rating : as for magnitudes.
    """

    redundancy: int = 1
    sharing: Sharing = "own"
    order: str = "keep-preferred"
    measure: PreferenceMeasure = "wpref"
    utility: Utility = "change"
    stop: bool = True
    later_bad: LaterBad = "any"
    definitely: bool = True
    duplicates: bool = False
    bad: bool = True
    attempts: int = 2
    rating: bool = True
    pair_redundancy: int = 1

    def __post_init__(self) -> None:
        if self.order != "keep-preferred":
            from qrowd.preferences.scheduling import ORDERS  # loads compiled kernels

            _choice(self, "order", ("keep-preferred", *ORDERS))
        for key, choices in (
            ("sharing", Sharing),
            ("measure", PreferenceMeasure),
            ("utility", Utility),
            ("later_bad", LaterBad),
        ):
            _choice(self, key, get_args(choices))
        for key in ("redundancy", "attempts", "pair_redundancy"):
            _whole(self, key, 1)
        _switches(self, "stop", "definitely", "duplicates", "bad", "rating")


@dataclass(frozen=True)
class JourneySettings:
    """The assessor's way through a campaign.

    consent : whether it is asked for. practice : whether three lines come before the first unit (magnitudes only);
    practice_attempts : how often they may be tried. lines : how many; 3.
    another : whether further topics may be judged after the first. max_units : at most so many, failed ones included;
    0 for no limit. restart : whether a failed unit or question may be followed by another topic.
    """

    consent: bool = True
    practice: bool = True
    practice_attempts: int = 2
    lines: int = 3
    another: bool = True
    max_units: int = 0
    restart: bool = True

    def __post_init__(self) -> None:
        _whole(self, "practice_attempts", 1)
        _whole(self, "lines", 3, 3)
        _whole(self, "max_units", 0, why="0 means no limit")
        _switches(self, "consent", "practice", "another", "restart")


Settings = MagnitudeSettings | GradesSettings | PreferenceSettings
S = TypeVar("S", bound="Settings | JourneySettings")
SETTINGS: dict[str, type[MagnitudeSettings] | type[GradesSettings] | type[PreferenceSettings]] = {
    "magnitude": MagnitudeSettings,
    "grades": GradesSettings,
    "preference": PreferenceSettings,
}


def settings_of(protocol: str, table: Mapping[str, Any]) -> Settings:
    """A protocol's settings from a table of TOML or JSON; what it does not name keeps its default.

    >>> settings_of("magnitude", {"redundancy": 5}).redundancy
    5

    Raises
    ------
    ArgumentError
        A protocol or key that does not exist, or a value that cannot be used.
    """
    if protocol not in SETTINGS:
        raise ArgumentError(f"protocol {protocol!r}: choose one of {', '.join(SETTINGS)}")
    return _read(SETTINGS[protocol], table)


def journey_of(table: Mapping[str, Any]) -> JourneySettings:
    """The settings of the assessor's way, likewise."""
    return _read(JourneySettings, table)


def to_table(settings: Settings | JourneySettings) -> dict[str, Any]:
    """All settings as a table for TOML or JSON: texts, numbers, true or false, and lists of texts.

    >>> settings_of("grades", to_table(GradesSettings(scale="binary"))) == GradesSettings(scale="binary")
    True
    """
    values = ((field.name, getattr(settings, field.name)) for field in fields(settings))
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values}


# ---- reading and checking


def _read(kind: type[S], table: Mapping[str, Any]) -> S:
    known = [field.name for field in fields(kind)]
    for key in table:
        if key not in known:
            raise ArgumentError(f"{key}: there is no such setting; choose from {', '.join(known)}")
    return kind(**table)


def _whole(settings: object, key: str, low: int, high: int | None = None, *, why: str = "") -> None:
    value = getattr(settings, key)
    if isinstance(value, bool) or not isinstance(value, int) or value < low or (high is not None and value > high):
        span = f"{low}" if low == high else f"a whole number from {low}" + ("" if high is None else f" to {high}")
        raise ArgumentError(f"{key}: {value!r} cannot be used; give {span}" + (f" ({why})" if why else ""))


def _number(settings: object, key: str, low: float, high: float) -> None:
    value = getattr(settings, key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or not low <= value <= high:
        raise ArgumentError(f"{key}: {value!r} cannot be used; give a number from {low:g} to {high:g}")
    object.__setattr__(settings, key, float(value))


def _choice(settings: object, key: str, choices: tuple[str, ...]) -> None:
    value = getattr(settings, key)
    if value not in choices:
        raise ArgumentError(f"{key}: {value!r} cannot be used; choose one of {', '.join(choices)}")


def _switches(settings: object, *keys: str) -> None:
    for key in keys:
        if not isinstance(getattr(settings, key), bool):
            raise ArgumentError(f"{key}: {getattr(settings, key)!r} cannot be used; write true or false")


def _texts(settings: object, key: str, n: int) -> None:
    value = getattr(settings, key)
    if isinstance(value, str) or not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise ArgumentError(f"{key}: {value!r} cannot be used; give a list of {n} texts, lowest grade first")
    if len(value) not in (0, n):
        raise ArgumentError(f"{key}: {len(value)} texts for {n} grades; give one for each, lowest grade first")
    object.__setattr__(settings, key, tuple(value))
