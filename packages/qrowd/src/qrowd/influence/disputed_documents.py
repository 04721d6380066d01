"""Documents on which assessors disagree, ordered by how much that changes differences of systems.

They can be written as the folder of a campaign, in which one more assessor judges each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.evaluation import measure as parsed_measure
from qrowd.influence.score_cells import ROUNDING, Cells, cells_of, check_panel
from qrowd.kernels.arrays import Floats, Ints
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.objects import AnyJudgments, AnyRuns, as_judgments, as_runs
from qrowd.model.result import Result
from qrowd.model.signature import with_signature
from qrowd.paths import PathLike
from qrowd.sequential.batches import check_texts, write_campaign

AT_ONCE = 2_000_000  # numbers of an array over documents, assessors and levels or systems


@dataclass(frozen=True, eq=False)
class Disagreements(Result):
    """Documents to which assessors gave different grades, ordered by what that changes; arrays are (documents,).

    topics, documents : labels. n_judgments : assessors who judged the document. lowest, highest : the grades between
    which they differ. sd : standard deviation of the gains of the grades among them (of the population). effect : how
    much the difference of two systems changes between all of them giving the lowest grade and all giving the highest;
    the largest of the pairs. product : sd x effect, the order. first, second : this pair. difference_lowest,
    difference_highest : first minus second if all gave the lowest grade, or the highest. n_reversed : pairs of
    systems of which another is ahead between the two.
    judgments : all judgments of these documents, document by document and by assessor. rescaled : whether grades were
    divided by the maximum of the assessor's scale.
    """

    systems: tuple[str, ...]
    measure: str
    topics: tuple[str, ...]
    documents: tuple[str, ...]
    n_judgments: Ints
    lowest: Floats
    highest: Floats
    sd: Floats
    effect: Floats
    product: Floats
    first: tuple[str, ...]
    second: tuple[str, ...]
    difference_lowest: Floats
    difference_highest: Floats
    n_reversed: Ints
    n_judged: int  # documents that two or more assessors judged
    judgments: Judgments = field(repr=False)
    rescaled: bool = False

    _COLUMNS = (
        "topics",
        "documents",
        "product",
        "sd",
        "effect",
        "first",
        "second",
        "difference_lowest",
        "difference_highest",
        "n_reversed",
        "n_judgments",
        "lowest",
        "highest",
    )

    @property
    def grades(self) -> tuple[str, ...]:
        """The grades of each document by assessor, as text: "ann 0, bob 3"."""
        pairs = zip(self.judgments.assessor.tolist(), self.judgments.value.tolist(), strict=True)
        texts = [f"{self.judgments.assessors[assessor]} {round(value, 3):g}" for assessor, value in pairs]
        ends = np.cumsum(self.n_judgments)
        return tuple(", ".join(texts[end - n : end]) for end, n in zip(ends, self.n_judgments, strict=True))

    def _columns(self) -> Mapping[str, Any]:
        return {**super()._columns(), "grades": self.grades}

    def _tables(self) -> dict[str, Callable[[], Mapping[str, Any]]]:
        return {"documents": self._columns, "judgments": self._judgments}

    def _judgments(self) -> dict[str, Any]:
        rows, repeats = self.judgments, self.n_judgments
        columns: dict[str, Any] = {
            "topic": np.repeat(np.array(self.topics, object), repeats),
            "document": np.repeat(np.array(self.documents, object), repeats),
            "assessor": np.array(rows.assessors, object)[rows.assessor],
            "value": rows.value,
        }
        return columns if rows.comment is None else columns | {"comment": rows.comment}

    def _sentence(self) -> str:
        n_alone = (self.n_reversed > 0).sum()
        alone = {0: "none of them alone reverses their order", 1: "1 of them alone reverses their order"}.get(
            n_alone, f"{n_alone:,} of them alone reverse their order"
        )
        more = f"; {(self.effect > ROUNDING).sum():,} of these change differences of systems by {self.measure}; {alone}"
        return (
            f"Assessors gave {len(self.topics):,} of {self.n_judged:,} documents different grades"
            f"{more if self.topics else ''}.{' Grades are divided by the maximum of their scale.' * self.rescaled}"
        )


@with_signature("disagreements")
def disagreements(
    runs: AnyRuns,
    judgments: AnyJudgments,
    measure: object = "nDCG@10",
    *,
    systems: Sequence[str] | None = None,
    conventions: Conventions = Conventions(),
) -> Disagreements:
    """Documents to which assessors gave different grades, ordered by (disagreement x effect on a difference).

    The disagreement is the standard deviation of the gains of the document's judgments. The effect is the change of the
    difference of two systems, that of the means over topics of the means over assessors, between all who judged the
    document giving the lowest of its grades and all giving the highest: what `qrowd.evaluate` gives for both,
    normaliser included. Of several pairs of systems the one with the largest effect counts.

    Parameters
    ----------
    measure
        Any measure of judgments. The gain of a grade is the value itself for measures that are not made of gains.
    systems
        Those whose pairs are taken, as two that are compared; default: all.
    conventions
        Those of scoring; ties, unjudged, missing, empty and duplicates must have their defaults. Where assessors judge
        on several scales, grades="rescaled" divides each grade by the maximum of its scale.

    Raises
    ------
    MeasureError
        A measure of preferences, or one that joins the assessors.
    ArgumentError
        Judgments of one assessor or on several scales, fewer than two systems, a convention that is not supported.

    >>> import qrowd
    >>> runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d2": 2, "d1": 1}}}
    >>> judgments = {"ann": {"t": {"d1": 3, "d2": 1, "d3": 3}}, "bob": {"t": {"d1": 0, "d2": 1, "d3": 3}}}
    >>> result = qrowd.disagreements(runs, judgments, "DCG@1")
    >>> result.to_frame()[["document", "sd", "effect", "n_reversed", "grades"]].values.tolist()
    [['d1', 1.5, 3.0, 1, 'ann 3, bob 0']]
    """
    graded = conventions.graded(as_judgments(judgments)).single(repeats=conventions.repeats)
    check_panel(graded.assessors, graded.scales, "judgments")
    parsed = parsed_measure(measure)
    options: dict[str, Any] = {"systems": systems, "change": "panel", "conventions": conventions}
    cells = cells_of(as_runs(runs), graded, parsed, **options)
    judged = cells.level >= 0
    n_judgments = judged.sum(axis=1)
    low, high = cells.lowest.max(axis=1), cells.highest.max(axis=1)
    items = np.flatnonzero(high > low)
    at_lowest, at_highest = (_means(cells, items, level) for level in (cells.lowest, cells.highest))
    moved = at_highest - at_lowest
    first, second = moved.argmax(axis=1), moved.argmin(axis=1)
    second = np.where(first == second, (first + 1) % len(cells.systems), second)  # all move alike
    asked = tuple(systems or cells.systems)
    place = np.array([asked.index(name) for name in cells.systems])
    turned = place[first] > place[second]  # the difference is that of the systems in the order asked for
    first, second = np.where(turned, (second, first), (first, second))
    rows = np.arange(items.size)
    lowest, highest = (means[rows, first] - means[rows, second] for means in (at_lowest, at_highest))
    effect = np.abs(highest - lowest)
    gains = np.where(judged, cells.judgment_gains, np.nan)[items]
    sd = np.nanstd(gains, axis=1)
    product = np.where(effect > ROUNDING, sd * effect, 0.0)
    order = np.lexsort((-sd, -product))
    items = items[order]
    return Disagreements(
        asked,
        str(parsed),
        tuple(cells.topics[topic] for topic in cells.topic[items]),
        tuple(cells.documents[item] for item in items),
        n_judgments[items],
        cells.values[low[items]],
        cells.values[high[items]],
        sd[order],
        effect[order],
        product[order],
        tuple(cells.systems[i] for i in first[order]),
        tuple(cells.systems[i] for i in second[order]),
        lowest[order],
        highest[order],
        _reversed_pairs(at_lowest, at_highest)[order],
        int((n_judgments > 1).sum()),
        _of_items(graded, items, cells),
        conventions.grades == "rescaled",
    )


def _means(cells: Cells, items: Ints, level: Ints) -> Floats:
    """(items, systems) means if the judgments of each of these documents alone had these levels, by scoring again."""
    means = np.repeat(cells.means[None], items.size, axis=0)
    rows, assessors = np.nonzero((level[items] >= 0) & (level[items] != cells.level[items]))
    changed = items[rows]
    moved = cells.moved(changed, assessors, level[changed, assessors])
    np.add.at(means, rows, (moved * cells.share[cells.cell(changed, assessors)]).T)
    return means


def _reversed_pairs(lowest: Floats, highest: Floats) -> Ints:
    """(items,) pairs of systems of which one is ahead with the lowest grade and the other with the highest."""
    n_systems = lowest.shape[1]
    first, second = np.triu_indices(n_systems, 1)
    counts = np.zeros(len(lowest), np.int64)
    block = max(AT_ONCE // max(first.size, 1), 1)
    for start in range(0, len(lowest), block):
        rows = slice(start, start + block)
        before, after = (means[rows, first] - means[rows, second] for means in (lowest, highest))
        apart = (np.abs(before) > ROUNDING) & (np.abs(after) > ROUNDING)
        counts[rows] = (apart & ((before > 0) != (after > 0))).sum(axis=1)
    return counts


def _of_items(judgments: Judgments, items: Ints, cells: Cells) -> Judgments:
    """The judgments of these documents in their order, by assessor."""
    place = np.full(cells.topic.size, -1)
    place[items] = np.arange(items.size)
    of_row = place[cells.items_of(judgments)]
    rows = np.lexsort((judgments.assessor, of_row))
    return judgments._take(rows[(of_row[rows] >= 0) & (judgments.value[rows] >= 0)])


def write_adjudication(
    path: PathLike,
    disagreements: Disagreements,
    *,
    topics: Mapping[str, Mapping[str, str]],
    documents: Mapping[str, Mapping[str, str]],
    n_documents: int = 20,
) -> tuple[Path, ...]:
    """Write a new folder for `qrowd campaign create`, in which one person judges the first documents again.

    Its pages show neither the grades nor the comments so far. Read together with the judgments, what the campaign
    collects is one more assessor of the panel.

    Parameters
    ----------
    topics, documents
        Texts: {label: {"title": ..., "text": ...}}.
    n_documents
        The first so many.

    Returns
    -------
        The files that were written.

    Raises
    ------
    ArgumentError
        No disagreement, a scale without grades, a topic or document without a text, or a folder that exists.
    """
    if not disagreements.documents:
        raise ArgumentError("disagreements: there are none, so there is nothing to adjudicate")
    if n_documents < 1:
        raise ArgumentError("at least one document was expected", "n_documents", n_documents)
    scale = disagreements.judgments.shared_scale()
    if scale.kind not in ("binary", "graded"):
        raise ArgumentError(f"disagreements: a campaign collects grades, not values of the scale {scale}")
    pairs = list(zip(disagreements.topics, disagreements.documents, strict=True))[:n_documents]
    check_texts("topics", topics, (topic for topic, _ in pairs))
    check_texts("documents", documents, (document for _, document in pairs))
    rows = [{**documents[document], "topic": topic, "document": document} for topic, document in pairs]
    return write_campaign(path, rows, topics, scale=str(scale))
