"""Judgments of several models with several prompts, and of one person: the published ones, and simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qrowd import files
from qrowd.errors import InputError
from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.simulation import Lenient, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.factor_components import assessor_factors

MEASURE = "nDCG@10"
OUT_OF_SCALE = -1.0  # no judgment


@dataclass(frozen=True, eq=False)
class PromptPanel:
    """Judgments of models with several prompts, and of one person, of the same pairs.

    pattern : of the assessors' names. whole : all judgments, also of other pairs. published : the same with grades
    outside the scale, and scales that are inferred. n_lines, n_out_of_scale : of the
    published files. n_repeated, changed : lines that judge a pair again, and the share of them with another grade.
    """

    name: str
    pattern: str
    runs: Runs
    judgments: Judgments
    reference: Judgments
    whole: Judgments
    published: Judgments
    n_lines: int
    n_out_of_scale: int
    n_repeated: int
    changed: float

    def models(self, judgments: Judgments, names: Sequence[str]) -> Judgments:
        """The judgments of these models."""
        levels = assessor_factors(judgments.assessors, self.pattern)[1]
        chosen = [a for a, (model, _) in zip(judgments.assessors, levels, strict=True) if model in names]
        return judgments.select(assessors=chosen)

    def scores(self) -> Scores:
        """Of systems, over condensed lists: the reference first."""
        everyone = concatenate_judgments([self.reference, self.judgments])
        return evaluate(self.runs, everyone, MEASURE, conventions=Conventions(unjudged="condensed"))


def real(data: str | Path) -> PromptPanel:
    """The published files; a grade outside 0-3 is no judgment, and the first of several grades counts."""
    folder = Path(data)
    for part in ("dl21", "dl21-prompts"):
        if not (folder / part).is_dir():
            raise InputError(
                f"{folder / part}: there is no such folder; --data wants one that holds dl21-prompts and dl21"
            )
    published = files.read_judgments([str(folder / "dl21-prompts" / "graded")])
    is_outside = ~np.isin(published.value, (0, 1, 2, 3))
    inside = replace(published, value=np.where(is_outside, OUT_OF_SCALE, published.value)).with_scales({"*": "0-3"})
    nist = files.read_judgments({"NIST": folder / "dl21" / "qrels.nist.txt"}, scales={"NIST": "0-3"})
    runs = files.read_runs([str(folder / "dl21" / "runs")])
    return _shared("dl21-prompts", "{model}_{prompt}", runs, inside, nist, published, int(is_outside.sum()))


def simulated(rng: Rng = None, *, n_topics: int = 20, n_prompts: int = 9) -> PromptPanel:
    """Three models with errors of their own on documents, and prompts that make them lenient or severe."""
    chance = Chance.of(rng)
    truth = simulate_pool(n_topics, 40, rng=chance.stream("pool"))
    runs = simulate_runs(truth, 15, rng=chance.stream("runs"))
    shifts = chance.stream("prompts").normal(0, 0.3, n_prompts)
    assessors = {
        f"{model}_{p}": Lenient(float(shifts[p]), noise, appeal)
        for model, noise, appeal in (("large", 0.4, 0.1), ("middle", 0.7, 0.5), ("small", 1.0, 0.8))
        for p in range(n_prompts)
    }
    judgments = simulate_judgments(truth, assessors, rng=chance.stream("judgments"))
    return _shared("simulated", "{model}_{prompt}", runs, judgments, truth.judgments(), judgments, 0)


def _shared(
    name: str,
    pattern: str,
    runs: Runs,
    judgments: Judgments,
    reference: Judgments,
    published: Judgments,
    n_out_of_scale: int,
) -> PromptPanel:
    """Cut to the pairs that at least half of the assessors of each model judged."""
    models = np.array([model for model, _ in assessor_factors(judgments.assessors, pattern)[1]])
    pairs, first, row = np.unique(judgments.pair_numbers, return_index=True, return_inverse=True)
    is_judged = np.zeros((pairs.size, models.size), bool)
    is_judged[row, judgments.assessor] = judgments.value >= 0
    shared = np.all([is_judged[:, models == model].mean(axis=1) >= 0.5 for model in np.unique(models)], axis=0)
    names = {(judgments.topics[judgments.topic[i]], judgments.documents[judgments.document[i]]) for i in first[shared]}
    in_reference = np.array([
        (reference.topics[t], reference.documents[d]) in names
        for t, d in zip(reference.topic, reference.document, strict=True)
    ])  # fmt: skip
    n_repeated, changed = _repeats(judgments)
    return PromptPanel(
        name, pattern, runs,
        _rows(judgments, shared[row]), _rows(reference, in_reference),
        judgments, published, len(judgments), n_out_of_scale, n_repeated, changed,
    )  # fmt: skip


def _rows(judgments: Judgments, chosen: NDArray[np.bool_]) -> Judgments:
    scales = dict(zip(judgments.assessors, judgments.scales, strict=True))
    return Judgments.from_frame(judgments.to_frame()[chosen], scales=scales)


def _repeats(judgments: Judgments) -> tuple[int, float]:
    """Lines that judge a pair again, and the share of them whose grade is not the first."""
    cells = judgments.pair_numbers * len(judgments.assessors) + judgments.assessor
    _, first, row = np.unique(cells, return_index=True, return_inverse=True)
    again = first[row] != np.arange(len(judgments))
    changed = judgments.value[again] != judgments.value[first[row]][again]
    return int(again.sum()), float(changed.mean()) if again.any() else nan
