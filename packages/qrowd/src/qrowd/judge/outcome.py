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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from qrowd.model.scales import parse_scale

if TYPE_CHECKING:
    from qrowd.judge.questions import Question
    from qrowd.model.runs import Runs

STATUSES: tuple[Status, ...] = get_args(Status)
WINNERS = ("model_a", "model_b", "tie", "both bad")  # by the values of battles
BLOCK = 100  # permutations at a time


@dataclass(frozen=True)
class Outcome:
    """What became of one question that was put to one model.

    endpoint, model : that were asked; answered_by : the model as returned, None where nothing came back.
    prompt, prompt_sha256 : id and hash of the prompt. sample : 1, 2, ...: the same question again.
    status : why there is a judgment, or none. values : one per document or unit; of a preference 1 where the document
        shown first is preferred, else 2; of a battle also 3, a tie, and 4, both bad. detail : what is wrong.
    seconds : until the answer came, nan where none did.
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


def rows_of(outcomes: Sequence[Outcome]) -> dict[str, list[dict[str, Any]]]:
    """{assessor: rows} of the outcomes that are ok: judgments of documents or of units of answers, or battles.

    The order of the outcomes does not matter. In a battle, model_a was shown first.
    """
    names, rows = assessors_of(outcomes), defaultdict[str, list[dict[str, Any]]](list)
    for outcome in sorted((outcome for outcome in outcomes if outcome.status == "ok"), key=_place):
        question, assessor = outcome.question, names[source_of(outcome)]
        common = {"topic": question.topic, "order": outcome.sample, "seconds": outcome.seconds}
        if outcome.is_preference:
            a, b = [unit.system for unit in question.answers] or question.documents
            winner = WINNERS[int(outcome.values[0]) - 1]
            rows[assessor].append({**common, "model_a": a, "model_b": b, "winner": winner, "judge": assessor})
            continue
        unit = f"{question.unit}-{outcome.sample}" if question.unit else ""
        judged = [("/".join(filter(None, unit[:3])), unit._asdict()) for unit in question.answers]
        judged = judged or [(document, {"unit": unit}) for document in question.documents]
        for (document, about), value in zip(judged, outcome.values, strict=True):
            stated = {name: cell for name, cell in about.items() if cell != ""}
            rows[assessor].append({**common, **stated, "document": document, "assessor": assessor, "value": value})
    return rows


def judgments_of(outcomes: Sequence[Outcome], scales: Mapping[str, str] | None = None) -> Judgments:
    """The judgments of the outcomes that are ok, by one assessor per model and prompt; samples are repeats.

    scales : {prompt: scale}, declared for its assessors.
    """
    rows: Any = [
        {**row, "unit": None} if "system" in row else row  # which is that of magnitudes
        for of_assessor in rows_of(outcomes).values()
        for row in of_assessor
        if "value" in row
    ]
    if not rows:
        return Judgments.from_rows([])
    judgments = Judgments.from_frame(rows)
    prompts = {name: prompt for (*_, prompt), name in assessors_of(outcomes).items()}
    new = list(judgments.scales)
    for i, assessor in enumerate(judgments.assessors):
        if scales and prompts[assessor] in scales:
            new[i] = parse_scale(scales[prompts[assessor]])
    return replace(judgments, scales=tuple(new))


def preferences_of(outcomes: Sequence[Outcome]) -> Preferences | None:
    """The preferences of the outcomes that are ok, with which document was shown first; None where there is none.

    The two orders of a pair are two statements, also where they contradict each other.
    """
    rows: Any = [row for of_assessor in rows_of(outcomes).values() for row in of_assessor if "winner" in row]
    return Preferences.from_frame(rows) if rows else None


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

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems of the runs, or those whose answers were asked about."""
        if self.runs is not None:
            return self.runs.systems
        return tuple(sorted({unit.system for outcome in self.outcomes for unit in outcome.question.answers}))

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
        """The systems that rank a document of its question at rank 1 to `depth`, or whose answers it is about."""
        if outcome.question.answers:
            return sorted({unit.system for unit in outcome.question.answers})
        topic, documents = outcome.question.topic, outcome.question.documents
        return sorted({system for document in documents for system in self._systems.get((topic, document), ())})

    def _tables(self) -> dict[str, Callable[[], dict[str, Any]]]:
        names = ("model", "topic", "system") if self.systems else ("model", "topic")
        return {name: partial(self._shares, name) for name in names}

    def _shares(self, by: str) -> dict[str, Any]:
        counts: dict[tuple[str, str, str], dict[Status, int]] = {}
        for outcome in sorted(self.outcomes, key=lambda outcome: (outcome.model, outcome.prompt)):
            labels = {"model": [""], "topic": [outcome.question.topic]}.get(by) or self.systems_of(outcome)
            for label in labels:
                row = counts.setdefault((outcome.model, outcome.prompt, label), dict.fromkeys(STATUSES, 0))
                row[outcome.status] += 1
        names = ("model", "prompt", *(() if by == "model" else (by,)))
        return {name: [key[i] for key in counts] for i, name in enumerate(names)} | _shares(counts.values())


def _shares(counts: Collection[Mapping[Status, int]]) -> dict[str, Any]:
    """The number of questions, and the share of each status."""
    totals = [sum(row.values()) for row in counts]
    shares: dict[str, Any] = {
        status: [row[status] / n for row, n in zip(counts, totals, strict=True)] for status in STATUSES
    }
    return {"questions": totals, **shares}


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
    the systems; nan where it is not known. depth : of the ranks whose documents count; 0 for answers.
    n_resamples : permutations.
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
        shares = _shares(self.counts.values())
        return {"system": list(self.counts), "questions": [], "unanswered": list(self.shares.values()), **shares}


def system_failures(statuses: Statuses, *, n_resamples: int = 1000, rng: Rng = 1) -> SystemFailures:
    """The shares of all models together, and whether they differ between systems by more than chance.

    statuses : with runs. n_resamples : permutations; 0: no test. A system without a question is left out.
    """
    counts = {system: dict.fromkeys(STATUSES, 0) for system in sorted(statuses.systems)}
    for outcome in statuses.outcomes:
        for system in statuses.systems_of(outcome):
            counts[system][outcome.status] += 1
    counts = {system: row for system, row in counts.items() if any(row.values())}
    p = _p(statuses, list(counts), n_resamples, rng) if n_resamples and len(counts) > 1 else nan
    return SystemFailures(counts, p, 0 if statuses.runs is None else statuses.depth, n_resamples)


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
