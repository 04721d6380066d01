"""Scoring: a panel's topics and assessors as jobs, each scored by every measure, and what becomes of empty cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, MeasureError
from qrowd.evaluation.named_measures import LINEAR_NAMES, definitions, measure
from qrowd.kernels.arrays import Floats
from qrowd.measures.measure_kinds import ByGain, Scored
from qrowd.measures.topic_views import Levels, Part, TopicView
from qrowd.model.alignment import Alignment, Facts, PooledLists, align
from qrowd.model.conventions import Conventions
from qrowd.model.measure import Measure
from qrowd.model.panel import Panel, Pool
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.scores import Scores, interpolated
from qrowd.threads import in_threads

if TYPE_CHECKING:
    from qrowd.preferences import PairView

ASSESSORS_AT_ONCE = 512  # a row of gains for that many stays in the fastest cache
CELLS_AT_ONCE = 1 << 17  # gains that stay in the second cache
FEW_JOBS = 8  # that read gains alone take less time than threads to start

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True, eq=False)
class _Job:
    """Topics, and columns of the scores: the assessors of `part`, who are some of the panel's.

    together, others : numbers of the measures that are scored for all topics at once, and topic by topic.
    """

    topics: slice
    columns: slice
    part: Panel | Preferences
    panel: Panel | None = None
    levels: Levels | None = None
    together: tuple[int, ...] = ()
    others: tuple[int, ...] = ()


@dataclass(eq=False)
class Plan:
    """What stays the same from block to block; the alignment is made once per pool."""

    runs: Runs
    measures: tuple[Measure, ...]
    conventions: Conventions
    threads: int | None
    progress: Progress = None
    _alignment: Alignment | None = None
    _lists: dict[tuple[int, int], PooledLists] = field(default_factory=dict)
    _merged: tuple[Pool, Pool, NDArray[np.int64]] | None = None

    def __post_init__(self) -> None:
        if self.runs.criterion is not None:
            self.conventions = _of_answers(self.conventions)
        for each in self.measures:
            check_kind(each, self.runs)

    def alignment(self, pool: Pool) -> Alignment:
        if self._alignment is None or self._alignment.pool is not pool:
            self._alignment = align(self.runs, pool, self.conventions.score_dtype)
            self._lists = {}
        return self._alignment

    def without_duplicates(self, panel: Panel) -> Panel:
        """The panel with each group of duplicates as one document; the merged pool is made once per pool."""
        if self.conventions.duplicates is None:
            return panel
        if self._merged is None or self._merged[0] is not panel.pool:
            self._merged = (panel.pool, *panel.pool.merged(self.conventions.duplicates))
        return panel.merged(*self._merged[1:])

    def gather(self, names: Sequence[str], panels: Iterable[Panel | Preferences], repeated: int = 0) -> Scores:
        """Score panels that together hold the named assessors, in order, into one array."""
        n_measures, n_systems, n_assessors = len(self.measures), len(self.runs.systems), len(names)
        scores = relevant = coverage = None
        topics: tuple[str, ...] = ()
        scales: dict[str, Scale] = {}
        done = 0
        for panel in panels:
            if scores is None or relevant is None or coverage is None:
                topics = panel.pool.topics
                scores = np.empty((n_measures, len(topics), n_systems, n_assessors))
                relevant = np.empty((n_measures, n_assessors, len(topics)))
                coverage = np.empty((n_assessors, len(topics)))
            elif panel.pool.topics != topics:
                raise ArgumentError("judgments: blocks of assessors must share their topics; use one Pool for all")
            if n_assessors > len(panel.assessors):
                self.refuse_union()
            here = slice(done, done + len(panel.assessors))
            if tuple(names[here]) != panel.assessors:
                raise ArgumentError("judgments: blocks must hold the assessors that were announced, in the same order")
            if isinstance(panel, Panel):
                scales.update(zip(panel.assessors, panel.scales, strict=True))
            done = here.stop
            self._score(panel, here, scores, relevant, coverage)
        if scores is None or relevant is None or coverage is None:
            raise ArgumentError("judgments: there are none")
        if done < n_assessors:
            raise ArgumentError(f"judgments: blocks held {done} of the {n_assessors} assessors announced")
        return Scores(
            tuple(map(str, self.measures)),
            tuple(names),
            topics,
            self.runs.systems,
            scores.transpose(0, 3, 1, 2),
            relevant,
            coverage,
            {
                "conventions": self.conventions.as_dict(),
                "scales": scales,
                "repeated_judgments": repeated,
                **self.facts().attributes(),
            },
        )

    def facts(self) -> Facts:
        """What a reader must know of the runs on the pool that was scored last."""
        assert self._alignment is not None
        return self._alignment.facts(self.runs, [each.cutoff for each in self.measures])

    def refuse_union(self) -> None:
        """A block does not know what the assessors of other blocks found relevant."""
        for each in self.measures:
            if each.values.get("recall_base") == "union":
                raise ArgumentError(f"{each}: recall_base='union' needs all assessors at once, not block by block")

    def refuse_grades(self) -> None:
        """Preferences have no grades, and no rule for repeats: every one of them counts."""
        for each in self.measures:
            if isinstance(each.definition, Scored):
                names = ", ".join([one.name for one in definitions() if not isinstance(one, Scored)][:6])
                raise MeasureError(
                    f"{each}: needs grades, and these are preferences; ask for a measure of preferences ({names}, "
                    "...) or make grades with qrowd.preferences.to_grades (its converse is from_grades)"
                )
        if self.conventions.grades == "rescaled":
            raise ArgumentError("preferences have no grades; leave it out", "grades", "rescaled")
        if self.conventions.duplicates is not None:
            raise ArgumentError(
                "duplicates: this is for Judgments; preferences compare documents one by one, so leave the duplicates "
                "out of the runs instead"
            )
        if (repeats := self.conventions.repeats) != "first":
            raise ArgumentError("every preference counts, also a repeated one; leave it out", "repeats", repeats)

    def _score(
        self, panel: Panel | Preferences, here: slice, scores: Floats, relevant: Floats, coverage: Floats
    ) -> None:
        """Fill in (measure, topic, system, assessor) scores, (measure, assessor, topic) relevant and coverage.

        here : where the assessors of the panel stand among all.
        """
        panel = self.without_duplicates(panel) if isinstance(panel, Panel) else panel
        alignment = self.alignment(panel.pool)
        if isinstance(panel, Preferences):
            every = tuple(range(len(self.measures)))
            jobs = [_Job(slice(t, t + 1), here, panel, others=every) for t in range(len(panel.pool.topics))]
        else:
            jobs = list(self._jobs(panel, here.start))

        def run(job: _Job) -> int:
            if isinstance(job.part, Panel) and (job.together or not job.others):
                part = self._part(alignment, job)
                coverage[job.columns, job.topics] = part.coverage().T
                for m in job.together:
                    measure, lists = self.measures[m], scores[m, job.topics].reshape(-1, scores.shape[3])
                    definition: Any = measure.definition
                    definition.score_part(measure, part, lists, job.columns.start)
                    relevant[m, job.columns, job.topics] = definition.rewarded(measure, part).T
            for topic in range(job.topics.start, job.topics.stop) if job.others else ():
                view, pairs = self._views(alignment, job, topic)
                coverage[job.columns, topic] = _coverage(view, pairs)
                for m in job.others:
                    own, n_relevant = _score_topic(self.measures[m], view, pairs, self.conventions)
                    scores[m, topic, :, job.columns], relevant[m, job.columns, topic] = own, n_relevant
            return int(job.topics.stop - job.topics.start)

        n_topics, done = sum(job.topics.stop - job.topics.start for job in jobs), 0
        few = len(jobs) <= FEW_JOBS and not any(job.others for job in jobs)
        for n in in_threads(run, jobs, self.threads or (1 if few else None)):
            for _ in range(n):
                done += 1
                if self.progress:
                    self.progress(done, n_topics)
        self._mask(alignment, scores[..., here], relevant[:, here], coverage[here])

    def _jobs(self, panel: Panel, begin: int) -> Iterator[_Job]:
        """Topics and assessors to be scored in one go, few enough for their gains to stay in the cache."""
        n_assessors = len(panel.assessors)
        for first in range(0, max(n_assessors, 1), ASSESSORS_AT_ONCE):
            columns = slice(first, min(first + ASSESSORS_AT_ONCE, n_assessors))
            part = panel.part(columns) if n_assessors > ASSESSORS_AT_ONCE else panel
            levels = Levels.of(part)
            together = tuple(m for m, measure in enumerate(self.measures) if self._reads_gains(measure, levels))
            others = tuple(m for m in range(len(self.measures)) if m not in together)
            group = panel.pool.starts[:-1] * max(columns.stop - columns.start, 1) // CELLS_AT_ONCE
            bounds = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), group.size]
            at = slice(begin + columns.start, begin + columns.stop)
            for topics in pairwise(bounds):
                yield _Job(slice(*topics), at, part, panel, levels, together, others)

    def _reads_gains(self, measure: Measure, levels: Levels | None) -> bool:
        """Whether the measure is scored for several topics at once."""
        definition = measure.definition
        if not isinstance(definition, ByGain) or not definition.several_topics(measure):
            return False
        try:
            if levels is not None:
                definition.gains(measure, levels.view)
        except MeasureError:  # topic by topic, the assessor can be named
            return False
        return self.conventions.unjudged != "condensed"

    def _part(self, alignment: Alignment, job: _Job) -> Part:
        """The topics and assessors of a job."""
        assert isinstance(job.part, Panel)
        assert job.panel is not None
        key = (job.topics.start, job.topics.stop)
        if key not in self._lists:
            every = alignment.tied_lists if self.conventions.ties == "expected" else alignment.lists
            self._lists[key] = every.of_topics(*key)
        lists, starts = self._lists[key], alignment.pool.starts
        pairs = slice(int(starts[key[0]]), int(starts[key[1]]))
        part = Part.of_panel(lists, job.part, pairs, job.levels, reuses=True)
        if job.part is not job.panel and any(measure.values.get("recall_base") == "union" for measure in self.measures):
            part.everyone = Part.of_panel(lists, job.panel, pairs, Levels.of(job.panel))
        return part

    def _views(self, alignment: Alignment, job: _Job, topic: int) -> tuple[TopicView | None, PairView | None]:
        """One topic, as measures of grades and of preferences read it."""
        from qrowd.preferences import PairView

        ranked, part, panel = alignment.topics[topic], job.part, job.panel
        if isinstance(part, Preferences):
            return None, PairView(ranked.rows, ranked.tied, ranked.lengths, part.topic_view(topic))
        assert panel is not None
        tied = ranked.tied if self.conventions.ties == "expected" else None
        everyone = None if part is panel else TopicView(ranked.rows, panel.topic(topic), panel)
        view = TopicView(ranked.rows, np.ascontiguousarray(part.topic(topic)), part, tied, everyone, ranked.lengths)
        if all(isinstance(measure.definition, Scored) for measure in self.measures):
            return view, None
        return view, PairView(ranked.rows, ranked.tied, ranked.lengths, view.values)

    def _mask(self, alignment: Alignment, scores: Floats, relevant: Floats, coverage: Floats) -> None:
        """Cells without a score become nan, and missing lists what the convention says."""
        unscored = np.broadcast_to(
            unscored_cells(self.conventions, relevant, coverage), (*scores.shape[:2], scores.shape[3])
        )
        for m, t in np.argwhere(unscored.any(axis=2)):
            scores[m, t, :, unscored[m, t]] = np.nan
        if self.conventions.missing != "zero" and alignment.missing.any():
            scores[:, alignment.missing] = np.nan
            if self.conventions.missing == "interpolate":
                fill_missing(scores, alignment.missing, unscored)


def unscored_cells(conventions: Conventions, relevant: Floats, coverage: Floats) -> NDArray[np.bool_]:
    """(measures or 1, topics, assessors) where an assessor has no score."""
    unscored = ((coverage == 0) | (coverage < conventions.min_coverage)).T[None]
    if conventions.empty == "nan":
        unscored = unscored | (relevant == 0).transpose(0, 2, 1)
    return np.asarray(unscored)


def fill_missing(scores: Floats, missing: NDArray[np.bool_], unscored: NDArray[np.bool_]) -> None:
    """Interpolate the scores of missing lists, in place.

    scores : (measures, topics, systems, assessors), nan at missing lists. missing : (topics, systems). unscored :
    (measures or 1, topics, assessors) where an assessor has no score.
    """
    for by_topic, without in zip(scores, np.broadcast_to(unscored, (len(scores), *unscored.shape[1:])), strict=True):
        filled = np.where(without[:, None], np.nan, interpolated(by_topic))
        by_topic[missing] = filled[missing]


def parsed_measures(measures: object | Sequence[object], conventions: Conventions) -> tuple[Measure, ...]:
    """The measures, each once, checked against the conventions."""
    listed = measures if isinstance(measures, list | tuple | set) else [measures]
    parsed = tuple(dict.fromkeys(measure(text) for text in listed))
    if not parsed:
        raise ArgumentError("measures: none was given")
    for each in parsed:
        if conventions.ties == "expected" and not each.definition.linear:
            raise MeasureError(f"{each}: the expectation over ties needs a measure linear in gains ({LINEAR_NAMES})")
    return parsed


def check_kind(measure: Measure, runs: Runs) -> None:
    """Refuse a measure of rankings for answers, and one of answers for rankings."""
    answers = runs.criterion is not None
    if answers != measure.definition.of_units:
        use = "rankings, and these are answers; use Mean", "answers, and these are rankings; use nDCG@10, AP or another"
        raise MeasureError(f"{measure}: needs {use[not answers]}")


def _of_answers(conventions: Conventions) -> Conventions:
    """The conventions of answers, of which a unit without a judgment, or a system without units, has no score.

    Raises
    ------
    ArgumentError
        A convention for rankings that is not at its default.
    """
    for name in ("ties", "unjudged", "duplicates"):
        value = getattr(conventions, name)
        if value != getattr(Conventions(), name):
            raise ArgumentError("this is for rankings, and these are answers; leave it at its default", name, value)
    missing = "skip" if conventions.missing == "zero" else conventions.missing
    return replace(conventions, missing=missing, min_coverage=0.0)


def _coverage(view: TopicView | None, pairs: PairView | None) -> Floats:
    """(assessors,) share of a topic's documents that each assessor judged; 1 where nobody prefers any to another."""
    judged = view.judged() if view is not None else pairs.judged() if pairs is not None else np.empty((0, 0))
    return np.asarray(judged.mean(axis=0)) if judged.shape[0] else np.ones(judged.shape[1])


def _score_topic(
    measure: Measure, graded: TopicView | None, paired: PairView | None, conventions: Conventions
) -> tuple[Floats, Floats]:
    """(systems, assessors) scores and (assessors,) numbers of relevant documents of one topic."""
    definition: Any = measure.definition
    view: Any = graded if isinstance(definition, Scored) else paired
    out = np.empty((view.rows.shape[0], view.judged().shape[1]))
    if conventions.unjudged == "condensed" or measure.values.get("judged_only"):
        for a in range(out.shape[1]):
            column = np.empty((out.shape[0], 1))
            definition.score(measure, view.condensed(a), column)
            out[:, a] = column[:, 0]
    else:
        definition.score(measure, view, out)
    return out, definition.n_relevant(measure, view)
