"""How a campaign collects its judgments: the choices of each protocol, with their defaults.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 3.2, for magnitudes; Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference
Judgments for Relevance. ECIR, sections 3.1 and 5, for preferences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen

from qrowd.errors import ArgumentError, ScaleError
from qrowd.model.scales import Scale, parse_scale
from qrowd_server.protocols.setting_fields import SchemaError, check, read

Reason = Literal["required", "optional", "none"]
Sharing = Literal["own", "shared"]
PreferenceMeasure = Literal["wpref", "ppref"]
PairOrder = Literal[  # and the names of `qrowd.preferences.scheduling.ORDERS`
    "keep-preferred", "all", "kept", "random", "merge", "insertion", "utility", "settled", "printed", "top"
]

TopicShown = Literal["full", "folded"]

AtLeastOne = Annotated[int, Ge(1)]
Asked = Annotated[str, MinLen(1), MaxLen(300)]

LABELS = {  # by the highest grade
    1: ("not relevant", "relevant"),
    3: ("not relevant", "marginally relevant", "relevant", "highly relevant"),
    4: ("bad", "fair", "good", "excellent", "perfect"),
}
MOST_GRADES = 101
ASK_DOCUMENT = "How relevant is this document to the topic?"
ASK_PAIR = "Which document is better?"


@dataclass(frozen=True)
class MagnitudeSettings:
    """Magnitudes: a unit of documents, each given any number above 0, and two checks after the last.

    k : documents in a unit, the two check documents among them. redundancy : units that hold each document, at least.
    min_seconds : to be spent on each document by the server's clock, all visits together (check d). 0 asks for nothing.
    revisions : how often a unit that failed a check may be submitted again; -1 for any number, as in the paper.
    attempts : answers allowed to the question about the topic.
    reason : whether every judgment needs one.
    rating : whether confidence and understanding are asked for at the end.
    ask : the question that is asked of every document, so that something else than relevance can be judged.
    topic : whether description and narrative stay in view while documents are judged, or are folded under a button.
    """

    k: Annotated[int, Ge(3)] = 8
    redundancy: AtLeastOne = 10
    min_seconds: Annotated[float, Ge(0), Le(86_400)] = 20.0
    revisions: Annotated[int, Ge(-1)] = 1
    attempts: AtLeastOne = 2
    reason: Reason = "required"
    rating: bool = True
    ask: Asked = ASK_DOCUMENT
    topic: TopicShown = "folded"

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class GradesSettings:
    """Grades: documents one after another, each on a scale of whole grades.

    scale : `binary` or `0-N`. labels : a name for each grade, lowest first; without any, words for binary, 0-3 and
        0-4, else the numbers. guidelines : when to give each grade; none, or one per grade.
    k : documents in a unit. redundancy : assessors of each unit.
    attempts, reason, rating, ask, topic : as for magnitudes.
    postpone : whether a document may be judged later. cannot_tell : whether "I can't tell" is an answer;
    max_cannot_tell : to which share of a unit.
    """

    scale: str = "0-3"
    labels: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    k: AtLeastOne = 20
    redundancy: AtLeastOne = 3
    attempts: AtLeastOne = 2
    reason: Reason = "optional"
    postpone: bool = True
    cannot_tell: bool = True
    max_cannot_tell: Annotated[float, Ge(0), Le(1)] = 0.5
    rating: bool = True
    ask: Asked = ASK_DOCUMENT
    topic: TopicShown = "folded"

    def __post_init__(self) -> None:
        check(self)
        try:
            scale: Scale | None = parse_scale(self.scale)
        except ScaleError:
            scale = None
        if scale is None or scale.kind not in ("binary", "graded") or scale.maximum >= MOST_GRADES:
            problem = f"{self.scale!r} cannot be used; write binary, or 0 to the highest grade, as 0-3"
            raise SchemaError(("scale",), problem)
        object.__setattr__(self, "scale", str(scale))
        n = int(scale.maximum) + 1
        for key in ("labels", "guidelines"):
            if len(getattr(self, key)) not in (0, n):
                problem = f"{len(getattr(self, key))} texts for {n} grades; give one for each, lowest grade first"
                raise SchemaError((key,), problem)
        if not self.labels:
            object.__setattr__(self, "labels", LABELS.get(n - 1, tuple(map(str, range(n)))))
        if len(set(self.labels)) < n or not all(map(str.strip, self.labels)):
            raise SchemaError(("labels",), f"{list(self.labels)!r}; give every grade a name of its own")

    @property
    def maximum(self) -> int:
        """The highest grade."""
        return len(self.labels) - 1


@dataclass(frozen=True)
class PreferenceSettings:
    """Preferences: two documents of a topic side by side, until their order is known well enough.

    redundancy : assessors per topic. sharing : whether each judges all of it alone ("own") or all of them together
        ("shared"); pair_redundancy : then, how many judge each pair.
    order : which pair comes next: "keep-preferred", or a name of `qrowd.preferences.scheduling.ORDERS`. "utility",
        "settled" and "printed" compare systems; where a topic has fewer than two, they are "keep-preferred". "all" is
        "keep-preferred" without `infer` and `stop`, so that every pair is asked.
    infer : whether chains of preferences and Bad marks count as answers, so that their pairs are not asked. Without,
        only what was asked is known; pairs with a Bad document are left out.
    measure : by which systems are compared, for the order and for the stop.
    stop : whether to end as soon as no further judgment could change the comparison of the systems, if any are given.
    definitely, duplicates, bad : whether "definitely", "they are the same" and "Bad" are offered.
    attempts, rating, topic : as for magnitudes. ask : the question that is asked of every pair.
    """

    redundancy: AtLeastOne = 1
    sharing: Sharing = "own"
    order: PairOrder = "utility"
    infer: bool = True
    measure: PreferenceMeasure = "wpref"
    stop: bool = True
    definitely: bool = True
    duplicates: bool = False
    bad: bool = True
    attempts: AtLeastOne = 2
    rating: bool = True
    pair_redundancy: AtLeastOne = 1
    ask: Asked = ASK_PAIR
    topic: TopicShown = "folded"

    def __post_init__(self) -> None:
        check(self)
        if self.order == "all":
            object.__setattr__(self, "infer", False)
            object.__setattr__(self, "stop", False)
        if self.sharing == "shared" and self.pair_redundancy > self.redundancy:
            counts = f"{self.pair_redundancy} assessors of each pair, but {self.redundancy} of a topic"
            raise SchemaError(("pair_redundancy",), f"{counts}; raise redundancy")


@dataclass(frozen=True)
class BonusStep:
    """A step of a bonus: from this accuracy on, the amount is paid, in the owner's currency."""

    accuracy: Annotated[float, Ge(0), Le(1)]
    amount: Annotated[float, Ge(0), Le(1e6)]

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class GoldSettings:
    """Gold questions: documents and pairs whose answer is known, mixed among those that are judged.

    first : so many gold questions come before all else that an assessor is asked: the entry test. Where a topic has
        fewer, the rest come first in the assessor's next unit.
    every : then, one of so many documents or pairs is a gold question, as long as the topic has some not asked yet.
    tolerance : grades at most so far from the one that a file names are right, too.
    feedback : whether assessors are told after each gold question if they were right, and why.
    exclude : whether somebody is excluded as soon as min_answers gold questions are answered and the answers show an
        accuracy below `accuracy`; risk : the most probability that somebody whose accuracy is not below it is ever
        excluded, however many gold questions they answer. The entry test has a pass mark by the same two numbers.
    bonus : what is paid for which accuracy, after min_answers gold questions; the highest step that was reached counts.
    """

    first: Annotated[int, Ge(0), Le(200)] = 0
    every: Annotated[int, Ge(2), Le(1000)] = 8
    tolerance: Annotated[int, Ge(0), Le(100)] = 0
    feedback: bool = False
    exclude: bool = False
    min_answers: AtLeastOne = 5
    accuracy: Annotated[float, Gt(0), Lt(1)] = 0.8
    risk: Annotated[float, Gt(0), Le(0.5)] = 0.05
    bonus: tuple[BonusStep, ...] = ()

    def __post_init__(self) -> None:
        bonus = tuple(self.bonus)  # whose steps have been checked when they were made
        object.__setattr__(self, "bonus", ())
        check(self)
        steps = [step.accuracy for step in bonus]
        if len(set(steps)) < len(steps):
            raise SchemaError(("bonus",), "an accuracy is there twice; keep one amount for each")
        object.__setattr__(self, "bonus", tuple(sorted(bonus, key=lambda step: step.accuracy)))

    @property
    def rule(self) -> dict[str, Any]:
        """By what somebody is excluded: arguments of `gold.is_below`."""
        return {name: getattr(self, name) for name in ("min_answers", "accuracy", "risk", "first")}

    def bonus_of(self, n_answers: int, accuracy: float | None) -> float:
        """What is paid for an accuracy over so many gold questions."""
        if accuracy is None or n_answers < self.min_answers:
            return 0.0
        return max((step.amount for step in self.bonus if accuracy >= step.accuracy - 1e-12), default=0.0)


@dataclass(frozen=True)
class JourneySettings:
    """The assessor's way through a campaign.

    consent : whether it is asked for. practice : whether three lines come before the first unit (magnitudes only);
    practice_attempts : how often they may be tried. practice_each_unit : whether they come before every unit.
    practice_restart : whether somebody who failed the last attempt may begin again, with other lines and another topic.
    another : whether further topics may be judged after the first. max_units : at most so many, failed ones included;
    0 for no limit. restart : whether a failed unit or question may be followed by another topic.
    ask_organisers : whether assessors may send the organisers a question about a document or a pair.
    """

    consent: bool = True
    practice: bool = True
    practice_attempts: AtLeastOne = 2
    another: bool = True
    max_units: Annotated[int, Ge(0)] = 0
    restart: bool = True
    practice_each_unit: bool = False
    practice_restart: bool = False
    ask_organisers: bool = False

    def __post_init__(self) -> None:
        check(self)


Settings = MagnitudeSettings | GradesSettings | PreferenceSettings
SETTINGS: dict[str, type[MagnitudeSettings] | type[GradesSettings] | type[PreferenceSettings]] = {
    "magnitude": MagnitudeSettings,
    "grades": GradesSettings,
    "preference": PreferenceSettings,
}


def settings_of(protocol: str, table: Mapping[str, Any]) -> Settings:
    """A protocol's settings from a table of TOML or JSON; what it does not name keeps its default.

    >>> settings_of("magnitude", {"redundancy": 5}).redundancy
    5
    """
    if protocol not in SETTINGS:
        raise ArgumentError(f"protocol {protocol!r}: choose one of {', '.join(SETTINGS)}")
    return read(SETTINGS[protocol], table)


def settings_for_models(settings: Settings) -> Settings:
    """The settings as language models get them: without what says something of people only.

    The seconds of a model are its latency, so none are asked for; its rating of itself afterwards is not asked for.
    """
    further: dict[str, Any] = {"min_seconds": 0.0} if isinstance(settings, MagnitudeSettings) else {}
    return replace(settings, rating=False, **further)


def protocol_of(settings: Settings) -> str:
    """The name of the protocol whose settings these are.

    >>> protocol_of(GradesSettings())
    'grades'
    """
    return next(name for name, kind in SETTINGS.items() if isinstance(settings, kind))


def journey_of(table: Mapping[str, Any]) -> JourneySettings:
    """The settings of the assessor's way, likewise."""
    return read(JourneySettings, table)


def to_table(settings: Settings | JourneySettings) -> dict[str, Any]:
    """All settings as a table for TOML or JSON: texts, numbers, true or false, and lists of texts.

    >>> settings_of("grades", to_table(GradesSettings(scale="binary"))) == GradesSettings(scale="binary")
    True
    """
    values = ((field.name, getattr(settings, field.name)) for field in fields(settings))
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values}


Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Preset:
    """The protocol of a paper: its name, and its settings by table and key as in `campaign.toml`."""

    protocol: str
    tables: Tables


# Maddalena, Mizzaro, Scholer & Turpin (2017), section 3.2 and Appendix A. Each value has its section; "-" is not said.
PRESETS: Mapping[str, Preset] = {
    "maddalena2017": Preset(
        "magnitude",
        {
            "journey": {
                "consent": True,  # 3.2.1 participants agree to take part before anything is shown
                "practice": True,  # 3.2.1 magnitudes of three lines, longer lines higher
                "practice_attempts": 1,  # 3.2.5 (a) a failed practice ends the attempt
                "practice_restart": True,  # 3.2.5 who failed may begin again from the start
                "practice_each_unit": True,  # 3.2.5 every unit begins with the same checks
                "restart": True,  # 3.2.5 after a failure the next unit is of another topic
                "another": True,  # 3.2.2 further units, each of another topic
                "max_units": 18,  # 3.2.2 at most 18 units for each participant
                "ask_organisers": False,  # -
            },
            "campaign": {
                "questions": True,  # 3.2.2 a question about each topic, with four answers
                "checks": True,  # 3.2.4 two documents, H and N of the topic, in each unit
            },
            "magnitude": {
                "attempts": 1,  # 3.2.5 (b) a wrong answer to the question ends the unit
                "k": 8,  # 3.2 eight documents in a unit
                "redundancy": 10,  # 3.2.4 at least 10 magnitudes of each document
                "min_seconds": 20.0,  # 3.2.5 (d) at least 20 seconds on each document
                "revisions": -1,  # 3.2.5 a unit that failed (c) or (d) may be revised without limit
                "reason": "required",  # 3.2.2 a brief reason for each magnitude
                "rating": False,  # 3.2.2 the unit ends with the last document
                "ask": ASK_DOCUMENT,  # 3.2.2 relevance is judged
                "topic": "full",  # 3.2.2 title, description and narrative at the top of the screen
            },
        },
    )
}


def preset_of(name: Any) -> Preset:
    """A preset by its name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise SchemaError(("campaign", "preset"), f"{name!r} cannot be used; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]


def with_preset(table: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a campaign with the settings of its preset, if it names one, where it has none of its own.

    In a campaign with arms, those of the preset's protocol get its settings.
    """
    head = table.get("campaign")
    if not isinstance(head, Mapping) or not head.get("preset"):
        return dict(table)
    preset = preset_of(head["preset"])
    filled, arms = dict(table), table.get("arms")
    for name, settings in preset.tables.items():
        if name == preset.protocol and isinstance(arms, Mapping) and arms:
            filled["arms"] = {arm: _with_settings(own, name, settings) for arm, own in arms.items()}
        else:
            filled = _with_settings(filled, name, settings, always=True)
    return filled


def _with_settings(tables: Any, name: str, settings: Mapping[str, Any], *, always: bool = False) -> Any:
    """Tables of which the one of that name has further settings. always : also where it is missing."""
    own = tables.get(name) if isinstance(tables, Mapping) else None
    if isinstance(own, Mapping):
        return {**tables, name: {**settings, **own}}
    return {**tables, name: dict(settings)} if own is None and always else tables


def overrides(name: str, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """(table.key, value of the campaign, value of the preset) of the settings for which these differ."""
    for table, settings in PRESETS[name].tables.items():
        for key, value in settings.items():
            if (other := tables.get(table, {}).get(key, value)) != value:
                yield f"{table}.{key}", other, value
