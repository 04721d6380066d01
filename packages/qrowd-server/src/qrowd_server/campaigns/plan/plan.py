"""What a campaign is created from: its topics, documents and settings, checked as a whole.

Everything that could not work is refused here, before anything is written: nobody should meet it while judging.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from qrowd.model.labels import plural
from qrowd_server.campaigns.plan.documents import (
    LANGUAGE,
    MAX_IMAGES,
    UNFIT,
    DocumentPlan,
    Problems,
    document_problems,
    in_short,
    text_problems,
)
from qrowd_server.campaigns.plan.gold_questions import GoldQuestion, gold_problems
from qrowd_server.campaigns.plan.guidelines import guidelines_problems
from qrowd_server.campaigns.plan.panel_links import PanelTable
from qrowd_server.campaigns.plan.question_settings import QuestionSettings, question_problems, settings_with_question
from qrowd_server.protocols.instructions import PRACTICE, magnitude_instructions
from qrowd_server.protocols.protocol import Question
from qrowd_server.protocols.setting_fields import SchemaError, Where
from qrowd_server.protocols.settings import (
    GoldSettings,
    GradesSettings,
    JourneySettings,
    MagnitudeSettings,
    PreferenceSettings,
    Settings,
    preset_of,
    protocol_of,
)

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
BLANK = re.compile(r"[\s\x00-\x1f\x7f]")

MAX_TOPICS = 10_000
MAX_DOCUMENTS = 1_000_000
MAX_IN_POOL = 10_000
MAX_LABEL = 200
MAX_SLOTS = 1_000_000


@dataclass(frozen=True)
class TopicPlan:
    """A topic and what is judged for it.

    pool : labels of its documents, check documents included; kept in the order of the plan's documents.
    checks : the documents of which everybody must find the first more relevant than the second (H, N).
    context : stored snippets. systems : {name: its first documents, best first}, which are compared.
    gold : documents and pairs whose answer is known; none of their documents is in the pool.
    """

    label: str
    title: str
    pool: tuple[str, ...]
    description: str = ""
    narrative: str = ""
    question: Question | None = None
    checks: tuple[str, str] | None = None
    context: tuple[str, ...] = ()
    systems: dict[str, tuple[str, ...]] = field(default_factory=dict)
    gold: tuple[GoldQuestion, ...] = ()


@dataclass(frozen=True)
class Plan:
    """A campaign that can be created.

    name : as it stands in addresses. seed : of all that chance decides, from 0 below 2**63.
    settings : of the protocol; or by name those of several arms over the same topics. An assessor judges a topic in
        one arm.
    checks : whether magnitude units hold two check documents; without them nobody's order is checked.
    questions : whether every topic has a question, or none has; None for those that are given.
    instructions, practice_instructions : for the documents and for the practice. A campaign of magnitudes has our own
        where they are missing. preset : the name of a protocol from which settings were taken, for `overrides`.
    panel : that assessors come from. question : about systems, which decides what is judged.
    gold : how the gold questions of the topics are used; None without any.
    language : of the interface, such as "de"; "" for the one that each browser asks for.
    retention_days : for which names are kept after the campaign was stopped; None for as long as the server says.
    guidelines : Markdown, shown before the first unit and on a page beside judging. pictures : those that it names, as
        base64, by file.

    Raises
    ------
    SchemaError
        Whatever could not work, with the place in the table that `plan_from_table` reads.
    """

    name: str
    title: str
    settings: Settings | Mapping[str, Settings]
    topics: tuple[TopicPlan, ...]
    documents: tuple[DocumentPlan, ...]
    seed: int
    journey: JourneySettings = field(default_factory=JourneySettings)
    lease_minutes: float = 60.0
    consent: str = ""
    instructions: str = ""
    practice_instructions: str = ""
    checks: bool = True
    questions: bool | None = None
    preset: str = ""
    panel: PanelTable | None = None
    question: QuestionSettings | None = None
    gold: GoldSettings | None = None
    language: str = ""
    guidelines: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict, repr=False)
    retention_days: float | None = None

    def __post_init__(self) -> None:
        if self.question is not None:
            object.__setattr__(self, "settings", settings_with_question(self.settings))
        for where, problem in _problems(self):
            raise SchemaError(where, problem)
        place = {document.label: i for i, document in enumerate(self.documents)}
        ordered = (replace(t, pool=tuple(sorted(t.pool, key=place.__getitem__))) for t in self.topics)
        object.__setattr__(self, "topics", tuple(ordered))
        if not isinstance(self.settings, Mapping):
            object.__setattr__(self, "instructions", self.instructions or self.built_in_instructions(self.settings))
        if any(isinstance(settings, MagnitudeSettings) for settings in self.arms.values()):
            object.__setattr__(self, "practice_instructions", self.practice_instructions or PRACTICE)

    def built_in_instructions(self, settings: Settings) -> str:
        """Our own text for the units of an arm: of magnitudes; "" for other protocols, whose pages say all."""
        if not isinstance(settings, MagnitudeSettings):
            return ""
        questions = any(topic.question is not None for topic in self.topics)
        return magnitude_instructions(settings, self.journey, question=questions, checks=self.checks)

    def __repr__(self) -> str:
        return f"Plan({self.name}, {self.in_short}: {self.counted})"

    @property
    def arms(self) -> dict[str, Settings]:
        """The settings of each arm, in order; a campaign without arms has one, called ""."""
        return dict(self.settings) if isinstance(self.settings, Mapping) else {"": self.settings}

    @property
    def in_short(self) -> str:
        """The protocol, or that of each arm: "grades", "absolute (grades), degrees (preference)"."""
        return arms_in_short({arm: protocol_of(settings) for arm, settings in self.arms.items()})

    @property
    def counted(self) -> str:
        """How many topics, and documents to judge, in words; those of gold questions are not among them."""
        pooled = {label for topic in self.topics for label in topic.pool}
        return f"{plural(len(self.topics), 'topic')}, {plural(len(pooled), 'document')}"


def arms_in_short(protocols: Mapping[str, str]) -> str:
    """What a campaign collects, from {arm: protocol}.

    >>> arms_in_short({"": "grades"})
    'grades'
    >>> arms_in_short({"absolute": "grades", "degrees": "preference"})
    'absolute (grades), degrees (preference)'
    """
    return ", ".join(f"{arm} ({protocol})" if arm else protocol for arm, protocol in protocols.items())


# ---- what cannot work


def _problems(plan: Plan) -> Problems:
    yield from _head_problems(plan)
    yield from _label_problems("topics", plan.topics, MAX_TOPICS)
    yield from _label_problems("documents", plan.documents, MAX_DOCUMENTS)
    for i, document in enumerate(plan.documents):
        yield from document_problems(document, ("documents", i))
    if sum(len(image) * 3 // 4 for document in plan.documents for image in document.images) > MAX_IMAGES:
        yield ("documents",), f"the images are more than {MAX_IMAGES:,} bytes; make several campaigns of them"
    pools = {topic.label: topic.pool for topic in plan.topics}
    if plan.question is not None:
        yield from question_problems(plan.question, plan.arms, pools)
    labels = {document.label for document in plan.documents}
    gold = {topic.label: topic.gold for topic in plan.topics}
    about_systems = plan.question is not None
    yield from gold_problems(plan.gold, gold, pools, labels, plan.arms.values(), about_systems=about_systems)
    for i, topic in enumerate(plan.topics):
        yield from _topic_problems(plan, topic, ("topics", i), labels)
    n_slots = 0
    for arm, settings in plan.arms.items():
        n_slots += _n_slots(plan, settings)
        if n_slots > MAX_SLOTS:
            where = (*table_of(arm, settings), "redundancy")
            yield where, f"{n_slots} units to judge are more than {MAX_SLOTS}; lower it"


def table_of(arm: str, settings: Settings) -> Where:
    """The table of a plan that holds the settings of an arm."""
    return ("arms", arm, protocol_of(settings)) if arm else (protocol_of(settings),)


def _n_slots(plan: Plan, settings: Settings) -> int:
    """How many units of an arm there will be for somebody to judge, without making them."""
    n_slots = 0
    for topic in plan.topics:
        n = len(topic.pool)
        if isinstance(settings, MagnitudeSettings):
            n_checks = 0 if topic.checks is None else 2
            rounds = settings.redundancy * (n - n_checks) / (settings.k - n_checks)
            n_slots += settings.redundancy if n <= settings.k else ceil(rounds)
        else:
            n_slots += settings.redundancy * (ceil(n / settings.k) if isinstance(settings, GradesSettings) else 1)
    return n_slots


def _head_problems(plan: Plan) -> Problems:
    where = ("campaign",)
    if not NAME.fullmatch(plan.name):
        problem = "cannot stand in an address; write a-z, 0-9, - and _, at most 64, such as pilot-1"
        yield (*where, "name"), f"{in_short(plan.name)} {problem}"
    yield from _arm_problems(plan)
    if not plan.title.strip():
        yield (*where, "title"), "is empty; say what assessors take part in"
    if not 0 <= plan.seed < 2**63:
        yield (*where, "seed"), f"{in_short(plan.seed)} cannot be used; give a whole number from 0 below 2**63"
    if not 1 <= plan.lease_minutes <= 100_000:
        yield (*where, "lease_minutes"), f"{in_short(plan.lease_minutes)} cannot be used; give minutes from 1 to 100000"
    if plan.language and not LANGUAGE.fullmatch(plan.language):
        yield (*where, "language"), f"{in_short(plan.language)} is no tag of a language; write one such as en, de or ja"
    texts = {key: getattr(plan, key) for key in ("title", "consent", "instructions", "practice_instructions")}
    yield from text_problems(where, **texts)
    if plan.guidelines:
        yield from guidelines_problems(plan.guidelines, plan.pictures)
    if plan.preset:
        preset = preset_of(plan.preset)
        if preset.protocol not in map(protocol_of, plan.arms.values()):
            yield (*where, "preset"), f"{plan.preset!r} is for {preset.protocol}, not for {plan.in_short}; remove it"


def _arm_problems(plan: Plan) -> Problems:
    if not isinstance(plan.settings, Mapping):
        return
    if len(plan.settings) < 2:
        yield ("arms",), "there are fewer than two; add another, or put its settings in the place of [arms]"
    for arm in plan.settings:
        if not NAME.fullmatch(arm):
            yield ("arms",), f"{in_short(arm)} cannot be used; name an arm by a-z, 0-9, - and _, at most 64"


def _label_problems(key: str, items: Sequence[TopicPlan | DocumentPlan], most: int) -> Problems:
    if not items:
        yield (key,), f"there are none; add at least one {key[:-1]}"
    if len(items) > most:
        yield (key,), f"{len(items)} are more than {most}; make several campaigns of them"
    labels: set[str] = set()
    for i, item in enumerate(items):
        label = item.label
        if not label or BLANK.search(label) or UNFIT.search(label) or len(label) > MAX_LABEL or label.startswith("#"):
            problem = f"{in_short(label)} cannot be used; give 1 to {MAX_LABEL} characters without blanks, not # first"
            yield (key, i, "label"), problem
        if label in labels:
            yield (key, i, "label"), f"{label!r} is there already; every {key[:-1]} needs its own"
        labels.add(label)


def _topic_problems(plan: Plan, topic: TopicPlan, where: Where, labels: set[str]) -> Problems:
    if not topic.title.strip():
        yield (*where, "title"), f"topic {topic.label!r} has no title; say what is looked for"
    yield from text_problems(where, title=topic.title, description=topic.description, narrative=topic.narrative)
    for n, snippet in enumerate(topic.context):
        yield from text_problems((*where, "context"), **{str(n): snippet})
        if not snippet.strip():
            yield (*where, "context", n), "is an empty snippet; remove it"
    pool: set[str] = set()
    for n, document in enumerate(topic.pool):
        if document not in labels:
            yield (*where, "pool", n), f"document {document!r} in the pool of topic {topic.label!r} has no text; add it"
        if document in pool:
            yield (*where, "pool", n), f"document {document!r} is there twice; remove one"
        pool.add(document)
    if len(pool) > MAX_IN_POOL:
        yield (*where, "pool"), f"{len(pool)} documents are more than {MAX_IN_POOL}; lower the depth"
    yield from _check_problems(plan, topic, (*where, "checks"))
    least, reason = max(map(_least, plan.arms.values()))
    if len(pool) < least:
        problem = f"topic {topic.label!r} has {len(pool)} documents to judge, but {reason}"
        yield (*where, "pool"), f"{problem}; name runs or a pool with more, or lower k"
    if topic.question is None and plan.questions:
        problem = f"topic {topic.label!r} has none; add one, or write questions = false in [campaign]"
        yield (*where, "question"), problem
    if topic.question is not None:
        if plan.questions is False:
            yield (*where, "question"), f"topic {topic.label!r} has one, but questions = false; remove it"
        yield from _question_problems(topic.question, (*where, "question"))
    for name in topic.systems:
        yield from text_problems((*where, "systems"), **{name: name})


def _least(settings: Settings) -> tuple[int, str]:
    """How many documents a topic needs, and why."""
    if isinstance(settings, MagnitudeSettings):
        return settings.k, f"a unit needs {settings.k}"
    return (2, "a pair needs 2") if isinstance(settings, PreferenceSettings) else (1, "a unit needs 1")


def _check_problems(plan: Plan, topic: TopicPlan, where: Where) -> Problems:
    magnitude = any(isinstance(settings, MagnitudeSettings) for settings in plan.arms.values())
    if topic.checks is None:
        if magnitude and plan.checks:
            yield where, "are missing; name one document of H and one of N, or write checks = false in [campaign]"
        return
    if not magnitude or not plan.checks:
        reason = "checks = false" if magnitude else f"{plan.in_short} judging has none"
        yield where, f"are given, but {reason}; remove them"
    if outsider := next((document for document in topic.checks if document not in topic.pool), None):
        yield where, f"document {outsider!r} is not in the pool; choose one that is, or judge more ranks of the runs"
    if topic.checks[0] == topic.checks[1]:
        yield where, f"{topic.checks[0]!r} cannot be both the better and the worse one; choose two"


def _question_problems(question: Question, where: Where) -> Problems:
    options = {option.strip() for option in question.options} - {""}
    if not question.text.strip() or not 2 <= len(options) <= 8 or len(options) < len(question.options):
        yield where, "needs a text and 2 to 8 options, each with words of its own"
    if not 0 <= question.correct < len(question.options):
        problem = f"there is no option {question.correct}; they count from 0 to {len(question.options) - 1}"
        yield (*where, "correct"), problem
    for text in (question.text, *question.options):
        yield from text_problems(where, text=text)
