"""What the explorer's page holds: scores of every measure, assessor, topic and system, methods, documents and names.

The page computes means, ranks and intervals from these numbers, as `qrowd.evaluate` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

from qrowd.comparison.interval_widths import check_confidence
from qrowd.errors import ArgumentError
from qrowd.evaluation import DEFAULT_PREFERENCE_MEASURES, evaluate, measure
from qrowd.model.chance import Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.measure import Measure
from qrowd.model.one_scale import CombineScales
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.explorer_documents import LETTERS, ListedDocuments, Texts, listed_documents
from qrowd.reports.explorer_methods import MethodOfPage, methods_of_page, panel_mean, usual_methods
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import count
from qrowd.reports.short_names import short_names as without_common_words

if TYPE_CHECKING:
    from qrowd.executors import AnyExecutor

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10")
DEPTH = 10


@dataclass(frozen=True)
class MeasureOfPage:
    """A measure that the page offers; family and rel choose it.

    family : the measure without its threshold, as in "AP". rel : the threshold; None where none is named.
    """

    name: str
    family: str
    rel: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, one: Measure) -> MeasureOfPage:
        rel = one.values.get("rel")
        threshold = float(rel) if isinstance(rel, int | float) else None
        low, high = (None if abs(bound) == inf else bound for bound in one.bounds)
        return cls(str(one), str(_with_rel(one, None)), threshold, low, high)


@dataclass(frozen=True, eq=False)
class ExplorerData:
    """The content of the page, before it is encoded.

    kind : "judgments" or "preferences". scores : by every measure, assessor, topic and system. labels : the systems as
    they are shown. topic_texts : None where there is none. documents : None where they are left out.
    confidence : of the intervals. notes : what a reader must know of the numbers.
    """

    title: str
    command: str
    kind: str
    scores: Scores
    labels: tuple[str, ...]
    topic_texts: tuple[str | None, ...]
    measures: tuple[MeasureOfPage, ...]
    methods: tuple[MethodOfPage, ...]
    documents: ListedDocuments | None
    confidence: float
    conventions: Mapping[str, Any]
    notes: tuple[str, ...]


def explorer_data(
    runs: Runs,
    judgments: Judgments | Preferences,
    measures: object | Sequence[object] | None = None,
    *,
    rel: Sequence[float] | None = None,
    methods: Sequence[str] | None = None,
    topics: Texts | None = None,
    documents: Texts | None = None,
    depth: int = DEPTH,
    conventions: Conventions = Conventions(),
    combine_scales: CombineScales = "auto",
    confidence: float = 0.95,
    rng: Rng = None,
    short_names: bool = False,
    title: str = "",
    command: str = "",
    executor: AnyExecutor = None,
    progress: Callable[[int, int], None] | None = None,
) -> ExplorerData:
    """Score everything, and find the documents of the top lists; the options are those of `qrowd.explore`."""
    check_confidence(confidence)
    if len(runs.systems) < 2:
        raise ArgumentError(f"runs: one system only ({', '.join(runs.systems)}); give two or more to compare")
    if depth < 0:
        raise ArgumentError(f"depth={depth}: 0 (no documents) or more was expected")
    parsed = measures_of_page(measures, rel or (), judgments)
    scores = evaluate(runs, judgments, parsed, conventions=conventions, progress=progress)
    if isinstance(judgments, Preferences):
        if methods:
            raise ArgumentError(f"methods: {methods[0]} merges judgments, and these are preferences; leave it out")
        offered: tuple[MethodOfPage, ...] = (panel_mean(),)
        warnings: tuple[str, ...] = ()
    else:
        offered, warnings = methods_of_page(
            runs,
            judgments,
            scores,
            parsed,
            usual_methods(judgments) if methods is None else methods,
            conventions=conventions,
            combine_scales=combine_scales,
            seed=seed_of(rng),
            executor=executor,
            progress=progress,
        )
    listed = None
    if depth:
        listed = listed_documents(
            runs,
            judgments,
            scores.topics,
            depth,
            texts=documents,
            score_dtype=conventions.score_dtype,
            repeats=conventions.repeats,
        )
    return ExplorerData(
        title or "Which system is ahead, for whom, and why?",
        command,
        "preferences" if isinstance(judgments, Preferences) else "judgments",
        scores,
        without_common_words(scores.systems) if short_names else scores.systems,
        _topic_texts(topics, scores.topics),
        tuple(map(MeasureOfPage.of, parsed)),
        offered,
        listed,
        confidence,
        {name: "none" if value is None else value for name, value in conventions.as_dict().items()},
        (*_notes(scores, listed), *warnings),
    )


def measures_of_page(
    measures: object | Sequence[object] | None, rel: Sequence[float], judgments: Judgments | Preferences
) -> tuple[Measure, ...]:
    """The measures, those with a parameter `rel` that they do not state once for each threshold.

    Raises
    ------
    ArgumentError
        Thresholds where no measure takes one.
    MeasureError
        A measure that is not known, or a threshold that it does not accept.
    """
    if measures is None:
        measures = DEFAULT_PREFERENCE_MEASURES if isinstance(judgments, Preferences) else DEFAULT_MEASURES
    texts = list(measures) if isinstance(measures, list | tuple) else [measures]
    parsed = [measure(text) for text in texts]
    if not parsed:
        raise ArgumentError("measures: none was given; name one, such as 'nDCG@10'")
    if rel and not any("rel" in one.values for one in parsed):
        raise ArgumentError(f"rel={rel[0]:g}: none of {', '.join(map(str, parsed))} has a threshold; leave it out")
    expanded = [
        _with_rel(one, threshold)
        for one in parsed
        for threshold in (rel if rel and "rel" in one.values and one["rel"] is None else [one.values.get("rel")])
    ]
    return tuple(dict.fromkeys(expanded))


def _with_rel(one: Measure, rel: object) -> Measure:
    """The measure with this threshold."""
    if one.values.get("rel") == rel or "rel" not in one.values:
        return one
    if rel is None:
        return replace(one, values={**one.values, "rel": None})
    parameter = next(each for each in one.definition.parameters if each.name == "rel")
    try:
        return replace(one, values={**one.values, "rel": parameter.accept(rel)})
    except ValueError as error:
        raise ArgumentError(f"rel={rel}: {one} takes {error}") from None


def _topic_texts(texts: Texts | None, topics: Sequence[str]) -> tuple[str | None, ...]:
    """The title of each topic, or its description."""
    if texts is None:
        return (None,) * len(topics)
    rows = [texts.get(topic, {}) for topic in topics]
    titles = [row.get("title", "").strip() or row.get("description", "").strip() or None for row in rows]
    if not any(titles):
        raise ArgumentError(f"topics: none of the {len(topics)} topics has a text, {topics[0]} among them; compare ids")
    return tuple(titles)


def _notes(scores: Scores, listed: ListedDocuments | None) -> list[str]:
    """Beside those of scoring, what a choice of assessors and topics does not change."""
    notes = [str(note) for note in scoring_notes(scores)]
    if any(not scale.declared for scale in scores.attributes["scales"].values()):
        notes.append("choice: inferred scales are those of all judgments, whatever assessors and topics are chosen")
    little = (scores.coverage > 0) & (scores.coverage < scores.attributes["conventions"]["min_coverage"])
    if little.any():
        cells = count(int(little.sum()), "(assessor, topic) cell has", "(assessor, topic) cells have")
        notes.append(
            f"choice: {cells} no score, for little coverage of the documents that anyone judged; the choice of "
            "assessors does not change that (--min-coverage 0 scores all)"
        )
    if scores.attributes["conventions"]["missing"] == "interpolate":
        notes.append("choice: missing scores are interpolated from all topics, whatever topics are chosen")
    if listed is not None and listed.texts is not None:
        n = listed.texts.count("")
        if n:
            notes.append(f"texts: {count(n, 'document has', 'documents have')} none")
        if listed.n_shortened:
            shortened = count(listed.n_shortened, "text is", "texts are")
            notes.append(f"texts: {shortened} cut after {LETTERS:,} letters")
    return notes
