"""One line per convention that mattered: what a reader must know before believing the numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qrowd.errors import MeasureError
from qrowd.evaluation import measure
from qrowd.model.inferred_scales import alike
from qrowd.model.one_scale import Combined
from qrowd.model.scores import Scores
from qrowd.reports.phrases import count
from qrowd.reports.scales import DONE, line_of_scales


def notes(scores: Scores) -> Iterator[str]:
    """The lines, from the scores' coordinates and attributes; nothing is said of what did not happen.

    Scores that went through arithmetic have lost their attributes, and nothing can be said of them.
    """
    if "conventions" not in scores.attributes:
        return
    conventions = scores.attributes["conventions"]
    if "approaches" in scores.attributes:
        yield f"methods: each puts the panel together in its way; seed: {scores.attributes['seed']}"
        yield from scores.attributes["warnings"]
    yield from _scales(scores, conventions["grades"])
    yield from _never_relevant(scores)
    yield from _coverage(scores, conventions["min_coverage"])
    compared = not scores.attributes["scales"]  # preferences have none
    if repeats := scores.attributes["repeated_judgments"]:
        what, rule = ("preference", "every one counts") if compared else ("judgment", _REPEATS[conventions["repeats"]])
        yield f"repeats: {count(repeats, f'{what} repeats', f'{what}s repeat')} one by the same assessor; {rule}"
    yield from _ranking(scores, conventions)
    shares = scores.attributes["unjudged_shares"]
    if any(shares.values()):
        what = "gain 0" if conventions["unjudged"] == "nonrelevant" else "are taken out of each ranking first"
        told = "compared by nobody" if compared else f"judged by nobody; they {what}"
        counted = ", ".join(f"{_percent(share)} of {looked_at(cut)}" for cut, share in shares.items())
        yield f"unjudged: {counted} retrieved documents were {told}"
    yield from _residual(scores)
    yield from _empty(scores, conventions["empty"])
    yield from _missing(scores, conventions["missing"])


def looked_at(cut: int | None) -> str:
    """Which of the retrieved documents a measure with this cut-off looks at."""
    return "all" if cut is None else "the first" if cut == 1 else f"the first {cut}"


_REPEATS = {"first": "the first counts", "last": "the last counts", "mean": "their mean counts"}
_MISSING = {
    "zero": "score 0",
    "skip": "have no score",
    "interpolate": "get the mean of the topic's other systems and the system's other topics",
}


def _scales(scores: Scores, grades: str) -> Iterator[str]:
    scales = scores.attributes["scales"]
    if not scales:
        return
    combined: dict[Combined, list[str]] = {}
    for method, how in scores.attributes.get("combined", {}).items():
        combined.setdefault(how, []).append(method)
    done = [DONE["unit"]] if grades == "unit" else []
    done += [f"{', '.join(methods)}: {DONE[how]}" for how, methods in combined.items()]
    if not done and not alike(list(scales.values())):
        done = ["each assessor's scores are on the assessor's own scale"]
    yield line_of_scales(scales, scores.attributes.get("stopping_short", {}), "; ".join(done))


def _never_relevant(scores: Scores) -> Iterator[str]:
    """Assessors for whom a measure finds nothing relevant in any topic they judged."""
    judged = (scores.coverage > 0).any(axis=1)
    none = (scores.relevant.sum(axis=2) == 0) & judged
    by_group: dict[tuple[str, ...], list[str]] = {}
    for m, text in enumerate(scores.measures):
        group = tuple(name for name, never in zip(scores.assessors, none[m], strict=True) if never)
        if group:
            by_group.setdefault(group, []).append(text)
    for group, texts in by_group.items():
        yield (
            f"never relevant: {_some(list(group))} of {count(judged.sum(), 'assessor')} "
            f"{'never reaches' if len(group) == 1 else 'never reach'} what {', '.join(texts)} counts as relevant"
        )


def _coverage(scores: Scores, least: float) -> Iterator[str]:
    coverage = scores.coverage
    none, low = int((coverage == 0).sum()), int(((coverage > 0) & (coverage < least)).sum())
    full = int((coverage == 1).sum())
    if full == coverage.size:
        return
    text = f"coverage: of {coverage.size:,} (assessor, topic) cells {full:,} cover the whole pool"
    if low:
        text += f", {low:,} less than {_percent(least)} of it (no score there)"
    yield text + (f", {none:,} nothing at all (no score there)" if none else "")


def _ranking(scores: Scores, conventions: dict[str, object]) -> Iterator[str]:
    tied, lists = scores.attributes["tied_lists"], scores.attributes["lists"]
    if tied:
        rule = (
            "broken by document id, highest first"
            if conventions["ties"] == "document"
            else "scored by their mean over the tied ranks"
        )
        yield f"ties: {tied:,} of {lists:,} ranked lists hold equal scores ({conventions['score_dtype']}), {rule}"
    contradictions = scores.attributes["rank_contradictions"]
    if contradictions:
        yield f"ranks: in {count(contradictions, 'list')} the rank column contradicts the scores; the scores count"


def is_residual(text: str) -> bool:
    """Whether a score says how uncertain another is. Scores may be of what is no registered measure."""
    try:
        return bool(measure(text).values.get("residual"))
    except MeasureError:
        return False


def _residual(scores: Scores) -> Iterator[str]:
    for text in scores.measures:
        if is_residual(text):
            mean = float(np.nanmean(scores.of(text)))
            yield f"residual: {text} is {mean:.4f} on average: what RBP could gain if all unjudged were relevant"


def _empty(scores: Scores, empty: str) -> Iterator[str]:
    empties = (scores.relevant == 0) & (scores.coverage > 0)[None]
    counts = {text: int(cells.sum()) for text, cells in zip(scores.measures, empties, strict=True) if cells.any()}
    if counts:
        told = ", ".join(f"{text} {count:,}" for text, count in counts.items())
        what = "score 0" if empty == "zero" else "have no score"
        yield f"empty: (assessor, topic) cells without a relevant document {what}: {told} of {scores.coverage.size:,}"


def _missing(scores: Scores, missing: str) -> Iterator[str]:
    if scores.attributes["missing_lists"]:
        yield f"missing: {scores.attributes['missing_lists']:,} judged topics a run has no list for {_MISSING[missing]}"
    if scores.attributes["unjudged_topics"]:
        yield f"not judged: {count(scores.attributes['unjudged_topics'], 'topic')} of the runs, ignored"


def _some(names: list[str], everyone: bool = False) -> str:
    if everyone:
        return f"all {len(names)} assessors" if len(names) > 1 else names[0]
    return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
