"""A note for each convention of scoring that mattered: what a reader must know before believing the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from qrowd.comparison.mean_squares import panel_of
from qrowd.errors import MeasureError, NoOverlapError
from qrowd.evaluation import measure
from qrowd.kernels.arrays import Floats
from qrowd.model.inferred_scales import alike
from qrowd.model.one_scale import Combined
from qrowd.model.scores import Scores, clusters_in
from qrowd.reports.document import Note
from qrowd.reports.phrases import count, listed, percent
from qrowd.reports.scale_notes import SCALE_RULES, scales_note

MANY_HOLES = 0.7  # share of a system's scores (simulations: docs/comparison.md)
FEW_CLUSTERS = 10  # below which intervals err most in simulations (docs/comparison.md)
MOST = 0.5  # of the first documents of all systems
LITTLE_COVERAGE = 0.75  # of a pool, on average over the assessors and topics with judgments


def scoring_notes(scores: Scores) -> Iterator[Note]:
    """The notes on how the scores came about; nothing is said of what did not happen.

    Scores that went through arithmetic have lost their attributes: only what is missing can be said of them.
    """
    yield from _holes(scores)
    yield from _clusters(scores)
    about = scores.attributes
    if "conventions" not in about:
        return
    conventions = about["conventions"]
    if "methods" in about:
        yield Note("methods", f"each combines the assessors in its own way; seed: {about['seed']}")
        yield from (Note(*warning.split(": ", 1)) for warning in about["warnings"])
    if len(criteria := about.get("criteria", ())) > 1 and "Mean" in scores.measures:
        yield Note("criteria", f"Mean joins {listed(criteria)}; of one: -m 'Mean(criterion={criteria[0]})'")
    yield from _scales(scores, conventions["grades"])
    yield from _coverage(scores, conventions["min_coverage"])
    of_preferences = not about["scales"]  # preferences have none
    if repeats := about["repeated_judgments"]:
        noun = "preference" if of_preferences else "judgment"
        rule = "each of them counts" if of_preferences else _REPEATS[conventions["repeats"]]
        n = count(repeats, f"{noun} repeats", f"{noun}s repeat")
        yield Note("repeats", f"{n} one by the same assessor; {rule}")
    yield from _ranking(scores, conventions)
    shares = about["unjudged_shares"]
    if any(shares.values()):
        rule = "gain 0" if conventions["unjudged"] == "nonrelevant" else "are taken out of each ranking first"
        judged = "compared by nobody" if of_preferences else f"judged by nobody; they {rule}"
        documents = ", ".join(f"{percent(share)} of {documents_down_to(cutoff)}" for cutoff, share in shares.items())
        yield Note("unjudged", f"{documents} retrieved documents were {judged}")
    if conventions["duplicates"] is not None:
        n = count(about["later_duplicates"], "result repeats", "results repeat")
        yield Note("duplicates", f"{conventions['duplicates']} that count as one; {n} one further up and gain nothing")
    yield from _residual(scores)
    yield from _empty(scores, conventions["empty"])
    yield from _missing(scores, conventions["missing"])


def documents_down_to(cutoff: int | None) -> str:
    """The retrieved documents that a measure with this cut-off looks at."""
    return "all" if cutoff is None else "the first" if cutoff == 1 else f"the first {cutoff}"


def _clusters(scores: Scores) -> Iterator[Note]:
    """How many clusters stand for topics, and what they change, by the first measure."""
    if not scores.attributes.get("clusters"):
        return
    first = scores.sel(measure=scores.measures[0])
    try:
        sizes = clusters_in(first, np.flatnonzero(first.known.any(axis=(0, 1))))
        if sizes is None:
            return
        panels = panel_of(first), panel_of(replace(first, attributes={}))
    except NoOverlapError as error:
        yield Note("clusters", f"no interval and no test: {error}")
        return
    n = np.bincount(sizes[0])
    by_cluster, by_topic = (panel.centred_squares(topics=True).variance()[0].sum() for panel in panels)
    effect = f"; design effect {by_cluster / by_topic:.2f}: variance of differences of systems, by that of topics"
    few = f"; {n.size} are few, and intervals may be too narrow" if n.size < FEW_CLUSTERS else ""
    yield Note(
        "clusters",
        f"{n.size} clusters of {n.sum()} topics ({n.min()} to {n.max()} topics each) are the sample of intervals and "
        f"tests, not the topics{effect if by_topic > 0 else ''}{few}",
    )


_REPEATS = {"first": "the first counts", "last": "the last counts", "mean": "their mean counts"}
_MISSING = {
    "zero": "score 0",
    "skip": "have no score",
    "interpolate": "get the mean of the topic's other systems and the system's other topics",
}


def _scales(scores: Scores, grades: str) -> Iterator[Note]:
    scales = scores.attributes["scales"]
    if not scales:
        return
    by_rule: dict[Combined, list[str]] = {}
    for method, rule in scores.attributes.get("combined", {}).items():
        by_rule.setdefault(rule, []).append(method)
    parts = [SCALE_RULES["rescaled"]] if grades == "rescaled" else []
    parts += [f"{', '.join(methods)}: {SCALE_RULES[rule]}" for rule, methods in by_rule.items()]
    if not parts and not alike(list(scales.values())):
        parts = ["each assessor's scores are on the assessor's own scale"]
    if any(scale.rel is None for scale in scales.values()):
        parts.append("magnitudes do not say what is relevant, so nDCG@10 is the default; others: -m 'AP(rel=100)'")
    yield scales_note(scales, "; ".join(parts))


def _coverage(scores: Scores, least: float) -> Iterator[Note]:
    coverage = scores.coverage
    none = int((coverage == 0).sum())
    low = int(((coverage > 0) & (coverage < least)).sum())
    full = int((coverage == 1).sum())
    if full == coverage.size:
        return
    text = f"of {coverage.size:,} (assessor, topic) cells {full:,} cover the whole pool"
    if low:
        text += f", {low:,} less than {percent(least)} of it (no score there)"
    yield Note("coverage", text + (f", {none:,} nothing at all (no score there)" if none else ""))


def slots_of(coverage: Floats) -> int:
    """Judgments of a document, on average over topics. coverage : (assessors, topics) share of the pool judged."""
    n_topics = np.count_nonzero(coverage.any(axis=0))
    return max(int(coverage.sum() / max(n_topics, 1) + 1e-9), 1)


def cautions(scores: Scores) -> str:
    """Sentences for the top of a report, where scores are too low; none by preferences, which have no scales."""
    return _little_judged(scores) + _out_of_reach(scores) if scores.attributes.get("scales") else ""


def _out_of_reach(scores: Scores) -> str:
    """On assessors on whose scale no grade was relevant by a measure, if their 0 are in its mean."""
    about = scores.attributes
    scales = [about["scales"].get(name) for name in scores.assessors]  # methods have none
    for text, values, relevant in zip(scores.measures, scores.values, scores.relevant, strict=True):
        reached = set(compress(scales, relevant.any(axis=1)))
        rows = zip(scores.assessors, scales, (values == 0).any(axis=(1, 2)), strict=True)
        names = [name for name, scale, zeros in rows if zeros and scale not in reached]
        if names and reached:
            whose = f" Caution: no grade of {listed(names, 3)} is relevant by {text}, so that theirs is 0"
            return f"{whose} and lowers means over assessors; --exclude leaves them out."
        if names:
            divided = ", divided by the maximum of its scale," if about["conventions"]["grades"] == "rescaled" else ""
            return f" Caution: no grade{divided} is relevant by {text}, so that all its scores are 0."
    return ""


def _little_judged(scores: Scores) -> str:
    """A sentence where so little is judged that scores are too low.

    First of documents that nobody judged, where these are MOST of those above the shallowest cut-off.
    """
    about = scores.attributes
    judged = scores.coverage > 0
    shares = about["unjudged_shares"]
    cutoff = min(filter(None, shares), default=None)
    if cutoff is not None and shares[cutoff] > MOST:
        return (
            f" Caution: {percent(shares[cutoff])} of {documents_down_to(cutoff)} retrieved documents were judged by "
            "nobody; qrowd next says which to judge first (--question best, unless the campaign has a question)."
        )
    if "methods" in about or about["conventions"]["unjudged"] != "nonrelevant":
        return ""
    if not judged.any() or (mean := float(scores.coverage[judged].mean())) >= LITTLE_COVERAGE:
        return ""
    n = slots_of(scores.coverage)
    scales = list(about["scales"].values())
    kinds = {scale.kind for scale in scales}
    method = "geometric-mean" if kinds == {"magnitude"} else "'dawid-skene(per=all)'"
    first = "--exclude those who gave magnitudes; then " if kinds > {"magnitude"} else ""
    if n > 1 and alike(scales):
        first = f"--slots {n} makes the first judgments of each document {count(n, 'assessor')}; "
    return (
        f" Caution: an assessor judged {percent(mean, 0)} of a topic's pool on average, and documents that an assessor "
        f"did not judge count as not relevant, so the scores are too low. Remedy: {first}qrowd evaluate --method "
        f"{method} merges all judgments of a document first."
    )


def _ranking(scores: Scores, conventions: dict[str, object]) -> Iterator[Note]:
    n_tied = scores.attributes["tied_lists"]
    if n_tied:
        by_id = conventions["ties"] == "document"
        rule = "broken by document id, highest first" if by_id else "scored by their mean over the tied ranks"
        yield Note(
            "ties",
            f"{n_tied:,} of {scores.attributes['lists']:,} ranked lists hold equal scores "
            f"({conventions['score_dtype']}), {rule}",
        )
    if contradictions := scores.attributes["rank_contradictions"]:
        yield Note("ranks", f"in {count(contradictions, 'list')} the rank column contradicts the scores, which count")


def parameter_of(text: str, name: str) -> Any:
    """Of a measure; None where it has no such parameter. Scores may be of what is no registered measure."""
    try:
        return measure(text).values.get(name)
    except MeasureError:
        return None


def _residual(scores: Scores) -> Iterator[Note]:
    for text, values in zip(scores.measures, scores.values, strict=True):
        if parameter_of(text, "residual"):
            yield Note(
                "residual",
                f"{text} is {np.nanmean(values):.4f} on average: what RBP could gain if all unjudged were relevant",
            )


def _empty(scores: Scores, empty: str) -> Iterator[Note]:
    empties = (scores.relevant == 0) & (scores.coverage > 0)[None]
    cells = {name: int(cells.sum()) for name, cells in zip(scores.measures, empties, strict=True) if cells.any()}
    if cells:
        by_measure = ", ".join(f"{name} {n:,}" for name, n in cells.items())
        rule = "score 0" if empty == "zero" else "have no score"
        total = f"{by_measure} of {scores.coverage.size:,}"
        yield Note("empty", f"(assessor, topic) cells without a relevant document {rule}: {total}")


def _holes(scores: Scores) -> Iterator[Note]:
    """Scores that some systems lack where others have one, and what cannot be said for want of them."""
    if zeros := scores.attributes.get("zeros"):
        yield Note("missing scores", f"{zeros:,} of {scores.values.size:,} scores count as 0")
    has = ~np.isnan(scores.values)
    cells = np.asarray(has.any(axis=3))
    lacking = (~has & cells[..., None]).sum(axis=(0, 1, 2))
    if not lacking.any():
        return
    share = lacking / cells.sum()
    most, n_systems = scores.systems[int(share.argmax())], share.size
    text = (
        f"{lacking.sum():,} of {cells.sum() * n_systems:,} scores, in {(lacking > 0).sum()} of {n_systems} systems, "
        f"most of {most} ({percent(share.max())}); means, ranks, correlations and the test of all pairs are of a least-"
        "squares fit of topics, assessors and systems to all others, so that it does not matter which topics a system "
        "lacks, as long as it would not have been unusually good or bad there"
    )
    if share.max() > MANY_HOLES:
        text += "; caution: where more than 70 % are missing, the test errs in up to 10 % of tables"
    for name in scores.measures:
        try:
            panel_of(scores.sel(measure=name))
        except NoOverlapError as error:
            text += f"; {name} has no test of all pairs: {str(error).removeprefix('scores: ')}"
    yield Note("missing scores", text)


def _missing(scores: Scores, missing: str) -> Iterator[Note]:
    if n := scores.attributes["missing_lists"]:
        whole = "; qrowd check counts the topics that are in no run"
        yield Note("missing", f"(topic, system) pairs without a list {_MISSING[missing]}: {n:,}{whole}")
    if n := scores.attributes["unjudged_topics"]:
        yield Note("not judged", f"{count(n, 'topic')} of the runs, ignored")
