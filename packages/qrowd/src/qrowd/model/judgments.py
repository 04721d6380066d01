"""Judgments: who said what about which document of which topic. No row is ever dropped or merged by itself.

Repeats, contradictions and partial pools are data. What needs one value per (topic, document, assessor) takes
`repeats=` and says how many there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.display import Display, Displayed
from qrowd.errors import ArgumentError, InputError, ScaleError, check_choice
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.conventions import Repeats as Repeats
from qrowd.model.inferred_scales import (
    Sources,
    alike,
    inferred_scales,
    scales_of_parts,
    settled,
    two_unlike,
)
from qrowd.model.labels import (
    Clusters,
    Nested,
    Selection,
    as_integers,
    by_code,
    clusters_of,
    coded_rows,
    combined,
    compact,
    distinct_pairs,
    first_match,
    joined_labels,
    joined_notes,
    make_read_only,
    nested_of,
    nested_rows,
    number_of,
    numbered_clusters,
    or_missing,
    plural,
    repeated_rows,
    selected,
)
from qrowd.model.panel import Panel, Pool, panel_values
from qrowd.model.previews import judgments_display, sizes
from qrowd.model.scales import BINARY, Scale, infer_scale, parse_scale

if TYPE_CHECKING:
    from qrowd.model.cells import IdenticalRows, IncompleteRows, WordLabels
    from qrowd.model.frames import Frame
    from qrowd.model.headers import Names

Recoding = float | Mapping[float, float]


@dataclass(frozen=True, eq=False)
class Judgments(Displayed):
    """Relevance judgments of any number of assessors, one row each, in the order they were read.

    topics, documents, assessors : labels; topic, document, assessor : (n,) int32, numbers into them.
    value : (n,) float64 in the assessor's own units. Negative: pooled but not judged (`recode` gives it a meaning).
    scales : one per assessor, inferred from the values unless declared. Assessors of one table share an inferred scale.
    sources : (assessors,) number of the table each comes from; None where each comes from a file of their own.
    order, unit, seconds, time, comment, criterion : (n,) each, or None where nobody recorded it. `order` (any number)
        decides what comes first among repeats; `unit` names the batch of documents shown together; `seconds` is time
        spent; `time` is when; `comment` is what the assessor wrote; `criterion` is that
        of a unit of an answer, "" for none.
    notes : what was noticed while they were read, such as rows that were left out.
    prepared : options of a command by which they were read, as fields of a signature.
    clusters : {topic: cluster}, such as its conversation, over which intervals and tests are; None: topics are
        independent.
    """

    topics: tuple[str, ...]
    documents: tuple[str, ...]
    assessors: tuple[str, ...]
    topic: Codes
    document: Codes
    assessor: Codes
    value: Floats
    scales: tuple[Scale, ...]
    sources: Sources | None = None
    order: Floats | None = None
    unit: NDArray[np.object_] | None = None
    seconds: Floats | None = None
    time: NDArray[np.object_] | None = None
    comment: NDArray[np.object_] | None = None
    criterion: NDArray[np.object_] | None = None
    notes: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    clusters: Mapping[str, str] | None = None

    OPTIONAL = ("order", "unit", "seconds", "time", "comment", "criterion")

    def __post_init__(self) -> None:
        finite = np.isfinite(self.value)
        if not finite.all():
            raise InputError(
                f"{self.describe(int(finite.argmin()))}: the value is not a finite number; leave unjudged documents out"
            )
        n = len(self.assessors)
        for noun, values in (("scales", self.scales), ("sources", self.sources)):
            if values is not None and len(values) != n:
                raise ScaleError(f"{n} assessors need as many {noun}, got {len(values)}")
        make_read_only(self, ("topic", "document", "assessor", "value", *self.OPTIONAL))

    # ------------------------------------------------------------------ making them

    @classmethod
    def from_codes(
        cls,
        topics: tuple[str, ...],
        documents: tuple[str, ...],
        assessors: tuple[str, ...],
        topic: Codes,
        document: Codes,
        assessor: Codes,
        value: Floats,
        *,
        scales: Mapping[str, Scale | str] | None = None,
        sources: Sources | None = None,
        **optional: Any,
    ) -> Judgments:
        """From integer columns and their labels; the scale of an assessor no pattern of `scales` names is inferred.

        optional : order, unit, seconds, time, comment, where recorded.
        """
        n = len(assessors)
        inferred = inferred_scales(by_code(value, assessor, n), [None] * n, sources)
        judgments = cls(topics, documents, assessors, topic, document, assessor, value, inferred, sources, **optional)
        return judgments.with_scales(scales) if scales else judgments

    @classmethod
    def from_rows(
        cls, rows: Iterable[tuple[str, str, str, float]], *, scales: Mapping[str, Scale | str] | None = None
    ) -> Judgments:
        """From (topic, document, assessor, value) tuples: one table, whose assessors share an inferred scale.

        >>> Judgments.from_rows([("q1", "d1", "ann", 2), ("q1", "d1", "bob", 0)])
        Judgments(2 judgments: 1 topic, 1 document, 2 assessors)
        """
        columns = coded_rows(rows)
        return cls.from_codes(*columns, scales=scales, sources=(0,) * len(columns[2]))

    @classmethod
    def from_dict(cls, nested: Nested, *, scales: Mapping[str, Scale | str] | None = None) -> Judgments:
        """From {assessor: pytrec_eval's {topic: {document: value}}}, or the inner one alone; one scale per assessor."""
        return cls.from_codes(*coded_rows(nested_rows(nested, "assessor", "judgments")), scales=scales)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        *,
        assessor: str = "judgments",
        scales: Mapping[str, Scale | str] | None = None,
        columns: Names | None = None,
        labels: WordLabels | None = None,
        incomplete_rows: IncompleteRows = "refuse",
        identical_rows: IdenticalRows = "keep",
    ) -> Judgments:
        """From a pandas, Polars, PyArrow ... data frame or {column: cells}, one row per judgment: one table.

        Columns are found by their usual names (`qrowd.model.headers.JUDGMENT_COLUMNS`); `columns={"value": "my_label"}`
        names others. A frame without an assessor column belongs to the one assessor named by `assessor`. `scales`
        counts more than a column `scale`. Word labels become 0, 1, 2 by `labels="low<middle<high"`. Other options are
        described at `qrowd.model.frames.TableOptions`.
        """
        from qrowd.model.frames import TableOptions, judgment_columns

        table = judgment_columns(frame, TableOptions(columns, labels, incomplete_rows, identical_rows), assessor)
        (topic, topics), (document, documents), (who, assessors) = table.labels.values()
        columns_read = (topics, documents, assessors, topic, document, who, table.numbers["value"])
        settings: dict[str, Any] = {**table.optional, "scales": table.scales(scales), "sources": (0,) * len(assessors)}
        settings["clusters"] = table.clusters
        judgments = cls.from_codes(*columns_read, **settings, notes=table.notes)
        # Judgments of nobody in particular may well agree; those of one assessor may be one judgment, copied.
        return judgments._with_identical(identical_rows) if table.has_assessors else judgments

    def _with_identical(self, identical_rows: IdenticalRows) -> Judgments:
        """Rows that repeat an earlier one in all columns noted, or left out."""
        import pandas as pd

        alike = np.sort(self._repeated[0])
        columns = {name: getattr(self, name) for name in ("topic", "document", "assessor", "value", *self.OPTIONAL)}
        cells = pd.DataFrame({name: column[alike] for name, column in columns.items() if column is not None})
        again = alike[cells.astype({name: str for name in ("unit", "time", "comment") if name in cells}).duplicated()]
        if not again.size:
            return self
        are, were = ("is", "was") if again.size == 1 else ("are", "were")
        what = {
            "keep": "kept as repeated judgments; if a join or a copy made them, --identical-rows drop leaves them out",
            "drop": "left out",
        }[identical_rows]
        note = f"{plural(again.size, 'row')} {are} identical to an earlier row and {were} {what}"
        noted = replace(self, notes=(*self.notes, note))
        return noted if identical_rows == "keep" else noted._take(np.delete(np.arange(len(self)), again))

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per judgment: topic, document, assessor, value, what else was recorded, and scales where declared."""
        from qrowd.model.frames import make_frame

        labels = {name: np.array(getattr(self, f"{name}s"), object) for name in ("topic", "document", "assessor")}
        columns = {name: words[getattr(self, name)] for name, words in labels.items()} | {"value": self.value}
        columns |= {name: getattr(self, name) for name in self.OPTIONAL if getattr(self, name) is not None}
        if any(scale.declared for scale in self.scales):
            scales = [str(scale) if scale.declared else None for scale in self.scales]
            columns["scale"] = np.array(scales, object)[self.assessor]
        return make_frame(columns, backend)

    def to_dict(self, *, assessor: str | None = None) -> dict[str, Any]:
        """{assessor: {topic: {document: value}}}, or that of one assessor, as pytrec_eval and ranx.Qrels take it."""
        one = self.single()
        codes = (one.assessor, one.topic, one.document)
        nested = nested_of(one.assessors, one.topics, one.documents, codes, as_integers(one.value))
        return nested if assessor is None else nested[self.assessors[number_of(assessor, self.assessors, "assessor")]]

    # ------------------------------------------------------------------ looking at them

    def __len__(self) -> int:
        return int(self.value.size)

    def __repr__(self) -> str:
        return f"Judgments({sizes(self, 'judgment')})"

    def _display(self) -> Display:
        return judgments_display(self)

    def describe(self, row: int) -> str:
        """A row in words, for messages."""
        return (
            f"assessor {self.assessors[self.assessor[row]]}, topic {self.topics[self.topic[row]]}, "
            f"document {self.documents[self.document[row]]}"
        )

    @property
    def pair_numbers(self) -> Ints:
        """(n,) one number per (topic, document): topic * len(documents) + document."""
        return combined(self.topic, self.document, len(self.documents))

    @cached_property
    def _repeated(self) -> tuple[Ints, Bools]:
        """Rows of repeated judgments by topic, document and assessor, then `order`; and where one repeats the last."""
        rows, again = repeated_rows(self.topic, self.document, self.assessor, len(self.documents), len(self.assessors))
        return rows if self.order is None else rows[np.lexsort((self.order[rows], np.cumsum(~again)))], again

    def n_repeats(self) -> int:
        """How many rows repeat an earlier judgment of the same assessor on the same topic and document."""
        return int(self._repeated[1].sum())

    def coverage(self) -> Floats:
        """(assessors, topics) share of the topic's pool (all documents anyone judged) that the assessor judged."""
        return self.panel().coverage()

    def values_by_assessor(self) -> list[Floats]:
        """The values of each assessor, in the order of rows."""
        return by_code(self.value, self.assessor, len(self.assessors))

    def shared_scale(self) -> Scale:
        """The one scale that everybody judges on. Yes and no beside fractions up to 1 are such fractions.

        Raises
        ------
        ScaleError
            Assessors on different scales; it names two. `qrowd.model.one_scale` brings them together.
        """
        scales = self.scales
        if not scales:
            return infer_scale(self.value)
        fractions = [scale for scale in scales if scale.kind == "fractions"]
        if fractions and all(scale.maximum == 1 for scale in scales):
            return fractions[0]
        if not alike(scales):
            raise ScaleError(
                f"assessors {two_unlike(self.assessors, scales)} judge on different scales; rescale or "
                "recode them, or declare the scale they share (--scale)"
            )
        return next((scale for scale in scales if scale.declared), scales[0])

    def own_scales(self) -> dict[str, Scale]:
        """By name, the declared scale or the one of the assessor's own values, whatever others of the table used."""
        return {
            name: scale if scale.declared else infer_scale(values)
            for name, scale, values in zip(self.assessors, self.scales, self.values_by_assessor(), strict=True)
        }

    # ------------------------------------------------------------------ new judgments from these

    def select(
        self,
        *,
        topics: Selection | None = None,
        documents: Selection | None = None,
        assessors: Selection | None = None,
    ) -> Judgments:
        """Only these topics, documents and assessors, each by name, shell pattern, list of those, or function."""
        return self._take(selected(self, topics=topics, documents=documents, assessors=assessors))

    def with_scales(self, scales: Mapping[str, Scale | str]) -> Judgments:
        """With declared scales, by assessor name or shell pattern; the first pattern that fits an assessor counts.

        Raises
        ------
        ScaleError
            A value that its declared scale does not allow.
        """
        new = list(self.scales)
        for i, scale in first_match(self.assessors, scales):
            new[i] = parse_scale(scale) if isinstance(scale, str) else scale
        changed = np.array([old != scale for old, scale in zip(self.scales, new, strict=True)], bool)
        new = self._inferred_again(new, self.value, changed)
        for name, scale, values in zip(self.assessors, new, self.values_by_assessor(), strict=True):
            problem = scale.problem(values)
            if problem and scale.declared:
                raise ScaleError(f"assessor {name}: {problem} (scale {scale}); declare another scale or recode")
        return replace(self, scales=tuple(new))

    def with_clusters(self, clusters: Clusters) -> Judgments:
        """With the cluster of each topic, as of `Scores.with_clusters`."""
        return replace(self, clusters=clusters_of(self.topics, clusters))

    def by_cluster(self) -> Judgments:
        """With clusters in the place of topics; a document stays the same within its topic, and nowhere else."""
        numbers = numbered_clusters(self.topics, self.clusters)
        if numbers is None:
            return self
        pairs, document = distinct_pairs(self.topic, self.document, len(self.documents))
        places = zip(*(part.tolist() for part in np.divmod(pairs, len(self.documents))), strict=True)
        names = tuple(f"{self.topics[t]}/{self.documents[d]}" for t, d in places)
        whole = replace(self, documents=names, document=document, clusters=None)
        return replace(whole, topics=numbers[1], topic=numbers[0][self.topic])

    def recode(self, recoding: Recoding | Mapping[str, Recoding]) -> Judgments:
        """With values replaced: by a mapping of values, or by a threshold that makes them binary.

        recoding : {-2: 0} for everyone (values not named stay), 2 for everyone ("2 and above is 1, below is 0"),
            or one of these per assessor name or shell pattern: {"umbrela-*": 2, "*": {-2: 0}}; the first pattern that
            fits an assessor counts. A declared scale stays as long as it allows the new values; others are inferred
            again, table by table, and a threshold makes them binary. A threshold leaves negative values (not judged)
            alone.
        """
        by_name: Mapping[str, Recoding]
        if isinstance(recoding, Mapping) and all(isinstance(key, str) for key in recoding):
            by_name = recoding  # type: ignore[assignment]
        else:
            by_name = {"*": recoding}  # type: ignore[dict-item]
        value = self.value.copy()
        scales = list(self.scales)
        changed = np.zeros(len(scales), bool)
        for i, rule in first_match(self.assessors, by_name):
            rows = self.assessor == i
            old = self.value[rows]
            if isinstance(rule, Mapping):
                new = old.copy()
                for before, after in rule.items():
                    new[old == float(before)] = float(after)
                value[rows] = new
                if not self.scales[i].declared or self.scales[i].problem(new):
                    scales[i], changed[i] = infer_scale(new), True
            else:
                value[rows] = np.where(old < 0, old, old >= float(rule))
                scales[i] = BINARY
        return replace(self, value=value, scales=tuple(self._inferred_again(scales, value, changed)))

    def _inferred_again(self, scales: list[Scale], value: Floats, changed: Bools) -> list[Scale]:
        """The scales, undeclared ones inferred anew in every table where the scale of some assessor changed."""
        if self.sources is None or not changed.any():
            return scales
        source = np.array(self.sources)
        again = np.isin(source, source[changed])
        fixed = [None if anew and not scale.declared else scale for anew, scale in zip(again, scales, strict=True)]
        return list(inferred_scales(by_code(value, self.assessor, len(scales)), fixed, self.sources))

    def relevant_or_not(self) -> Judgments:
        """Every value 1 where it is relevant on its assessor's own scale, 0 where it is not.

        Raises
        ------
        ScaleError
            An assessor on a magnitude scale that does not say what is relevant.
        """
        lowest = [scale.rel for scale in self.scales]
        if None in lowest:
            name = self.assessors[lowest.index(None)]
            raise ScaleError(f"assessor {name}: magnitudes do not say what is relevant; recode them with a threshold")
        value = np.where(self.value < 0, self.value, self.value >= np.array(lowest, np.float64)[self.assessor])
        return replace(
            self, value=value, scales=tuple(replace(BINARY, declared=scale.declared) for scale in self.scales)
        )

    def rescaled(self) -> Judgments:
        """Every value divided by its scale's maximum, so that all judge from 0 to 1; what was relevant stays relevant.

        Raises
        ------
        ScaleError
            An assessor on a magnitude scale, which has no maximum.
        """
        for name, scale in zip(self.assessors, self.scales, strict=True):
            if scale.kind == "magnitude":
                raise ScaleError(f"assessor {name}: magnitudes have no maximum to divide by; normalise or recode them")
        maxima = np.array([scale.maximum for scale in self.scales])
        value = np.where(self.value < 0, self.value, self.value / maxima[self.assessor])
        return replace(self, value=value, scales=tuple(scale.rescaled() for scale in self.scales))

    def single(self, *, repeats: Repeats = "first") -> Judgments:
        """At most one judgment per (topic, document, assessor).

        repeats : which one stays, by the order column (else by place): "first" or "last"; "mean" puts the mean of the
            repeated values in the place of the first (the scale stays what it was); "error" refuses repeats. A negative
            value ("not judged") stays only where the assessor said nothing else.
        """
        check_choice("repeats", repeats, Repeats)
        rows, again = self._repeated
        if not rows.size:
            return self
        if repeats == "error":
            raise InputError(
                f"{self.describe(int(rows[np.flatnonzero(again)[0]]))}: judged more than once "
                f"({self.n_repeats()} repeated judgments in all); --repeats first, last or mean says "
                "which counts; in Python repeats= or .single(repeats=...)"
            )
        stays = np.bincount(rows, minlength=len(self)) == 0
        has_value = self.value[rows] >= 0
        group = np.cumsum(~again) - 1
        anything = np.logical_or.reduceat(has_value, np.flatnonzero(~again))
        rows, group = (column[has_value | ~anything[group]] for column in (rows, group))
        firsts = np.flatnonzero(np.append(True, group[1:] > group[:-1]))
        stays[rows[firsts if repeats != "last" else np.append(firsts[1:], rows.size) - 1]] = True
        if repeats != "mean":
            return self._take(np.flatnonzero(stays), keep_assessors=True)
        value = self.value.copy()
        value[rows[firsts]] = np.add.reduceat(value[rows], firsts) / np.diff(np.append(firsts, rows.size))
        return replace(self, value=value)._take(np.flatnonzero(stays), keep_assessors=True)

    def slots(self, n: int) -> Judgments:
        """The first n judgments of every (topic, document) as n virtual assessors `slot 1` ... `slot n`.

        For crowds, where nobody judged a whole pool. First by the order column (else by place); an assessor's repeats
        count as judgments of their own; "not judged" does not. All slots are on the one scale of the assessors. Notes
        say whose judgments of most documents are left out.

        Raises
        ------
        ScaleError
            Assessors on different scales, whose values a slot would mix.
        """
        if n < 1:
            raise ArgumentError("at least one slot was expected", "slots", n)
        with_value = np.flatnonzero(self.value >= 0)
        keys = [self.pair_numbers] if self.order is None else [self.order, self.pair_numbers]
        rows = with_value[np.lexsort([key[with_value] for key in keys])]
        pair = self.pair_numbers[rows]
        slot = np.full(len(self), n)
        slot[rows] = np.arange(rows.size) - np.searchsorted(pair, pair)  # pair is sorted: this finds each one's first
        scales = (self.shared_scale(),) * n
        names = tuple(f"slot {i + 1}" for i in range(n))
        assessor = np.minimum(slot, n - 1).astype(np.int32)
        left_out = np.bincount(self.assessor[rows[slot[rows] >= n]])
        notes = self.notes
        for i in np.flatnonzero(left_out > np.unique(pair).size / 2):
            notes = (*notes, f"slots leave out {left_out[i]:,} judgments of {self.assessors[i]}")
        slotted = replace(self, assessors=names, assessor=assessor, scales=scales, sources=(0,) * n, notes=notes)
        return slotted._take(np.flatnonzero(slot < n), keep_assessors=True)

    def panel(self, *, repeats: Repeats = "first") -> Panel:
        """As one dense array over the pooled documents; see `Panel`. Values below 0 become nan (not judged)."""
        one = self.single(repeats=repeats)
        width = max(len(one.documents), 1)
        pairs, row = distinct_pairs(one.topic, one.document, width)
        values = panel_values(one.value, row, one.assessor, (pairs.size, len(one.assessors)))
        starts = np.searchsorted(pairs, np.arange(len(one.topics) + 1, dtype=np.int64) * width)
        pool = Pool(one.topics, one.documents, starts.astype(np.int64), (pairs % width).astype(np.int32))
        return Panel(pool, one.assessors, one.scales, values)

    def _take(self, rows: Ints, *, keep_assessors: bool = False) -> Judgments:
        """These rows, with labels that no row uses left out (assessors only if asked)."""
        topics, topic = compact(self.topics, self.topic[rows])
        documents, document = compact(self.documents, self.document[rows])
        assessors = self.assessors
        assessor = self.assessor[rows]
        scales = self.scales
        sources = self.sources
        if not keep_assessors:
            used = np.flatnonzero(np.bincount(assessor))
            scales = tuple(self.scales[i] for i in used)
            sources = None if sources is None else tuple(sources[i] for i in used)
            assessors, assessor = compact(self.assessors, assessor)
        optional: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[rows] for name in self.OPTIONAL
        }
        value = self.value[rows]
        if sources is not None and len(assessors) < len(self.assessors) and not alike(scales):
            # Without those who are left out, the others of their table may be on one scale.
            scales = inferred_scales(by_code(value, assessor, len(assessors)), settled(scales, sources), sources)
        columns = (topics, documents, assessors, topic, document, assessor, value)
        optional |= {name: getattr(self, name) for name in ("notes", "prepared", "clusters")}
        return Judgments(*columns, scales, sources, **optional)


def concatenate_judgments(parts: Sequence[Judgments]) -> Judgments:
    """All rows of all parts, one after the other; the same assessor name is the same assessor.

    An assessor on two declared scales is a ScaleError; a scale that was inferred is inferred again from all values.
    """
    if len(parts) == 1:
        return parts[0]
    (topics, topic), (documents, document), (assessors, assessor) = joined_labels(
        parts, "topic", "document", "assessor"
    )
    value = np.concatenate([part.value for part in parts])
    optional: dict[str, Any] = {
        name: np.concatenate(
            [or_missing(getattr(part, name), len(part), name in ("order", "seconds")) for part in parts]
        )
        for name in Judgments.OPTIONAL
        if any(getattr(part, name) is not None for part in parts)
    }
    stated = [(part.assessors, part.scales, part.sources) for part in parts]
    scales, sources = scales_of_parts(stated, assessors, by_code(value, assessor, len(assessors)))
    notes = joined_notes(parts)
    clusters = {topic: name for part in parts for topic, name in (part.clusters or {}).items()} or None
    columns = (topics, documents, assessors, topic, document, assessor, value)
    return Judgments(*columns, scales, sources, **optional, notes=notes, clusters=clusters)
