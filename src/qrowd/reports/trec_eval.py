"""trec_eval's text: its measures in its order, its numbers in its digits.

Buckley (2008), trec_eval 10.0: trec_eval.c, measures.c, meas_*.c. What the program does with its options is documented
in docs/trec_eval.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, log
from typing import Literal

import numpy as np

from qrowd.errors import ArgumentError, FileError, NoOverlapError
from qrowd.kernels.preference_groups import JudgmentGroup, closed
from qrowd.kernels.ranked_list import SMALLEST_GEOMETRIC, RankedList
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs, ScoreDtype
from qrowd.reports.trec_eval_measures import GROUPS, MEASURES, Arguments, Topic, TrecMeasure
from qrowd.trec import PREFERENCES, QRELS, RUN, Parsed, judgments_from, parse, preferences_from, runs_from

RelevanceFormat = Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"]
MISSING_Z = -1000000.0
NO_OVERLAP = "no topic is in both the judgments and the run; check that both are of the same collection"


@dataclass(frozen=True)
class TrecEvalOptions:
    """trec_eval's options.

    measures : names and groups, with parameters after a dot: "official", "P.5,10", "ndcg.1=3,2=7".
    format : of the judgments. rel : lowest relevant grade.
    per_topic : print each topic. summary : print the line of all topics.
    complete : average over all topics of the judgments; those that the run lacks count 0.
    judged_only : leave documents without a judgment out of the run.
    n_collection : number of documents in the collection, for utility. depth : documents of a list that count.
    score_dtype : precision in which scores are compared.
    """

    measures: tuple[str, ...] = ("official",)
    format: RelevanceFormat = "qrels"
    rel: int = 1
    per_topic: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    n_collection: int = 0
    depth: int | None = None
    score_dtype: ScoreDtype = "float64"


@dataclass(frozen=True)
class Judged:
    """What is in the judgments, whether the run has the topic or not."""

    n_topics: int
    n_relevant: int


@dataclass(frozen=True)
class ParsedRun:
    """A run file: its lists, and the tag of its last line, which trec_eval prints as the name of the run."""

    runs: Runs
    tag: str


def parsed_run(text: bytes, name: str) -> ParsedRun:
    """A run file as trec_eval reads it: one system, whatever the tags."""
    last = next(line for line in reversed(text.split(b"\n")) if line.strip() and not line.startswith(b"#"))
    runs = runs_from([("run", parse(text, name, RUN))])
    return ParsedRun(runs, last.split()[5].decode("utf-8", "surrogateescape"))


def requested(texts: Sequence[str], n_collection: int = 0) -> list[tuple[TrecMeasure, Arguments]]:
    """The measures of these names and groups, in trec_eval's order, with their parameters.

    Raises
    ------
    ArgumentError
        A name that trec_eval does not have, or parameters that the measure cannot take.
    """
    names: set[str] = set()
    parameters: dict[str, str] = {}
    for text in texts:
        name, dot, given = text.partition(".")
        if dot and not given:
            raise ArgumentError(f"measure {text!r}: parameters are expected after the dot, as in P.5,10")
        if name not in GROUPS and name not in MEASURES:
            near = closest(name, (*MEASURES, *GROUPS), "measure")
            raise ArgumentError(f"trec_eval has no measure {name!r}; {near}")
        names.update(GROUPS.get(name, [name]))
        if dot:
            parameters.setdefault(name, given)
    return [
        (measure, measure.arguments(parameters.get(measure.name), n_collection))
        for measure in MEASURES.values()
        if measure.name in names
    ]


def trec_eval_text(
    judgments: bytes,
    run: ParsedRun,
    options: TrecEvalOptions = TrecEvalOptions(),
    *,
    name: str = "judgments",
    z_scores: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    by_assessor: bool = False,
) -> str:
    """What trec_eval prints for a file of judgments and a run.

    name : of the file of judgments, in messages.
    z_scores : {(topic, label): (mean, standard deviation)} that turn scores into deviations from the mean.
    by_assessor : column 2 of qrels names assessors; each has lines of its own, which start with the name.

    Raises
    ------
    NoOverlapError
        No topic is in both.
    """
    measures = requested(options.measures, options.n_collection)
    kind = "prefs" if options.format == "qrels_prefs" else options.format
    unfit = next((one.name for one, _ in measures if one.reads not in (kind, "")), "")
    if unfit:
        fit = ", ".join([known for known, measure in MEASURES.items() if measure.reads == kind][:3])
        raise ArgumentError(f"measure {unfit} does not fit format={options.format!r}; choose {fit} or others like them")
    if by_assessor and options.format != "qrels":
        raise ArgumentError(f"assessor='column' is for format='qrels', not {options.format!r}")
    if options.format in ("prefs", "qrels_prefs"):
        topics, judged = _preference_topics(judgments, name, run.runs, options)
        return "".join(_lines(measures, topics, judged, run.tag, options, z_scores))
    in_column = by_assessor or options.format == "qrels_jg"
    parsed = judgments_from([(name, parse(judgments, name, QRELS))], assessor_in_column=in_column)
    parts = [parsed.select(assessors=[assessor]) for assessor in parsed.assessors] if by_assessor else [parsed]
    lines = []
    for part in parts:
        relevant = int((np.trunc(part.value) >= options.rel).sum())
        judged = Judged(len(part.topics), relevant)
        block = _lines(measures, _topics(part, run.runs, options), judged, run.tag, options, z_scores)
        lines += [f"{part.assessors[0]}\t{line}" if by_assessor else line for line in block]
    return "".join(lines)


def parsed_z_scores(text: bytes, name: str) -> dict[tuple[str, str], tuple[float, float]]:
    """{(topic, label): (mean, standard deviation)} from lines `topic measure mean sd`."""
    rows = {}
    for number, line in enumerate(text.decode("utf-8", "surrogateescape").splitlines(), start=1):
        try:
            topic, label, mean, sd = line.split()
            rows[topic, label] = (float(mean), float(sd))
        except ValueError:
            raise FileError(name, f"expected 'topic measure mean sd', found {line!r}", number) from None
    return rows


# ---------------------------------------------------------------------- topics


def _by_bytes(label: str) -> bytes:
    return label.encode("utf-8", "surrogateescape")


def _topics(judgments: Judgments, runs: Runs, options: TrecEvalOptions) -> dict[str, Topic]:
    """What measures read of each topic that is both judged and in the run, in trec_eval's order."""
    by_assessor = [
        _ranked_lists(judgments.select(assessors=[assessor]), runs, options)
        for assessor in sorted(judgments.assessors, key=_by_bytes)
    ]
    shared = sorted({topic for lists in by_assessor for topic in lists}, key=_by_bytes)
    if not shared:
        raise NoOverlapError(
            "no topic is in both the judgments and the run; check that both are of the same collection"
        )
    return {topic: [lists[topic] for lists in by_assessor if topic in lists] for topic in shared}


def _ranked_lists(judgments: Judgments, runs: Runs, options: TrecEvalOptions) -> dict[str, RankedList]:
    """{topic: the list of the run} as one assessor judged it."""
    if not set(judgments.topics) & set(runs.topics):
        return {}
    panel = judgments.panel(repeats="error")
    lists = {}
    for t, ranked in enumerate(align(runs, panel.pool, options.score_dtype).topics):
        n = int(ranked.lengths[0])
        if not n:
            continue
        rows = ranked.rows[0, : n if options.depth is None else min(n, max(options.depth, 0))]
        values = np.trunc(panel.topic(t)[:, 0])
        grades = np.where(rows < 0, np.nan, values[rows])
        here = ~np.isnan(grades) if options.judged_only else np.ones(rows.size, bool)
        judged = values[~np.isnan(values)]
        lists[panel.pool.topics[t]] = RankedList(grades[here], (rows >= 0)[here], judged, float(options.rel))
    return lists


def _preference_topics(text: bytes, name: str, runs: Runs, options: TrecEvalOptions) -> tuple[dict[str, Topic], Judged]:
    """The judgment groups of each topic that is both judged and in the run; and how many topics are judged."""
    parsed = parse(text, name, PREFERENCES[options.format])
    preferences_from([(name, parsed)])  # refuses levels that contradict each other
    by_topic: dict[str, list[tuple[str, str, str, float]]] = {}
    for topic, group, subgroup, document, level in _levels(parsed):
        by_topic.setdefault(topic, []).append((group, subgroup, document, level))
    rankings = runs.ranked(score_dtype=options.score_dtype)
    topics: dict[str, Topic] = {}
    for t, topic in sorted(enumerate(runs.topics), key=lambda item: _by_bytes(item[1])):
        if topic in by_topic:
            start, length = int(rankings.starts[0, t]), int(rankings.lengths[0, t])
            tied = rankings.tied[start : start + length]
            order = _ascending_ties([runs.documents[d] for d in rankings.document[start : start + length]], tied)
            topics[topic] = _groups(by_topic[topic], order[: options.depth], topic)
    if not topics:
        raise NoOverlapError(
            "no topic is in both the judgments and the run; check that both are of the same collection"
        )
    return topics, Judged(len(by_topic), 0)


def _levels(parsed: Parsed) -> Iterator[tuple[str, str, str, str, float]]:
    """(topic, group, subgroup, document, level) of each line."""
    labels = [vocabulary.labels() for vocabulary in parsed.vocabularies]
    with_subgroup = parsed.format.n_fields == 5
    for *codes, level in zip(*(column.tolist() for column in parsed.codes), parsed.number.tolist(), strict=True):
        topic, group, *subgroup, document = (words[code] for words, code in zip(labels, codes, strict=True))
        yield topic, group, subgroup[0] if with_subgroup else "", document, level


def _ascending_ties(documents: list[str], tied: Iterable[bool]) -> list[str]:
    """The ranking with equal scores in ascending order of documents, as these measures have them."""
    blocks: list[list[str]] = []
    for document, same in zip(documents, tied, strict=True):
        if same:
            blocks[-1].append(document)
        else:
            blocks.append([document])
    return [document for block in blocks for document in sorted(block, key=_by_bytes)]


def _groups(rows: list[tuple[str, str, str, float]], ranking: list[str], topic: str) -> list[JudgmentGroup]:
    documents = {document for _, _, document, _ in rows}
    retrieved = [document for document in ranking if document in documents]
    ordered = retrieved + sorted(documents - set(retrieved), key=_by_bytes)
    place = {document: i for i, document in enumerate(ordered)}
    groups = []
    for group in sorted({row[0] for row in rows}, key=_by_bytes):
        own = [row for row in rows if row[0] == group]
        subgroups = sorted({subgroup for _, subgroup, _, _ in own})
        preferred = np.zeros((len(ordered), len(ordered)), bool)
        good, bad = np.zeros((2, len(ordered)), bool)
        for subgroup in subgroups:
            here = [(place[document], level) for _, sub, document, level in own if sub == subgroup]
            places, levels = np.array([p for p, _ in here]), np.array([level for _, level in here])
            preferred[np.ix_(places, places)] |= levels[:, None] > levels
            good[places[levels > 0]] = True
            bad[places[levels == 0]] = True
        if len(subgroups) > 1:
            preferred = closed(preferred)
            if preferred.diagonal().any():
                raise ArgumentError(f"topic {topic}, group {group}: its preferences contradict each other")
        groups.append(JudgmentGroup(preferred, bad, good, len(subgroups) == 1, len(retrieved)))
    return groups


# ---------------------------------------------------------------------- lines


def _lines(
    measures: Sequence[tuple[TrecMeasure, Arguments]],
    topics: Mapping[str, Topic],
    judged: Judged,
    tag: str,
    options: TrecEvalOptions,
    z_scores: Mapping[tuple[str, str], tuple[float, float]] | None,
) -> Iterator[str]:
    """The lines of all topics, and of their summary."""
    sums: dict[str, float] = {}
    for topic, lists in topics.items():
        for measure, arguments in measures:
            values = measure.of(lists, arguments)
            for label, value in zip(arguments.labels, values, strict=True):
                if not isinstance(value, str):
                    value = _z_score(value, z_scores, topic, label)
                    sums[label] = sums.get(label, 0.0) + value
                if options.per_topic and measure.per_topic:
                    yield _line(label, topic, value, whole=measure.whole)
    if not options.summary:
        return
    n = judged.n_topics if options.complete else len(topics)
    for measure, arguments in measures:
        if measure.name == "runid":
            yield _line("runid", "all", tag)
        elif measure.name == "num_q":
            yield _line("num_q", "all", n, whole=True)
        elif measure.summary != "none":
            for label in arguments.labels:
                total = sums[label]
                if measure.name == "num_rel" and options.complete:
                    total = judged.n_relevant
                elif measure.summary == "mean":
                    total /= n
                elif measure.summary == "geometric":
                    total = exp((total + (n - len(topics)) * log(SMALLEST_GEOMETRIC)) / n)
                yield _line(label, "all", total, whole=measure.whole)


def _z_score(
    value: float, z_scores: Mapping[tuple[str, str], tuple[float, float]] | None, topic: str, label: str
) -> float:
    if z_scores is None:
        return value
    mean, sd = z_scores.get((topic, label), (inf, 0.0))
    if sd:
        return (value - mean) / sd
    return 0.0 if value == mean else MISSING_Z


def _line(label: str, topic: str, value: float | str, *, whole: bool = False) -> str:
    """A line as C prints it, whose undefined numbers are negative."""
    if isinstance(value, str):
        text = value
    elif whole:
        text = str(int(value))
    else:
        text = "  -nan" if isnan(value) else f"{value:6.4f}"
    return f"{label:<22}\t{topic}\t{text}\n"
