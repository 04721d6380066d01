"""The answer of `qrowd replace`: a model in place of human assessors, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from qrowd.errors import ArgumentError
from qrowd.model.conventions import Conventions
from qrowd.model.inferred_scales import alike
from qrowd.model.judgments import Judgments
from qrowd.model.one_scale import Combined, CombineScales
from qrowd.model.result import Tables
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale
from qrowd.model.signature import with_signature
from qrowd.replacement.alternative_annotator import (
    MIN_ASSESSORS,
    MIN_DOCUMENTS,
    MIN_TOPICS,
    PASSES,
    AnnotatorTest,
    Closeness,
    Independent,
    unlike_in_test,
    with_scale_of_model,
)
from qrowd.replacement.assessor_bias import SEVERITY_ERROR, AssessorBias
from qrowd.replacement.model_comparison import ModelComparison, compare_model
from qrowd.reports.document import Document, Note, Reported, Table, repeats_note
from qrowd.reports.notes import scoring_notes
from qrowd.reports.phrases import MODEL_NAME, count, interval, listed, number, percent, probability, signed, span
from qrowd.reports.scale_notes import scale_rules, scales_note, thresholds
from qrowd.reports.table import Column, frame_table

INDEPENDENT = {
    "topics": "documents of one topic may be alike",
    "documents": "all count as independent, as in the paper; p is too small where a model fails on whole topics",
}
FEW_TOPICS = 20
CLOSENESS = {
    "accuracy": "share of the others who gave the same grade",
    "rmse": "minus the root of the mean squared difference to the others",
}


@dataclass(frozen=True, eq=False, repr=False)
class Replacement(Reported):
    """Models compared with the same human assessors, each model without the others.

    of_judgments : notes on the scales and on repeats. relevant : from which value on a judgment counts as relevant.
    """

    models: tuple[ModelComparison, ...]
    of_judgments: list[Note]
    relevant: str

    @property
    def sentence(self) -> str:
        """Whether the models may replace the assessors, and which systems they favour."""
        like_models = [name for name in self.models[0].assessors if MODEL_NAME.search(name)]
        verdict = (self._sentence_of_several() if self.models[1:] else self._sentence_of_one()) + self._caution()
        if not like_models:
            return verdict
        return (
            f"{verdict} Who is not named by --model counts as a person, also {listed(like_models, 4)}; name models by "
            "--model, or leave them out by --exclude."
        )

    def _caution(self) -> str:
        """That the scores of some models are all 0, since no grade of theirs is relevant by the measure."""
        scored = [(one.model, one.scores) for one in self.models if one.scores is not None]
        names = [name for name, scores in scored if not scores.relevant[0, scores.assessors.index(name)].any()]
        if not names:
            return ""
        return (
            f" Caution: no grade of {listed(names, 3)} is relevant by {scored[0][1].measures[0]}, so that theirs is 0."
        )

    def _sentence_of_one(self) -> str:
        comparison = self.models[0]
        sentences = [_sentence_without_test(comparison) if comparison.test is None else _verdict(comparison.test)]
        if comparison.rankings is not None:
            sentences.append(_rankings_sentence(comparison))
        if comparison.bias is not None:
            sentences += _bias_sentences(comparison.bias)
        return " ".join(sentences)

    def _sentence_of_several(self) -> str:
        n = len(self.models)
        tests = [comparison.test for comparison in self.models if comparison.test is not None]
        if tests:
            passing = [f"{t.model} ({t.replaceable.sum()} of {len(t.assessors)})" for t in tests if t.passes]
            verdict = f"{listed(passing)} may" if passing else "none has shown that it may"
            return (
                f"Of {n} models, each tested alone: {verdict} replace half of your assessors or more "
                f"({listed(self.models[0].assessors)})."
            )
        return f"Whether any of {n} models may replace {_untested(self.models[0])}{self._highest_kappa()}."

    def _highest_kappa(self) -> str:
        """The model with the highest kappa, and how far it is ahead of the next; of equal ones the first given."""
        ranked = sorted((one for one in self.models if not isnan(one.mean_kappa)), key=lambda one: -one.mean_kappa)
        if len(ranked) < 2:
            return ""
        first, second = ranked[:2]
        (kappa, low, high), (ahead, least, most) = first.kappa_interval(), first.kappa_interval(second)
        weights = first.kappas and first.kappas.weights
        how = f"{weights} weights" if weights else f"relevant or not, from {self.relevant}"
        return (
            f"; {first.model} has the highest kappa ({how}), {kappa:.3f} {interval(low, high)}, which is "
            f"{ahead:.3f} {interval(least, most)} more than that of {second.model}"
        )

    def _tables(self) -> Tables:
        """One row per model and assessor; per model and grade; per model and group of systems."""
        names = dict.fromkeys(name for comparison in self.models for name in comparison._tables())
        return {name: partial(self._joined, name) for name in names}

    def _joined(self, name: str) -> dict[str, Any]:
        import pandas as pd

        parts = [comparison.to_frame(what=name) for comparison in self.models if name in comparison._tables()]
        return dict(pd.concat(parts, ignore_index=True))

    def _document(self) -> Document:
        """A row per model and assessor, the calibration, and the bias; .csv holds the first table in full."""
        several = len(self.models) > 1
        frame = self.to_frame()
        title = f"{'each model' if several else self.models[0].model} compared with each assessor"
        tables = [frame_table(title, frame if several else frame.drop(columns="model"), COMPARED)]
        if "grades" in self._tables():
            assessors = self.models[0].assessors
            people = assessors[0] if len(assessors) == 1 else count(len(assessors), "assessor")
            title = f"calibration: what a grade of the model means in grades of {people}"
            tables.append(frame_table(title, self.to_frame(what="grades"), GRADES))
        tables += [_bias_table(comparison.bias) for comparison in self.models if comparison.bias is not None]
        notes = [note for comparison in self.models for note in _notes(comparison)] + self.of_judgments
        scores = self.models[0].scores
        if scores is not None:
            of_one = ("coverage", "empty", "unjudged") if several else ()  # which count the cells of one model
            notes += [note for note in scoring_notes(scores) if note.kind not in ("scale", "repeats", *of_one)]
        return Document(self.sentence, tuple(tables), tuple(dict.fromkeys(notes)), self.to_frame, self.content_of_json)

    def content_of_json(self) -> dict[str, Any]:
        """The verdict on each model, and the rows of all tables."""
        names = {"winning_rate": "winning_rate", "advantage": "advantage_probability", "passes": "passes"}
        verdicts = [
            {"model": comparison.model}
            | {name: comparison.test and getattr(comparison.test, field) for name, field in names.items()}
            for comparison in self.models
        ]
        return {"models": verdicts, **{name: self.to_frame(what=name).to_dict("list") for name in self._tables()}}


@with_signature("alternative-annotator")
def replacement_report(
    judgments: Judgments,
    models: str | Sequence[str],
    *,
    runs: Runs | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    measure: str = "nDCG@10",
    eps: float = 0.2,
    closeness: Closeness | None = None,
    independent: Independent = "topics",
    combine_scales: CombineScales = "auto",
    rel: float | None = None,
    conventions: Conventions = Conventions(),
) -> Replacement:
    """Compare each model with the human assessors, without the other models; options as in `compare_model`.

    rel : lowest grade that counts as relevant, on scales of grades that have it; default: what each scale says.

    Several models are compared by one rule: if the scale of one asks for relevant or not, all are compared by that.

    Raises
    ------
    ArgumentError
        A model that is named twice.
    """
    names = [models] if isinstance(models, str) else list(models)
    if len(set(names)) < len(names):
        raise ArgumentError(f"model: {listed(names)}; name each once")
    panels = []
    for model in names:
        panel = judgments.select(assessors=(set(judgments.assessors) - set(names) | {model}).__contains__)
        panel = with_scale_of_model(panel, model) if combine_scales == "auto" else panel
        panels.append(panel if rel is None else relevant_from(panel, rel))
    rules_of_test = {unlike_in_test(panel.scales, closeness) for panel in panels if not alike(panel.scales)}
    if len(names) > 1 and combine_scales == "auto" and "relevant" in rules_of_test:
        combine_scales = "relevant"
    options: dict[str, Any] = {"runs": runs, "groups": groups, "measure": measure, "eps": eps}
    options |= {
        "independent": independent,
        "closeness": closeness,
        "combine_scales": combine_scales,
        "conventions": conventions,
    }
    comparisons = [compare_model(panel, model, **options) for panel, model in zip(panels, names, strict=True)]
    scales: dict[str, Scale] = {}
    for panel in map(conventions.graded, panels):
        scales |= dict(zip(panel.assessors, panel.scales, strict=True))
    every = list(scales.values())
    statistics: dict[str, Combined] = {}
    if any(one.test is not None for one in comparisons):
        statistics["test"] = unlike_in_test(every, closeness)
    if any(one.kappas is not None for one in comparisons):
        statistics["kappa"] = "relevant"
    errors = "mean difference, error, before they are put on the assessor's scale"
    rules = (
        scale_rules(every, combine_scales, statistics),
        scale_rules(every, "auto", {errors: "rescaled"}),
    )
    about = scales_note(scales, "; ".join(filter(None, rules)))
    repeats = repeats_note(judgments.n_repeats(), f"; counted: {conventions.repeats}")
    return Replacement(tuple(comparisons), [about, *repeats], thresholds(every))


def relevant_from(judgments: Judgments, rel: float) -> Judgments:
    """The judgments with this as the lowest relevant grade of each scale of grades that has it."""
    scales = [
        replace(scale, rel=rel) if scale.kind == "graded" and rel <= scale.maximum else scale
        for scale in judgments.scales
    ]
    return replace(judgments, scales=tuple(scales))


# ---------------------------------------------------------------------- sentences


def _verdict(test: AnnotatorTest) -> str:
    """Whether the model may replace the assessors, and how close it is to the others."""
    n = int(test.replaceable.sum())
    of = len(test.assessors)
    sign = ">=" if test.passes else "<"
    verdict = "may replace your assessors" if test.passes else "has not shown that it may replace your assessors"
    return (
        f"{test.model} {verdict}: the test supports replacing {n} of the {of} assessors {listed(test.assessors, 6)} "
        f"(winning rate {test.winning_rate:.2f} {sign} {PASSES:.2f} at eps {test.eps:g}). On average over assessors, "
        f"it is at least as close to the others as the assessor on "
        f"{percent(test.advantage_probability, 0)} of documents."
    )


def _untested(comparison: ModelComparison) -> str:
    """Whom the model may replace is not known, and why."""
    n = len(comparison.assessors)
    reason = comparison.reason
    if n < MIN_ASSESSORS:
        more = count(MIN_ASSESSORS - n, "more assessor", "more assessors")
        reason = (
            f"the alternative annotator test needs at least {MIN_ASSESSORS} assessors besides the model, as does a "
            f"verdict on its bias (--group); let {more} judge at least {MIN_DOCUMENTS} of these documents"
        )
    return f"{listed(comparison.assessors)} is not known: {reason}"


def _sentence_without_test(comparison: ModelComparison) -> str:
    """That the test cannot be computed, and how far the model agrees with each assessor."""
    text = f"Whether {comparison.model} may replace {_untested(comparison)}."
    frame = comparison.to_frame()
    rows = frame.dropna(subset="kappa").itertuples()
    parts = [f"{number(row.kappa, 3)} with {row.assessor} ({count(row.n_documents, 'document')})" for row in rows]
    return f"{text} Its kappa is {listed(parts)}." if parts else text


def _rankings_sentence(comparison: ModelComparison) -> str:
    """How alike the rankings of systems are."""
    rankings = comparison.rankings
    assert rankings is not None
    known = rankings.tau_b[~np.isnan(rankings.tau_b)]
    if not known.size:
        return f"Its ranking of systems by {rankings.measure} cannot be compared with that of the assessors."
    n = int(rankings.n_systems.max())
    if known.size > 1:
        whose = f"tau-b of its ranking with those of {len(rankings.assessors)} assessors"
        return f"By {rankings.measure} of {n} systems, {whose} is {known.min():.3f} to {known.max():.3f}."
    place = "first" if rankings.rank[0] == 1 else f"number {rankings.rank[0]}"
    return (
        f"By {rankings.measure} of {n} systems, tau-b of the two rankings is {known[0]:.3f}, and its best system "
        f"({rankings.best[0]}) is {place} by {rankings.assessors[0]}."
    )


def _bias_sentences(bias: AssessorBias) -> Iterator[str]:
    """One for each group: favoured, disfavoured, neither clearly, or no verdict."""
    for g, group in enumerate(bias.groups):
        value, low, high = bias.bias[g], bias.low[g], bias.high[g]
        values = bias.assessor_bias[g][~np.isnan(bias.assessor_bias[g])]
        if np.isnan(low):
            yield (
                f"Whether it favours {group} is not known: {value:+.3f}, and too few assessors judged topics in common "
                "to know how assessors differ (three are needed)."
            )
            continue
        numbers = f"{value:+.3f} {interval(low, high)}"
        if values.size:
            numbers += f"; assessors range from {values.min():+.3f} to {values.max():+.3f}"
        if low <= 0 <= high:
            yield f"It does not clearly favour or disfavour {group} more than another assessor might: {numbers}."
        else:
            verb = "favours" if value > 0 else "disfavours"
            yield f"It {verb} {group} more than another assessor would: {numbers}."


# ---------------------------------------------------------------------- tables


three_digits = partial(number, digits=3)
with_sign = partial(signed, digits=3)
COMPARED = {  # the model with each assessor: test, agreement, error of grades, rankings
    "model": Column("model"),
    "assessor": Column("assessor"),
    "n_documents": Column("documents", "{:,}".format),
    "n_topics": Column("topics", "{:,}".format),
    "model_share": Column("model as close", three_digits),
    "assessor_share": Column("assessor as close", three_digits),
    "difference": Column("difference", with_sign),
    "p_adjusted": Column("p", probability),
    "replaceable": Column("replaceable", lambda value: {True: "yes", False: "no"}.get(value, "-")),
    "kappa": Column("kappa", three_digits),
    "kappa_with_others": Column("kappa with others", three_digits),
    "tau_b": Column("tau-b", three_digits),
    "tau_b_with_others": Column("tau-b with others", three_digits),
    "best": Column("model's best system", lambda name: name or "-"),
    "rank": Column("its rank", lambda rank: str(int(rank)) if rank else "-"),
    "mean_difference": Column("mean difference", with_sign),
    "rmse": Column("RMSE", three_digits),
    "rmse_after": Column("RMSE recoded", three_digits),
}
GRADES = {  # what a grade of the model means to the assessors
    "model": Column("model"),
    "grade": Column("its grade", "{:.3g}".format),
    "n_documents": Column("documents", "{:,}".format),
    "mean": Column("mean grade", three_digits),
    "low": Column("interval", lambda low, high: interval(low, high) if low < high else "-", also=("high",)),
    "relevant": Column("relevant", three_digits),
    "calibrated": Column("recoded to", three_digits),
}
BIAS = {  # the model, and each assessor without an interval, group by group
    "group": Column("system"),
    "assessor": Column("assessor"),
    "bias": Column("bias", signed),
    "low": Column("interval", partial(interval, digits=4), also=("high",)),
    "p": Column("p", probability),
    "n_topics": Column("topics"),
}


def _bias_table(bias: AssessorBias) -> Table:
    frame = bias.to_frame()
    n = bias.n_systems_in_all
    frame["group"] = [f"{row.group} ({row.n_systems} of {n})" for row in frame.itertuples()]
    title = "bias: how much further ahead of the other systems a group is than by the (other) assessors"
    return frame_table(title, frame, BIAS)


# ---------------------------------------------------------------------- notes


def _notes(comparison: ModelComparison) -> Iterator[Note]:
    """How the parts were computed, and what would add to the answer."""
    if comparison.test is not None:
        yield from _test_notes(comparison.test)
    yield Note("assessors", "all in --judgments whom --model does not name count as people; --exclude leaves some out")
    if comparison.kappas is not None:
        weights = comparison.kappas.weights
        how = f"weights={weights}" if weights else "unweighted"
        yield Note("kappa", f"Cohen's, {how}; with others: their mean, weighted by documents shared")
    yield Note(
        "mean difference, RMSE",
        "of the model's grade minus the assessor's; recoded: grades of the model replaced by the assessor's mean "
        "grades, in order, learned from the other topics",
    )
    if comparison.calibration is not None:
        yield Note("calibration", "of each document, the mean grade of its assessors; intervals over topics")
    if comparison.rankings is None:
        yield Note("rankings", "--runs FILES adds whether systems rank alike by the model and by the assessors")
        return
    yield Note("rankings", "by the systems' means over the topics that model and assessor both scored")
    if comparison.bias is not None:
        yield from _bias_notes(comparison.bias)
    elif len(comparison.assessors) >= MIN_ASSESSORS:
        yield Note("bias", "--group 'NAME=PATTERN' adds whether the model favours a group of systems")


def _test_notes(test: AnnotatorTest) -> Iterator[Note]:
    """How the test was computed."""
    yield Note(
        "test",
        f"alternative annotator test; eps {test.eps:g}; false discovery rate {test.q:g} (Benjamini-Yekutieli, p is "
        f"adjusted); the model passes from a winning rate of {PASSES:.2f}; replaceable: no means not shown",
    )
    yield Note("independent", f"{test.independent}, {INDEPENDENT[test.independent]}")
    yield Note("closeness", f"{test.closeness}, {CLOSENESS[test.closeness]}; ties count for model and assessor")
    least = int(test.n_topics.min())
    if test.independent == "topics" and least < FEW_TOPICS:
        yield Note(
            "few topics",
            f"some assessor is tested on {least}; below {FEW_TOPICS}, and where a model fails on a few topics, up to "
            "11 % of assessors were replaced wrongly at p <= .05 in simulations (study annotator-test)",
        )
    if test.untested:
        topics = f", or than {MIN_TOPICS} topics," if test.independent == "topics" else ""
        shared = f"fewer than {test.min_documents} documents{topics} shared with the model and another assessor"
        yield Note("not tested", f"{listed(test.untested, 8)}; {shared}")


def _bias_notes(bias: AssessorBias) -> Iterator[Note]:
    """How the interval was computed."""
    yield Note(
        "bias",
        f"{percent(bias.confidence)} prediction interval for one more assessor, Student's t with "
        f"{span(bias.df.min(), bias.df.max(), 1)} degrees of freedom; an interval without 0: the model is further from "
        "the assessors than another assessor would be",
    )
    change = ", ".join(f"{s:+.3f} for {g}" for g, s in zip(bias.groups, bias.severity, strict=True))
    yield Note(
        "severity",
        "removed by shuffling each assessor's judgments among documents that the others judged alike; of "
        f"{bias.model}, it explained {change}, and {percent(SEVERITY_ERROR)} of that is in the standard error",
    )
