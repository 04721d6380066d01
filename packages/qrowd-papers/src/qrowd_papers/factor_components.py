"""Variance components of judgments and scores where assessors are made up of factors, such as a model and a prompt.

Cronbach, Gleser, Nanda, Rajaratnam (1972), The Dependability of Behavioral Measurements: a crossed design with several
facets. Estimates: Henderson's method 1, as in `qrowd_papers.crossed_components`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.kernels.arrays import Floats
from qrowd.kernels.resample import tail
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales, on_one_scale
from qrowd.model.result import Result
from qrowd.model.scores import one_measure
from qrowd_papers.crossed_components import crossed_components, crossed_terms

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores

ONE_FACTOR = "{assessor}"
AT_ONCE = 100  # resamples of a block, so that memory does not grow with their number


@dataclass(frozen=True, eq=False)
class FactorComponents(Result):
    """Variance components of judgments or scores by the factors of assessors; arrays are (sources,).

    response : "judgments", or the measure of the scores. target : what is measured: "document" or "system".
    factors : of assessors, as in ("model", "prompt"). n_levels : their numbers of levels.
    sources : main effects, then interactions as "document*model"; "error" is the interaction of all, with what is left.
    estimate : the estimated variance component, which may be below 0. component : the same, with 0 for those below 0.
    share : of the sum of components; nan where nothing varies. low, high : percentile interval of the share, topics
        being resampled and the assessors kept; nan without resamples.
    disagreement : share of the variance that differs between assessors: of sources with a factor, and error; nan for
        others.
    n_topics, n_documents or n_systems as n_targets, n_values : what the estimates rest on.
    n_missing : combinations of a target (in a topic) and an assessor without a value.
    """

    response: str
    target: str
    factors: tuple[str, ...]
    n_levels: tuple[int, ...]
    sources: tuple[str, ...]
    estimate: Floats
    component: Floats
    share: Floats
    low: Floats
    high: Floats
    disagreement: Floats
    n_topics: int
    n_targets: int
    n_values: int
    n_missing: int
    n_resamples: int
    confidence: float
    seed: Seed | None

    _COLUMNS = ("sources", "estimate", "component", "share", "low", "high", "disagreement")

    def of(self, source: str) -> float:
        """The variance component of one source."""
        if source not in self.sources:
            raise ArgumentError(f"source {source!r}: choose from {', '.join(self.sources)}")
        return float(self.component[self.sources.index(source)])

    def generalizability(self, **numbers: float) -> float:
        """How well means over so many levels of each factor order targets, from 0 to 1; nan where nothing varies.

            v_target / (v_target + sum over interactions with the target of v / product of the numbers of levels)

        numbers : of levels of each factor, as in model=1, prompt=9 (for scores also topic); default: those of the data.
        What all assessors have in common counts as true: the coefficient compares panels, and does not show an error
        that all of them share.

        >>> import numpy as np
        >>> from qrowd import Scores
        >>> scores = Scores.from_array(np.array([[[1.0, 2], [2, 5]], [[1, 4], [3, 6]]]), assessors=["a", "b"])
        >>> round(score_components(scores).generalizability(topic=10), 3)
        0.992
        """
        n: dict[str, float] = dict(zip(self.factors, self.n_levels, strict=True))
        if self.target == "system":
            n["topic"] = self.n_topics
        for name, number in numbers.items():
            if name not in n:
                raise ArgumentError(f"no factor {name!r}; choose from {', '.join(n)}")
            n[name] = number
        true = self.of(self.target)
        error = 0.0
        for source, component in zip(self.sources, self.component.tolist(), strict=True):
            names = [*n, self.target] if source == "error" else source.split("*")
            if self.target in names and source != self.target:
                error += component / prod(n[name] for name in names if name != self.target)
        return true / (true + error) if true + error > 0 else float("nan")

    def _sentence(self) -> str:
        named = [f"{n} {name}s" for name, n in zip(self.factors, self.n_levels, strict=True)]
        return f"Variance components of {self.response} by {' x '.join(named)}, from {self.n_values:,} values."


def judgment_components(
    judgments: Judgments,
    *,
    factors: str | None = None,
    n_resamples: int = 0,
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeats = "first",
    combine_scales: CombineScales = "auto",
) -> FactorComponents:
    """Variance components of judgments: documents, the factors of assessors, and their interactions.

    Parameters
    ----------
    factors : a pattern of the assessors' names, as "{model}+{prompt}" for the assessors of `qrowd judge ask`; each name
        in braces is a factor, and takes as little of the assessor's name as fits; default: one factor, the assessor.
    n_resamples : of topics, each with all its documents; 0: no interval.
    repeats, combine_scales : as of `krippendorff_alpha`. Values are taken as numbers on an interval scale.

    All effects are random. A document is one of a topic, so documents of two topics are different ones.

    Raises
    ------
    ArgumentError
        An assessor whose name does not fit, or a factor with one level.
    NoOverlapError
        Too few judgments in common to separate the components.
    ScaleError
        Magnitudes beside another scale.

    >>> values = {"a+x": [0, 1, 3], "a+y": [1, 1, 3], "b+x": [0, 2, 3], "b+y": [2, 3, 3]}
    >>> judgments = Judgments.from_dict(
    ...     {name: {"t": dict(zip("pqr", grades))} for name, grades in values.items()}, scales={"*": "0-3"}
    ... )
    >>> components = judgment_components(judgments, factors="{model}+{prompt}")
    >>> components.sources[:4], round(components.of("document"), 3)
    (('document', 'model', 'prompt', 'document*model'), 1.0)
    """
    names, levels = assessor_factors(judgments.assessors, factors or ONE_FACTOR)
    panel = on_one_scale(judgments, combine_scales, "rescaled").panel(repeats=repeats)
    is_judged = ~np.isnan(panel.values).all(axis=1)
    topic = panel.pool.topic[is_judged]
    table = _table(panel.values[is_judged], levels)
    sampling = (n_resamples, confidence, rng)
    return _components(table, ("document",), names, topic, "judgments", "document", *sampling)


def score_components(
    scores: AnyScores,
    *,
    factors: str | None = None,
    n_resamples: int = 0,
    confidence: float = 0.95,
    rng: Rng = None,
) -> FactorComponents:
    """Variance components of scores by one measure: systems, topics, the factors of assessors, and interactions.

    scores : (assessor, topic, system); a missing score is left out. factors, n_resamples : as of `judgment_components`.
    With the one factor "assessor" and complete scores these are the components of `variance_components`.
    """
    values, (assessors, _, systems) = one_measure(scores)
    if len(systems) < 2:
        raise ArgumentError(f"scores: {len(systems)} system; variance among systems needs 2")
    names, levels = assessor_factors(assessors, factors or ONE_FACTOR)
    table = _table(values.transpose(1, 2, 0), levels)
    table = table[~np.isnan(table).all(axis=tuple(range(1, table.ndim)))]
    response = scores.measures[0] if hasattr(scores, "measures") else "scores"
    sampling = (n_resamples, confidence, rng)
    return _components(table, ("topic", "system"), names, np.arange(len(table)), response, "system", *sampling)


def assessor_factors(assessors: Sequence[str], factors: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The factors that a pattern names, and the level of each for every assessor.

    >>> assessor_factors(["qwen3+graded", "llama-4+graded+expected"], "{model}+{prompt}")
    (('model', 'prompt'), [('qwen3', 'graded'), ('llama-4', 'graded+expected')])

    Raises
    ------
    ArgumentError
        A pattern without factors, an assessor whose name does not fit it, or a factor with one level.
    """
    parts = re.split(r"\{(\w+)\}", factors)
    names = tuple(parts[1::2])
    taken = [name for name in names if names.count(name) > 1 or name in ("document", "system", "topic", "error")]
    if not names or taken:
        what = f"{taken[0]!r} cannot be a factor here" if taken else "it names no factor"
        raise ArgumentError(f"{what}; an example is '{{model}}+{{prompt}}'", "factors", factors)
    if not all(parts[2:-1:2]):
        raise ArgumentError("two factors need text between them", "factors", factors)
    pattern = "(.+?)".join(re.escape(text) for text in parts[::2])
    levels = []
    for assessor in assessors:
        match = re.fullmatch(pattern, assessor, re.DOTALL)
        if match is None:
            raise ArgumentError(
                f"assessor {assessor!r} does not fit; leave it out, or give another pattern", "factors", factors
            )
        levels.append(match.groups())
    for name, of_factor in zip(names, zip(*levels, strict=True), strict=True):
        if len(set(of_factor)) < 2:
            advice = f"write it instead of {{{name}}}" if len(names) > 1 else "a second assessor is needed"
            raise ArgumentError(f"{name} is {of_factor[0]!r} for all assessors; {advice}", "factors", factors)
    return names, levels


def _table(values: Floats, levels: list[tuple[str, ...]]) -> Floats:
    """(..., levels of the first factor, ...) of values whose last axis holds assessors; nan where there is none."""
    codes = [np.unique(of_factor, return_inverse=True)[1] for of_factor in zip(*levels, strict=True)]
    table = np.full((*values.shape[:-1], *(int(code.max()) + 1 for code in codes)), np.nan)
    place: Any = (..., *codes)
    table[place] = values
    return table


def _components(
    table: Floats,
    objects: tuple[str, ...],
    factors: tuple[str, ...],
    topic: Any,
    response: str,
    target: str,
    n_resamples: int,
    confidence: float,
    rng: Rng,
) -> FactorComponents:
    """The components of a table of objects by factors; topic : of each row."""
    names = (*objects, *factors)
    terms = crossed_terms(len(names))
    # The system first, as in the names of `variance_components`.
    sources = ["*".join(sorted((names[i] for i in term), key=lambda name: name != "system")) for term in terms]
    sources[-1] = "error"
    is_value = ~np.isnan(table)
    estimate = np.full(len(terms), np.nan)
    if table.shape[0] >= 2:
        estimate = crossed_components(table, np.ones((1, table.shape[0])))[0]
    if np.isnan(estimate).any():
        raise NoOverlapError(
            f"{response}: too few {objects[0]}s with values of several combinations of {' and '.join(factors)} to "
            "separate their variances; name fewer factors, or leave out levels with few values"
        )
    largest = float(np.abs(table[is_value]).max())
    estimate = np.where(np.abs(estimate) > (1e-13 * largest) ** 2 + 1e-12 * np.abs(estimate).max(), estimate, 0.0)
    seed = seed_of(rng) if n_resamples else None
    low, high = np.full((2, len(terms)), np.nan)
    topics, of_row = np.unique(topic, return_inverse=True)
    if n_resamples:
        shares = _resampled_shares(table, of_row, len(topics), n_resamples, seed)
        ends = tail(confidence, len(topics))
        low, high = np.nanquantile(shares, [ends, 1 - ends], axis=0)
    component = np.maximum(estimate, 0.0)
    differs = np.array([bool({*term} & {*range(len(objects), len(names))}) for term in terms])
    with np.errstate(invalid="ignore"):
        disagreement = np.where(differs, component / component[differs].sum(), np.nan)
        share = component / component.sum()
    return FactorComponents(
        response,
        target,
        factors,
        table.shape[len(objects) :],
        tuple(sources),
        estimate,
        component,
        share,
        low,
        high,
        disagreement,
        n_topics=len(topics),
        n_targets=table.shape[len(objects) - 1],
        n_values=int(is_value.sum()),
        n_missing=int((~is_value).sum()),
        n_resamples=n_resamples,
        confidence=confidence,
        seed=seed,
    )


def _resampled_shares(table: Floats, of_row: Any, n_topics: int, n_resamples: int, seed: Seed | None) -> Floats:
    """(resamples, terms) shares of the components, topics being drawn with all their rows."""
    random = Chance.of(seed).stream("topics")
    drawn = random.multinomial(n_topics, np.full(n_topics, 1 / n_topics), size=n_resamples)[:, of_row]
    blocks = [drawn[first : first + AT_ONCE].astype(np.float64) for first in range(0, n_resamples, AT_ONCE)]
    component = np.maximum(np.concatenate([crossed_components(table, block) for block in blocks]), 0.0)
    with np.errstate(invalid="ignore"):
        return np.asarray(component / component.sum(axis=1, keepdims=True))
