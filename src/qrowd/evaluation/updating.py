"""Scores of judgments that grow: new judgments cost what the topics cost that they are of.

A topic is scored by itself. With new judgments, the topics that have any are scored again, with the names and scales
of all judgments; the other topics keep their scores. Where new judgments change the scale of an assessor who judged
before, all topics are scored again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed
from qrowd.errors import ArgumentError
from qrowd.evaluation.facts import Facts, difference, total
from qrowd.evaluation.named_measures import DEFAULT_MEASURES
from qrowd.evaluation.part_scores import PartScores, part_scores
from qrowd.evaluation.plan import Plan, Progress, fill_missing, parsed_measures
from qrowd.kernels.arrays import Floats
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import Sources, scales_of_parts
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.labels import Codes, compact, merge_codes, or_missing, plural
from qrowd.model.measure import Measure
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores
from qrowd.partitions.survey import short_of, summary_of


@dataclass(frozen=True, eq=False)
class GrowingScores(Displayed):
    """Scores, with the runs and judgments that they are of, so that new judgments can be added.

    runs : what was scored. measures, conventions : how. topics, assessors, scales : of all judgments.
    n_topics_scored : topics that were scored for these scores; the others kept theirs.
    """

    runs: Runs
    measures: tuple[Measure, ...]
    conventions: Conventions
    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    scales: tuple[Scale, ...]
    n_topics_scored: int
    _sources: Sources | None = field(repr=False)
    _summaries: tuple[Floats, ...] = field(repr=False)  # of each assessor's values: what a scale is inferred from
    _first: Judgments = field(repr=False)
    _added: tuple[Judgments, ...] = field(repr=False)
    _scored: PartScores = field(repr=False)
    _threads: int | None = field(repr=False)
    _lists_by_topic: _ByTopic = field(repr=False)
    _first_by_topic: _ByTopic = field(repr=False)

    @cached_property
    def judgments(self) -> Judgments:
        """All judgments: the first ones, and then what was added."""
        if not self._added:
            return self._first
        whole = concatenate_judgments([self._first, *self._added])
        return replace(whole, scales=self.scales, sources=self._sources)

    @cached_property
    def scores(self) -> Scores:
        """The scores of all topics, as `qrowd.evaluate` gives them for all judgments."""
        whole, values = self._scored, self._scored.values
        if self.conventions.missing == "interpolate" and whole.missing.any():
            values = values.copy()
            fill_missing(values, whole.missing, whole.unscored)
        return Scores(
            tuple(map(str, self.measures)),
            self.assessors,
            self.topics,
            self.runs.systems,
            values.transpose(0, 3, 1, 2),
            whole.relevant,
            whole.coverage,
            {
                "conventions": self.conventions.as_dict(),
                "scales": dict(zip(self.assessors, self.scales, strict=True)),
                "stopping_short": short_of(self.assessors, self.scales, self._summaries),
                "repeated_judgments": whole.n_repeats,
                **whole.facts.attributes(),
            },
        )

    def to_frame(self) -> Any:
        """As `Scores.to_frame`."""
        return self.scores.to_frame()

    def _display(self) -> Display:
        n = len(self._first) + sum(map(len, self._added))
        scored = f"{self.n_topics_scored:,} of {plural(len(self.topics), 'topic')} scored last"
        return Display("GrowingScores", f"Scores of {plural(n, 'judgment')}, {scored}.")

    def updated(self, judgments: AnyJudgments, *, progress: Progress = None) -> GrowingScores:
        """The scores with new judgments added to those before: of new or known assessors, topics and documents.

        judgments : the new ones only, as `Judgments` or what is converted. A judgment of a document that its assessor
            judged before is a repeat, which the convention `repeats` decides.
        progress : called with (topics done, topics in all) of those that are scored.

        The scores are those of all judgments, to the bit. Topics without new judgments are not scored again, unless
        the scale of an assessor who judged before is another one now.

        Raises
        ------
        ScaleError
            An assessor whose new judgments declare another scale.
        """
        added = _without_unused(as_judgments(judgments))
        if not len(added):
            return replace(self, n_topics_scored=0)
        topics, assessors = (
            tuple(dict.fromkeys((*before, *new)))
            for before, new in ((self.topics, added.topics), (self.assessors, added.assessors))
        )
        new_values = dict(zip(added.assessors, added.values_by_assessor(), strict=True))
        values = dict(zip(self.assessors, self._summaries, strict=True))
        none = np.zeros(0)
        summaries = tuple(
            summary_of(np.concatenate([values.get(name, none), new_values.get(name, none)])) for name in assessors
        )
        stated = [(self.assessors, self.scales, self._sources), (added.assessors, added.scales, added.sources)]
        scales, sources = scales_of_parts(stated, assessors, summaries)
        grown = replace(
            self, topics=topics, assessors=assessors, scales=scales, _sources=sources, _summaries=summaries,
            _added=(*self._added, added),
        )  # fmt: skip
        if scales[: len(self.scales)] != self.scales:
            whole = grown.judgments
            return _scored_anew(
                self.runs, whole, self.measures, self.conventions, self._threads, self._lists_by_topic, progress
            )
        place = {topic: t for t, topic in enumerate(topics)}
        touched = sorted(place[topic] for topic in added.topics)
        part = grown._of_topics([topics[t] for t in touched])
        scored = part_scores(self._lists(part.topics), part, self.measures, self.conventions, self._threads, progress)
        joined = _joined(self._scored, scored, touched, (len(topics), len(assessors)))
        facts, n_repeats = joined.facts, joined.n_repeats
        if earlier_topics := [topics[t] for t in touched if t < len(self.topics)]:
            earlier = self._of_topics(earlier_topics)
            n_repeats -= earlier.n_repeats()
            facts = difference(facts, self._facts_of(earlier))
        facts = replace(
            facts,
            unjudged_topics=sum(topic not in place for topic in self.runs.topics),
            rank_contradictions=self.runs.rank_contradictions,
        )
        return replace(grown, n_topics_scored=len(touched), _scored=replace(joined, facts=facts, n_repeats=n_repeats))

    def _facts_of(self, judgments: Judgments) -> Facts:
        """The facts of some topics, without their scores."""
        plan = Plan(self._lists(judgments.topics), self.measures, self.conventions, None)
        graded = self.conventions.graded(judgments)
        panel = plan.without_duplicates(graded.panel(repeats=self.conventions.repeats))
        return plan.facts(plan.alignment(panel.pool))

    def _of_topics(self, topics: Sequence[str]) -> Judgments:
        """All judgments of some topics, with the assessors and scales of all."""
        rows, _ = self._first_by_topic.rows(topics)
        parts = [_taken(self._first, np.sort(rows))]
        wanted = set(topics)
        for added in self._added:
            chosen = np.array([topic in wanted for topic in added.topics], bool)
            if chosen.any():
                parts.append(_taken(added, np.flatnonzero(chosen[added.topic])))
        topic, assessor = (
            np.concatenate([_numbered(getattr(part, f"{name}s"), labels)[getattr(part, name)] for part in parts])
            for name, labels in (("topic", topics), ("assessor", self.assessors))
        )
        documents, document = merge_codes([part.documents for part in parts], [part.document for part in parts])
        value = np.concatenate([part.value for part in parts])
        order = None
        if any(part.order is not None for part in parts):
            order = np.concatenate([or_missing(part.order, len(part), True) for part in parts])
        labels, codes = (tuple(topics), documents, self.assessors), (topic, document, assessor)
        return Judgments(*labels, *codes, value, self.scales, self._sources, order)

    def _lists(self, topics: Sequence[str]) -> Runs:
        """The lists of some topics, which the runs may lack, of all systems."""
        runs, (rows, topic) = self.runs, self._lists_by_topic.rows(topics)
        documents, document = compact(runs.documents, runs.document[rows])
        return Runs(runs.systems, tuple(topics), documents, runs.system[rows], topic, document, runs.score[rows])


def evaluate_growing(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measures: object | Sequence[object] = DEFAULT_MEASURES,
    *,
    conventions: Conventions = Conventions(),
    threads: int | None = None,
    progress: Progress = None,
) -> GrowingScores:
    """Score judgments to which others will be added: `.scores` are those of `evaluate`, `.updated(new)` adds some.

    Arguments and errors are those of `evaluate`, for runs and judgments in memory.

    >>> growing = qrowd.evaluate_growing(runs, judgments, "nDCG@10")  # doctest: +SKIP
    >>> growing = growing.updated(new_judgments)  # doctest: +SKIP
    >>> growing.scores.panel_mean()  # doctest: +SKIP
    """
    runs, judgments = as_runs(runs), as_judgments(judgments)
    if not len(judgments):
        raise ArgumentError("judgments: there are none")
    parsed = parsed_measures(measures, conventions)
    judgments = _without_unused(judgments)
    return _scored_anew(runs, judgments, parsed, conventions, threads, _ByTopic(runs.topics, runs.topic), progress)


def _scored_anew(
    runs: Runs,
    judgments: Judgments,
    measures: tuple[Measure, ...],
    conventions: Conventions,
    threads: int | None,
    lists_by_topic: _ByTopic,
    progress: Progress,
) -> GrowingScores:
    """All topics scored."""
    return GrowingScores(
        runs,
        measures,
        conventions,
        judgments.topics,
        judgments.assessors,
        judgments.scales,
        len(judgments.topics),
        judgments.sources,
        tuple(map(summary_of, judgments.values_by_assessor())),
        judgments,
        (),
        part_scores(runs, judgments, measures, conventions, threads, progress),
        threads,
        lists_by_topic,
        _ByTopic(judgments.topics, judgments.topic),
    )


def _joined(known: PartScores, new: PartScores, touched: Sequence[int], shape: tuple[int, int]) -> PartScores:
    """The scores of all topics: new ones where topics were scored again, known ones elsewhere; facts are added.

    shape : topics and assessors. An assessor who is new has judged nothing in a topic that was not scored again.
    """
    n_topics, n_assessors = shape
    n_measures, t, n_systems, a = known.values.shape
    values = np.full((n_measures, n_topics, n_systems, n_assessors), np.nan)
    relevant = np.zeros((n_measures, n_assessors, n_topics))
    coverage = np.zeros((n_assessors, n_topics))
    missing = np.zeros((n_topics, n_systems), bool)
    unscored = np.ones((known.unscored.shape[0], n_topics, n_assessors), bool)
    values[:, :t, :, :a], relevant[:, :a, :t], coverage[:a, :t] = known.values, known.relevant, known.coverage
    missing[:t], unscored[:, :t, :a] = known.missing, known.unscored
    values[:, touched], relevant[:, :, touched], coverage[:, touched] = new.values, new.relevant, new.coverage
    missing[touched], unscored[:, touched] = new.missing, new.unscored
    facts, n_repeats = total([known.facts, new.facts]), known.n_repeats + new.n_repeats
    return PartScores(values, relevant, coverage, missing, unscored, facts, n_repeats)


def _taken(judgments: Judgments, rows: NDArray[np.int64]) -> Judgments:
    """Some rows, with the labels that they use, as far as scores depend on them."""
    (topics, topic), (documents, document) = (
        compact(getattr(judgments, f"{name}s"), getattr(judgments, name)[rows]) for name in ("topic", "document")
    )
    order = None if judgments.order is None else judgments.order[rows]
    labels = (topics, documents, judgments.assessors)
    codes = (topic, document, judgments.assessor[rows])
    return Judgments(*labels, *codes, judgments.value[rows], judgments.scales, judgments.sources, order)


def _numbered(words: Sequence[str], labels: Sequence[str]) -> Codes:
    """The number of each word among the labels, which hold them all."""
    number = {label: i for i, label in enumerate(labels)}
    return np.array([number[word] for word in words], np.int32)


def _without_unused(judgments: Judgments) -> Judgments:
    """The judgments without topics that have no row."""
    topics, topic = compact(judgments.topics, judgments.topic)
    return judgments if len(topics) == len(judgments.topics) else replace(judgments, topics=topics, topic=topic)


@dataclass(frozen=True, eq=False)
class _ByTopic:
    """Finds the rows of some topics without a look at all rows, which are sorted once.

    labels : of topics. topic : (rows,) numbers into them.
    """

    labels: tuple[str, ...]
    topic: Codes

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, int]]:
        """Rows by topic, where those of each topic begin, and the number of each topic."""
        starts = np.append(0, np.cumsum(np.bincount(self.topic, minlength=len(self.labels))))
        return np.argsort(self.topic, kind="stable"), starts, {label: i for i, label in enumerate(self.labels)}

    def rows(self, topics: Sequence[str]) -> tuple[NDArray[np.int64], Codes]:
        """The rows of these topics, of which there may be none, and the place of each one's topic."""
        rows, starts, number = self._sorted
        slices = [
            rows[starts[i] : starts[i + 1]] if (i := number.get(topic, -1)) >= 0 else rows[:0] for topic in topics
        ]
        place = np.repeat(np.arange(len(topics), dtype=np.int32), [own.size for own in slices])
        return np.concatenate(slices), place
