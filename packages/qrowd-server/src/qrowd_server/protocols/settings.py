"""How a campaign collects its judgments: the choices of each protocol, with their defaults.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), section 3.2, for magnitudes; Carterette, Bennett, Chickering, Dumais (2008), Here or There: Preference
Judgments for Relevance. ECIR, sections 3.1 and 5, for preferences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt, MaxLen, MinLen

from qrowd.errors import ArgumentError, MeasureError, ScaleError
from qrowd.model.scales import Scale, parse_scale
from qrowd_server.protocols.schema import SchemaError, check, read

Clock = Literal["server", "active"]
Equal = Literal["fails", "passes"]
Reason = Literal["required", "optional", "none"]
Sharing = Literal["own", "shared"]
PreferenceMeasure = Literal["wpref", "ppref"]
Utility = Literal["change", "settled", "printed"]
LaterBad = Literal["any", "unseen", "none"]
Goal = Literal["ranking", "top"]
Estimate = Literal["half", "odds", "regression"]
GradeOrder = Literal["random", "utility"]

TopicShown = Literal["full", "folded"]

AtLeastOne = Annotated[int, Ge(1)]
StopProbability = Annotated[float, Gt(0.5), Le(1)]
Asked = Annotated[str, MinLen(1), MaxLen(300)]
Characters = Annotated[int, Ge(1), Le(100_000)]

LABELS = {  # by the highest grade
    1: ("not relevant", "relevant"),
    3: ("not relevant", "marginally relevant", "relevant", "highly relevant"),
    4: ("bad", "fair", "good", "excellent", "perfect"),
}
MOST_GRADES = 101
DCG = "DCG@10"
ASK_DOCUMENT = "How relevant is this document to the topic?"
ASK_PAIR = "Which document is better?"


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
    ask : the question that is asked of every document, so that something else than relevance can be judged.
    topic : whether description and narrative stay in view while documents are judged, or are folded under a button.
    """

    k: Annotated[int, Ge(3)] = 8
    redundancy: AtLeastOne = 10
    min_seconds: Annotated[float, Ge(0), Le(86_400)] = 20.0
    clock: Clock = "server"
    revisions: Annotated[int, Ge(-1)] = 1
    equal: Equal = "fails"
    attempts: AtLeastOne = 2
    reason: Reason = "required"
    max_reason: Characters = 2000
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
    attempts, reason, max_reason, rating, ask, topic : as for magnitudes.
    postpone : whether a document may be judged later. cannot_tell : whether "I can't tell" is an answer;
    max_cannot_tell : to which share of a unit.
    order : "random", or "utility": the documents that decide the comparison of the topic's systems soonest come first.
    stop : whether to end a unit as soon as no further grade could change the comparison by this assessor's grades.
    measure : which systems are compared by, for both: one that is linear in gains. Systems rank the documents of the
        pool alone; "I can't tell" gains nothing. goal, n_best, stop_probability : when to stop; see `grades_may_stop`.
    """

    scale: str = "0-3"
    labels: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    k: AtLeastOne = 20
    redundancy: AtLeastOne = 3
    attempts: AtLeastOne = 2
    reason: Reason = "optional"
    max_reason: Characters = 2000
    postpone: bool = True
    cannot_tell: bool = True
    max_cannot_tell: Annotated[float, Ge(0), Le(1)] = 0.5
    order: GradeOrder = "random"
    stop: bool = False
    measure: str = DCG
    goal: Goal = "ranking"
    n_best: AtLeastOne = 1
    stop_probability: StopProbability = 1.0
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
        _check_goal(self)
        if self.measure != DCG:
            if not self.compares:
                raise SchemaError(("measure",), f"{self.measure!r} has no effect; write stop = true, or leave it out")
            _check_measure(self.measure, scale)

    @property
    def maximum(self) -> int:
        """The highest grade."""
        return len(self.labels) - 1

    @property
    def compares(self) -> bool:
        """Whether the order or the stop looks at the topic's systems."""
        return self.stop or self.order == "utility"


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
    measure, utility, later_bad : what the order and the stop rule look at; see `may_stop` and `expected_utility`.
    stop : whether to end as soon as no further judgment could change the comparison of the systems, if any are given.
    goal : what has to be settled by then: the order of each pair of systems ("ranking"), or which `n_best` systems are
        the best ("top"). stop_probability : 1 for proof, less for a share of random completions; see `may_stop`.
    probability : the utility's P(A over B): 1/2 ("half"), or estimated from the judgments so far by the odds of what
        each document is known to beat ("odds") or by logistic regression ("regression").
    definitely, duplicates, bad : whether "definitely", "they are the same" and "Bad" are offered.
    attempts, rating, topic : as for magnitudes. ask : the question that is asked of every pair.
    """

    redundancy: AtLeastOne = 1
    sharing: Sharing = "own"
    order: str = "utility"
    infer: bool = True
    measure: PreferenceMeasure = "wpref"
    utility: Utility = "change"
    stop: bool = True
    goal: Goal = "ranking"
    n_best: AtLeastOne = 1
    stop_probability: StopProbability = 1.0
    probability: Estimate = "odds"
    later_bad: LaterBad = "any"
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
        if self.order not in ("keep-preferred", "utility"):
            from qrowd.preferences.scheduling import ORDERS  # slow to import

            if self.order not in ORDERS:
                choices = ", ".join(("keep-preferred", *ORDERS))
                raise SchemaError(("order",), f"{self.order!r} cannot be used; choose one of {choices}")
        if self.order == "all":
            object.__setattr__(self, "infer", False)
            object.__setattr__(self, "stop", False)
        if self.sharing == "shared" and self.pair_redundancy > self.redundancy:
            counts = f"{self.pair_redundancy} assessors of each pair, but {self.redundancy} of a topic"
            raise SchemaError(("pair_redundancy",), f"{counts}; raise redundancy")
        _check_goal(self)
        if self.stop_probability < 1 and not self.infer:
            problem = f"{self.stop_probability:g} draws answers that follow chains, which infer = false does not assume"
            raise SchemaError(("stop_probability",), f"{problem}; write 1, or infer = true")
        if self.probability != "odds" and self.order not in ("utility", "settled", "printed"):
            problem = f"{self.probability!r} has no effect with order = {self.order!r}; choose utility, or leave it out"
            raise SchemaError(("probability",), problem)


def _check_goal(settings: GradesSettings | PreferenceSettings) -> None:
    """An error where an option of stopping has no effect."""
    advice = "leave it out"
    if not settings.stop:
        for key, default in (("goal", "ranking"), ("stop_probability", 1.0)):
            if (value := getattr(settings, key)) != default:
                raise SchemaError((key,), f"{value!r} has no effect without stop; write stop = true, or {advice}")
    if settings.n_best != 1 and settings.goal != "top":
        problem = f"{settings.n_best} has no effect with goal = 'ranking'; write goal = \"top\", or {advice}"
        raise SchemaError(("n_best",), problem)


def _check_measure(text: str, scale: Scale) -> None:
    """An error unless grades on the scale decide a comparison by this measure."""
    from qrowd.measures import DEFINITIONS  # slow to import
    from qrowd.measures.scoring import linear_parts
    from qrowd.model.measure import parse_measure

    try:
        linear_parts(parse_measure(text, DEFINITIONS), scale, 1)
    except MeasureError as error:
        raise SchemaError(("measure",), str(error)) from None


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
    first_every : the same until the assessor has ended a unit; 0 for as many as later.
    tolerance : grades at most so far from the one that a file names are right, too.
    feedback : whether assessors are told after each gold question if they were right, and why.
    exclude : whether somebody is excluded as soon as min_answers gold questions are answered and the answers show an
        accuracy below `accuracy`; risk : the most probability that somebody whose accuracy is not below it is ever
        excluded, however many gold questions they answer. The entry test has a pass mark by the same two numbers.
    bonus : what is paid for which accuracy, after min_answers gold questions; the highest step that was reached counts.
    """

    first: Annotated[int, Ge(0), Le(200)] = 0
    every: Annotated[int, Ge(2), Le(1000)] = 8
    first_every: Annotated[int, Ge(0), Le(1000)] = 0
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
        if self.first_every == 1:
            raise SchemaError(("first_every",), "1 leaves nothing to judge; give 2 or more, or 0 for as many as later")
        steps = [step.accuracy for step in bonus]
        if len(set(steps)) < len(steps):
            raise SchemaError(("bonus",), "an accuracy is there twice; keep one amount for each")
        object.__setattr__(self, "bonus", tuple(sorted(bonus, key=lambda step: step.accuracy)))

    def every_in(self, *, first: bool) -> int:
        """One of how many is a gold question, in an assessor's first unit or in a later one."""
        return self.first_every or self.every if first else self.every

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

    Raises
    ------
    ArgumentError
        A protocol or key that does not exist, or a value that cannot be used.
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
