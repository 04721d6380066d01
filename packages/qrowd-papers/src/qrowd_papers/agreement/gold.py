"""Agreement on documents of one or several gold grades: the alpha^0, alpha^1, alpha^01 ... of the paper.

Maddalena, Roitero, Demartini, Mizzaro (2017), Considering Assessor Agreement in IR Evaluation. ICTIR, sections 3.2 and
4.3, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qrowd.agreement.alpha import Alpha, Disagreement, Resample, alpha_columns, alpha_of
from qrowd.agreement.by_topic import pearson_test
from qrowd.agreement.document_counts import DocumentCounts, Documents, document_counts
from qrowd.errors import ArgumentError, check_choice
from qrowd.kernels.arrays import Floats, Ints
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.gold import AgainstGold, Gold, against
from qrowd.model.judgments import Judgments
from qrowd.model.labels import number_of
from qrowd.model.result import Result

MOST_LEVELS = 6
SIGNIFICANT = 0.005  # correlations of which Table 2 marks as significant


@dataclass(frozen=True, eq=False)
class AlphaByGold(Result):
    """Krippendorff's alpha of the documents of every combination of gold grades.

    grades : the gold grades, ascending. combinations : sets of them, as tuples.
    topics : one per row, or ("all",).
    alphas : (topics, combinations).
    complete : (topics,) whether the topic has documents of every gold grade.
    """

    grades: tuple[float, ...]
    combinations: tuple[tuple[float, ...], ...]
    topics: tuple[str, ...]
    alphas: tuple[tuple[Alpha, ...], ...]
    complete: NDArray[np.bool_]

    @property
    def names(self) -> tuple[str, ...]:
        """(combinations,) as the paper writes them: "0", "1", "01", ..."""
        return tuple(map(_name, self.combinations))

    @property
    def value(self) -> Floats:
        """(topics, combinations) alpha."""
        return np.array([[alpha.value for alpha in row] for row in self.alphas])

    def of(self, name: str) -> Floats:
        """(topics,) alpha of one combination, by its name."""
        return self.value[:, number_of(name, self.names, "combination")]

    def _columns(self) -> dict[str, Any]:
        n = len(self.combinations)
        flat = [alpha for row in self.alphas for alpha in row]
        return {
            "topic": np.repeat(np.array(self.topics, object), n),
            "gold": np.tile(np.array(self.names, object), len(self.topics)),
            "complete": np.repeat(self.complete, n),
            **alpha_columns(flat),
        }

    def by_topic(self) -> dict[str, dict[str, float]]:
        """{combination: {topic: alpha}}, of topics that have documents of every gold grade."""
        rows = np.flatnonzero(self.complete)
        return {name: {self.topics[t]: float(self.value[t, c]) for t in rows} for c, name in enumerate(self.names)}

    def correlations(self) -> Any:
        """Pearson's correlation between the alphas of each pair of combinations: the paper's Table 2.

        It is over topics with documents of every gold grade.
        """
        value = self.value[self.complete]
        pairs = list(combinations(range(len(self.names)), 2))
        results = [pearson_test(value[:, i], value[:, j]) for i, j in pairs]
        return make_frame(
            {
                "first": np.array([self.names[i] for i, _ in pairs], object),
                "second": np.array([self.names[j] for _, j in pairs], object),
                "n_topics": np.array([one.n for one in results]),
                "pearson": np.array([one.r for one in results]),
                "p": np.array([one.p for one in results]),
                "significant": np.array([one.p < SIGNIFICANT for one in results]),
            },
            "pandas",
        )


def alpha_by_gold(
    judgments: Judgments,
    gold: Gold,
    *,
    level: Level | None = None,
    by: str | None = None,
    n_resamples: int = 0,
    resample: Resample = "topics",
    rng: Rng = None,
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
) -> AlphaByGold:
    """Krippendorff's alpha of the documents of each gold grade, and of each combination of gold grades.

    Parameters
    ----------
    gold : the name of an assessor of the judgments (left out of the agreement), the judgments of one assessor, or
        {(topic, document): grade}. Documents without a gold grade are left out.
    by : None for all topics together, or "topic".

    The other options are those of `krippendorff_alpha`. Alpha is nan if a combination has no document with enough
    judgments, or a single distinct value.
    """
    check_choice("by", by, (None, "topic"))
    with_gold = against(judgments, gold)
    data = document_counts(
        with_gold.judgments,
        level=level,
        by=by,
        slots=slots,
        min_judgments=min_judgments,
        logs=logs,
    )
    grade, grades = _gold_of(with_gold, data)
    if len(grades) > MOST_LEVELS:
        raise ArgumentError(
            f"gold: {len(grades)} grades have too many combinations; recode gold to {MOST_LEVELS} grades or fewer"
        )
    sets = [some for size in range(1, len(grades) + 1) for some in combinations(grades, size)]
    seed = seed_of(rng) if n_resamples else None
    alphas = tuple(
        tuple(
            alpha_of(_of_grades(documents, grade, some), data, n_resamples, resample, 0.95, seed, f"{topic} {some}")
            for some in sets
        )
        for topic, documents in zip(data.labels, data.groups, strict=True)
    )
    complete = np.array([np.isin(grades, grade(documents.pair)).all() for documents in data.groups])
    return AlphaByGold(grades, tuple(sets), data.labels, alphas, complete)


@dataclass(frozen=True, eq=False)
class MatchedSize(Result):
    """Alpha of random subsets that are as large as the set of documents of some gold grades.

    sizes : (topics,) number of documents of those grades.
    sets : names of the sets of documents from which subsets are drawn.
    whole : (topics, sets) alpha of all documents of a set. mean, sd : (topics, sets) of the alphas of its subsets.
    """

    topics: tuple[str, ...]
    sizes: NDArray[np.int64]
    sets: tuple[str, ...]
    whole: Floats
    mean: Floats
    sd: Floats
    n_resamples: int
    seed: Seed

    def _columns(self) -> dict[str, Any]:
        n = len(self.sets)
        return {
            "topic": np.repeat(np.array(self.topics, object), n),
            "gold": np.tile(np.array(self.sets, object), len(self.topics)),
            "n_documents": np.repeat(self.sizes, n),
            "alpha": self.whole.ravel(),
            "subset_mean": self.mean.ravel(),
            "subset_sd": self.sd.ravel(),
        }


def alpha_of_matched_subsets(
    judgments: Judgments,
    gold: Gold,
    *,
    level: Level | None = None,
    n_resamples: int = 300,
    rng: Rng = None,
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
) -> MatchedSize:
    """Alpha of random subsets of matched size, topic by topic: does alpha depend on the number of documents (sec. 4.3)?

    Parameters
    ----------
    gold : as in `alpha_by_gold`.
    n_resamples : number of subsets, each as large as the set of documents above the lowest gold grade, drawn without
        replacement from all documents with gold ("all") and from those of the lowest grade. The result is nan if there
        are too few documents.
    rng : source of chance for the subsets.

    The other options are those of `krippendorff_alpha`. If the number of documents had an effect, the alphas of subsets
    would move from the alpha of the whole set towards that of the grades above the lowest.
    """
    with_gold = against(judgments, gold)
    data = document_counts(
        with_gold.judgments,
        level=level,
        by="topic",
        slots=slots,
        min_judgments=min_judgments,
        logs=logs,
    )
    grade, grades = _gold_of(with_gold, data)
    matched, others = grades[1:], grades[:1]
    seed = seed_of(rng)
    chance = Chance.of(seed)
    sizes = np.array([np.isin(grade(documents.pair), matched).sum() for documents in data.groups])
    whole, mean, sd = (np.full((len(data.labels), 2), np.nan) for _ in range(3))
    for t, (topic, documents) in enumerate(zip(data.labels, data.groups, strict=True)):
        for s, allowed in enumerate((grades, others)):
            part = _of_grades(documents, grade, allowed)
            whole[t, s] = alpha_of(part, data, 0, "documents", 0.95, None, topic).value
            if 0 < sizes[t] <= part.pair.size:
                alphas = _subsets(part, data.level, int(sizes[t]), n_resamples, chance.stream(f"subsets {topic}", s))
                defined = alphas[~np.isnan(alphas)]
                if defined.size > 1:
                    mean[t, s], sd[t, s] = defined.mean(), defined.std(ddof=1)
    return MatchedSize(data.labels, sizes, ("all", _name(others)), whole, mean, sd, n_resamples, seed)


def _subsets(documents: Documents, level: Level, size: int, n_resamples: int, random: np.random.Generator) -> Floats:
    """(n_resamples,) alpha of `size` documents drawn without replacement."""
    lots = random.random((n_resamples, documents.pair.size))
    weights = np.zeros(lots.shape)
    np.put_along_axis(weights, np.argpartition(lots, size - 1, axis=1)[:, :size], 1.0, axis=1)
    return Disagreement(documents.values, documents.counts, level).alphas(weights)[0]


def _gold_of(with_gold: AgainstGold, data: DocumentCounts) -> tuple[Callable[[Ints], Floats], tuple[float, ...]]:
    """A function from numbers of documents to gold grades, and the grades of the documents with enough judgments."""
    grade = with_gold.grades_of(data.topics, data.documents)
    grades = np.unique(np.concatenate([grade(documents.pair) for documents in data.groups]))
    return grade, tuple(grades[~np.isnan(grades)].tolist())


def _of_grades(documents: Documents, grade: Callable[[Ints], Floats], some: Sequence[float]) -> Documents:
    """The documents whose gold grade is one of `some`."""
    return documents.select(lambda pair: np.isin(grade(pair), some))


def _name(grades: Sequence[float]) -> str:
    """A combination as the paper writes it: "01"."""
    return "".join(f"{grade:g}" for grade in grades)
