"""What became of the questions: judgments and preferences of the answers, and the shares of all that failed.

Only the status ok makes a judgment. Failures correlate with content, so they are counted by system, too: a system
whose documents a model refuses or cannot read is judged by fewer answers than others, for a reason that is not
relevance.

The test of that permutes what became of the questions among those of the same topic: if failures do not depend on which
systems retrieve a document, each order is equally likely. All questions on the same documents (other models, samples,
orders) move together. The statistic is the sum over systems of n (share - mean)^2, where n is the number of a system's
questions, by which the mean of the shares is weighted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import nan
from typing import TYPE_CHECKING, Any, get_args

from qrowd.judge.exchange import Status
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.pools import lists_of
from qrowd.model.preferences import Preferences
from qrowd.model.result import Result
from qrowd.model.scales import Scale, parse_scale

if TYPE_CHECKING:
    from qrowd.judge.questions import Question
    from qrowd.model.runs import Runs

STATUSES: tuple[Status, ...] = get_args(Status)
BLOCK = 100  # permutations at a time


@dataclass(frozen=True)
class Outcome:
    """What became of one question that was put to one model.

    endpoint, model : that were asked; answered_by : the model as returned, None where nothing came back.
    prompt, prompt_sha256 : id and hash of the prompt. sample : 1, 2, ...: the same question again.
    status : why there is a judgment, or none. values : one per document; of a preference 1 where the document shown
        first is preferred, else 2. detail : what is wrong. seconds : until the answer came, nan where none did.
    parameters : of the request, as JSON.
    """

    question: Question
    endpoint: str
    model: str
    prompt: str
    prompt_sha256: str
    sample: int
    status: Status
    values: tuple[float, ...] = ()
    detail: str = ""
    answered_by: str | None = None
    seconds: float = float("nan")
    parameters: str = "{}"

    @property
    def is_preference(self) -> bool:
        """Whether the values say which of two documents is preferred."""
        return len(self.question.documents) == 2 and not self.question.unit


def assessors_of(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, str, str], str]:
    """{(endpoint, model asked, model as returned, prompt): assessor}: "MODEL+PROMPT", of the model as returned.

    Where two models that were asked return one name, the names of both stand in brackets: they stay two assessors.
    """
    sources: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for outcome in outcomes:
        if outcome.status == "ok":
            sources[outcome.answered_by or outcome.model, outcome.prompt].add((outcome.endpoint, outcome.model))
    names = {}
    for (returned, prompt), asked in sources.items():
        for endpoint, model in asked:
            name = f"{returned}+{prompt}"
            several = len(asked) > 1
            names[endpoint, model, returned, prompt] = f"{name} ({model}, {endpoint})" if several else name
    return names


def judgments_of(outcomes: Sequence[Outcome], scales: Mapping[str, str] | None = None) -> Judgments:
    """The judgments of the outcomes that are ok, by one assessor per model and prompt; samples are repeats.

    The order of the outcomes does not matter.
    scales : {prompt: scale}, declared for its assessors.
    """
    names, rows = assessors_of(outcomes), []
    declared: dict[str, Scale] = {}
    for outcome in sorted(_ok(outcomes), key=_place):
        if outcome.is_preference:
            continue
        assessor, question = names[source_of(outcome)], outcome.question
        unit = f"{question.unit}-{outcome.sample}" if question.unit else ""
        if scales and outcome.prompt in scales:
            declared[assessor] = parse_scale(scales[outcome.prompt])
        for document, value in zip(question.documents, outcome.values, strict=True):
            rows.append((question.topic, document, assessor, value, outcome.sample, unit, outcome.seconds))
    if not rows:
        return Judgments.from_rows([])
    names_of_columns = ("topic", "document", "assessor", "value", "order", "unit", "seconds")
    columns: dict[str, Any] = dict(zip(names_of_columns, map(list, zip(*rows, strict=True)), strict=True))
    if not any(columns["unit"]):
        del columns["unit"]
    judgments = Judgments.from_frame(columns)
    new = tuple(declared.get(name, scale) for name, scale in zip(judgments.assessors, judgments.scales, strict=True))
    return replace(judgments, scales=new)


def preferences_of(outcomes: Sequence[Outcome]) -> Preferences | None:
    """The preferences of the outcomes that are ok, with which document was shown first; None where there is none.

    The two orders of a pair are two statements, also where they contradict each other.
    """
    names, rows = assessors_of(outcomes), []
    for outcome in sorted(_ok(outcomes), key=_place):
        if outcome.is_preference:
            one, two = outcome.question.documents
            first = outcome.values[0] == 1
            preferred, other = (one, two) if first else (two, one)
            assessor = names[source_of(outcome)]
            sample, seconds = outcome.sample, outcome.seconds
            rows.append((outcome.question.topic, preferred, other, assessor, int(first), sample, seconds))
    if not rows:
        return None
    columns = ("topic", "preferred", "other", "assessor", "first", "order", "seconds")
    return Preferences.from_frame(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))


@dataclass(frozen=True, eq=False)
class Statuses(Result):
    """What became of the questions, by model, by topic and by system.

    outcomes : one per question and sample. runs : of the systems, or None. depth : how many documents of each run
        count; a question counts for each system that ranks one of its documents there.
    """

    outcomes: tuple[Outcome, ...]
    runs: Runs | None = None
    depth: int = 10

    @property
    def n_questions(self) -> int:
        """How many questions there are, samples included."""
        return len(self.outcomes)

    @property
    def n_failed(self) -> int:
        """How many of them have no answer that makes a judgment."""
        return sum(outcome.status != "ok" for outcome in self.outcomes)

    def counts(self, *, by: str) -> dict[tuple[str, ...], dict[Status, int]]:
        """{(model, prompt) and the topic or the system: {status: number of questions}}; by : a table's name."""
        keys: Mapping[str, Callable[[Outcome], Iterable[tuple[str, ...]]]] = {
            "model": lambda outcome: [()],
            "topic": lambda outcome: [(outcome.question.topic,)],
            "system": lambda outcome: [(system,) for system in self.systems_of(outcome)],
        }
        counts: dict[tuple[str, ...], dict[Status, int]] = {}
        for outcome in sorted(self.outcomes, key=lambda outcome: (outcome.model, outcome.prompt)):
            for key in keys[by](outcome):
                row = counts.setdefault((outcome.model, outcome.prompt, *key), dict.fromkeys(STATUSES, 0))
                row[outcome.status] += 1
        return counts

    @cached_property
    def _systems(self) -> dict[tuple[str, str], list[str]]:
        """{(topic, document): the systems that rank it}."""
        systems: dict[tuple[str, str], list[str]] = defaultdict(list)
        if self.runs is not None:
            for topic, lists in lists_of(self.runs, self.runs.topics).items():
                for system, documents in lists.items():
                    for document in documents[: self.depth]:
                        systems[topic, document].append(system)
        return systems

    def systems_of(self, outcome: Outcome) -> list[str]:
        """The systems that rank a document of its question at rank 1 to `depth`."""
        topic, documents = outcome.question.topic, outcome.question.documents
        return sorted({system for document in documents for system in self._systems.get((topic, document), ())})

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        names = ("model", "topic", "system") if self.runs is not None else ("model", "topic")
        return {name: partial(self._shares, name) for name in names}

    def _shares(self, by: str) -> dict[str, Any]:
        counts = self.counts(by=by)
        labels = ("model", "prompt", *(() if by == "model" else (by,)))
        columns: dict[str, Any] = {name: [key[i] for key in counts] for i, name in enumerate(labels)}
        totals = [sum(row.values()) for row in counts.values()]
        columns["questions"] = totals
        for status in STATUSES:
            columns[status] = [row[status] / n for row, n in zip(counts.values(), totals, strict=True)]
        return columns


def _ok(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.status == "ok"]


def source_of(outcome: Outcome) -> tuple[str, str, str, str]:
    """The key of an outcome in `assessors_of`."""
    return outcome.endpoint, outcome.model, outcome.answered_by or outcome.model, outcome.prompt


def _place(outcome: Outcome) -> tuple[Any, ...]:
    """Where an outcome stands, whenever its answer came."""
    question = outcome.question
    return *source_of(outcome), question.topic, question.unit, question.documents, outcome.sample


# ---- do failures differ between systems?


@dataclass(frozen=True, eq=False)
class SystemFailures(Result):
    """Questions without an answer, by system.

    counts : {system: {status: questions}}. p : probability that shares differ as much where failures do not depend on
    the systems; nan where it is not known. depth : of the ranks whose documents count. n_resamples : permutations.
    """

    counts: dict[str, dict[Status, int]]
    p: float
    depth: int
    n_resamples: int

    @property
    def shares(self) -> dict[str, float]:
        """{system: share of its questions without an answer}."""
        return {system: 1 - row["ok"] / sum(row.values()) for system, row in self.counts.items()}

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        return {"systems": self._columns}

    def _columns(self) -> dict[str, Any]:
        totals = [sum(row.values()) for row in self.counts.values()]
        columns: dict[str, Any] = {"system": list(self.counts), "questions": totals}
        columns["unanswered"] = list(self.shares.values())
        for status in next(iter(self.counts.values()), {}):
            columns[status] = [row[status] / n for row, n in zip(self.counts.values(), totals, strict=True)]
        return columns


def system_failures(statuses: Statuses, *, n_resamples: int = 1000, rng: Rng = 1) -> SystemFailures:
    """The shares of all models together, and whether they differ between systems by more than chance.

    statuses : with runs. n_resamples : permutations; 0: no test. A system without a question is left out.
    """
    counts = totals(statuses, "system")
    p = _p(statuses, list(counts), n_resamples, rng) if n_resamples and len(counts) > 1 else nan
    return SystemFailures(counts, p, statuses.depth, n_resamples)


def totals(statuses: Statuses, by: str) -> dict[str, dict[Status, int]]:
    """{topic or system: {status: questions}} of all models together, in the order of their names."""
    counts: dict[str, dict[Status, int]] = {}
    for key, row in sorted(statuses.counts(by=by).items(), key=lambda one: one[0][-1]):
        total = counts.setdefault(key[-1], dict.fromkeys(row, 0))
        for status, n in row.items():
            total[status] += n
    return counts


def _p(statuses: Statuses, systems: list[str], n_resamples: int, rng: Rng) -> float:
    import numpy as np
    from scipy.sparse import csr_array

    items: dict[tuple[str, frozenset[str]], list[int]] = defaultdict(lambda: [0, 0])
    retrieved: dict[tuple[str, frozenset[str]], list[str]] = {}
    for outcome in statuses.outcomes:
        item = outcome.question.topic, frozenset(outcome.question.documents)
        items[item][0] += outcome.status != "ok"
        items[item][1] += 1
        retrieved.setdefault(item, statuses.systems_of(outcome))
    order = sorted((item for item in items if retrieved[item]), key=lambda item: (item[0], sorted(item[1])))
    number = {system: s for s, system in enumerate(systems)}
    pairs = [(number[system], i) for i, item in enumerate(order) for system in retrieved[item]]
    rows, columns = np.array(pairs).T
    incidence = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(systems), len(order)))
    values = np.array([items[item] for item in order], float)  # (items, failed and all)
    topics = np.unique([item[0] for item in order], return_inverse=True)[1]

    def statistic(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """places : (items, permutations)."""
        failed, n = incidence @ values[places, 0], incidence @ values[places, 1]
        mean = failed.sum(axis=0) / n.sum(axis=0)
        return np.asarray(((failed - n * mean) ** 2 / n).sum(axis=0))

    if values[:, 0].sum() in (0, values[:, 1].sum()):
        return nan
    generator = Chance.of(rng).stream("failures")
    observed = statistic(np.arange(len(order))[:, None])[0]
    as_large = 0
    for start in range(0, n_resamples, BLOCK):
        size = min(BLOCK, n_resamples - start)
        keys = generator.random((size, len(order)))
        places = np.array([np.lexsort((key, topics)) for key in keys]).T
        as_large += int((statistic(places) >= observed * (1 - 1e-9) - 1e-12).sum())
    return (1 + as_large) / (1 + n_resamples)
