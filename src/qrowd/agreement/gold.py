"""Agreement on documents of one relevance level, and of several: the alpha^0, alpha^1, alpha^01 ... of a gold standard.

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
from qrowd.agreement.correlation import pearson
from qrowd.agreement.reference import Held, Reference, hold
from qrowd.agreement.reliability import Documents, Reliability, reliability
from qrowd.errors import ArgumentError
from qrowd.kernels.disagreement import Level
from qrowd.model.chance import Chance, Rng, Seed, seed_of
from qrowd.model.frames import make_frame
from qrowd.model.judgments import Judgments, Repeats
from qrowd.model.one_scale import CombineScales

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_LEVELS = 6


@dataclass(frozen=True, eq=False)
class AlphaByGold:
    """Alpha of the documents whose gold grade is one of a few.

    grades : the gold grades, ascending; combinations : the sets of them that alpha was computed for, as tuples.
    topics : one per row, or ("all",).
    alphas : (topics, combinations).
    complete : (topics,) the topic has documents of every gold grade.
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
        if name not in self.names:
            raise ArgumentError(f"no alpha of gold {name!r}; there are {', '.join(self.names)}")
        return self.value[:, self.names.index(name)]

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and combination."""
        n = len(self.combinations)
        flat = [alpha for row in self.alphas for alpha in row]
        return make_frame(
            {
                "topic": np.repeat(np.array(self.topics, object), n),
                "gold": np.tile(np.array(self.names, object), len(self.topics)),
                "complete": np.repeat(self.complete, n),
                **alpha_columns(flat),
            },
            backend,
        )

    def correlations(self, *, complete: bool = True, significant: float = 0.005, backend: str = "pandas") -> Any:
        """Pearson's correlation over topics between the alphas of any two combinations: the paper's Table 2.

        complete : only topics with documents of every gold grade.
        significant : p below which a correlation is marked.
        """
        value = self.value[self.complete] if complete else self.value
        pairs = list(combinations(range(len(self.names)), 2))
        found = [pearson(value[:, i], value[:, j]) for i, j in pairs]
        return make_frame(
            {
                "first": np.array([self.names[i] for i, _ in pairs], object),
                "second": np.array([self.names[j] for _, j in pairs], object),
                "n_topics": np.array([one.n for one in found]),
                "pearson": np.array([one.r for one in found]),
                "p": np.array([one.p for one in found]),
                "significant": np.array([one.p < significant for one in found]),
            },
            backend,
        )


def alpha_by_gold(
    judgments: Judgments,
    gold: Reference,
    level: Level | None = None,
    *,
    by: str | None = None,
    bootstrap: int = 0,
    resample: Resample = "topics",
    confidence: float = 0.95,
    rng: Rng = None,
    repeats: Repeats = "first",
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
    combine_scales: CombineScales = "auto",
) -> AlphaByGold:
    """Krippendorff's alpha of the documents of each gold grade, and of each combination of gold grades.

    gold : the name of the assessor whose grades are gold (left out of the agreement), the judgments of one assessor, or
        {(topic, document): grade}. Documents without gold count nowhere.
    by : None for all topics together, or "topic".
    Everything else as in `krippendorff_alpha`. Values stand on the same scale in all combinations; alpha is nan where
    a combination has no document judged often enough, or a single value.
    """
    if by not in (None, "topic"):
        raise ArgumentError(f"by={by!r}: expected None or 'topic'")
    held = hold(judgments, gold, "gold")
    data = reliability(
        held.judgments,
        level,
        by,
        repeats=repeats,
        slots=slots,
        min_judgments=min_judgments,
        logs=logs,
        combine_scales=combine_scales,
    )
    grade, grades = _gold_of(held, data)
    if len(grades) > MOST_LEVELS:
        raise ArgumentError(
            f"gold: {len(grades)} grades have too many combinations; recode gold to {MOST_LEVELS} grades or fewer"
        )
    chosen = [some for size in range(1, len(grades) + 1) for some in combinations(grades, size)]
    seed = seed_of(rng) if bootstrap else None
    alphas = tuple(
        tuple(
            alpha_of(_of_grades(documents, grade, some), data, bootstrap, resample, confidence, seed, f"{topic} {some}")
            for some in chosen
        )
        for topic, documents in zip(data.labels, data.groups, strict=True)
    )
    complete = np.array([np.isin(grades, grade(documents.pair)).all() for documents in data.groups])
    return AlphaByGold(grades, tuple(chosen), data.labels, alphas, complete)


@dataclass(frozen=True, eq=False)
class MatchedSize:
    """Alpha of random subsets that are as large as the set of documents of some gold grades.

    sizes : (topics,) documents of those grades.
    sets : names of the document sets drawn from.
    whole : (topics, sets) alpha of all documents of a set; mean, deviation : of the subsets' alphas.
    """

    topics: tuple[str, ...]
    sizes: NDArray[np.int64]
    sets: tuple[str, ...]
    whole: Floats
    mean: Floats
    deviation: Floats
    repetitions: int
    seed: Seed

    def to_frame(self, backend: str = "pandas") -> Any:
        """One row per topic and set."""
        n = len(self.sets)
        return make_frame(
            {
                "topic": np.repeat(np.array(self.topics, object), n),
                "gold": np.tile(np.array(self.sets, object), len(self.topics)),
                "n_documents": np.repeat(self.sizes, n),
                "alpha": self.whole.ravel(),
                "subset_mean": self.mean.ravel(),
                "subset_deviation": self.deviation.ravel(),
            },
            backend,
        )


def alpha_of_matched_subsets(
    judgments: Judgments,
    gold: Reference,
    level: Level | None = None,
    *,
    like: float | Sequence[float] | None = None,
    repetitions: int = 300,
    rng: Rng,
    repeats: Repeats = "first",
    slots: int | None = None,
    min_judgments: int = 2,
    logs: bool = False,
    combine_scales: CombineScales = "auto",
) -> MatchedSize:
    """Does alpha depend on how many documents there are? Topic by topic, alpha of subsets of matched size (sec. 4.3).

    like : the gold grades whose number of documents the subsets match; by default the relevant ones. Subsets are drawn
        without replacement, `repetitions` times, from all documents with gold ("all") and from those of the other
        grades; nan where there are too few.

    If size had an effect, the subsets' alphas would move from the alpha of the whole set towards that of `like`.
    """
    held = hold(judgments, gold, "gold")
    data = reliability(
        held.judgments,
        level,
        "topic",
        repeats=repeats,
        slots=slots,
        min_judgments=min_judgments,
        logs=logs,
        combine_scales=combine_scales,
    )
    grade, grades = _gold_of(held, data)
    wanted = grades[1:] if like is None else tuple(np.atleast_1d(np.array(like, np.float64)).tolist())
    others = tuple(g for g in grades if g not in wanted)
    if not others or not wanted or not set(wanted) <= set(grades):
        shown = ", ".join(f"{g:g}" for g in grades)
        raise ArgumentError(f"like={like!r}: expected some, not all, of the gold grades {shown}")
    seed = seed_of(rng)
    chance = Chance.of(seed)
    sizes = np.array([np.isin(grade(documents.pair), wanted).sum() for documents in data.groups])
    whole, mean, deviation = (np.full((len(data.labels), 2), np.nan) for _ in range(3))
    for t, (topic, documents) in enumerate(zip(data.labels, data.groups, strict=True)):
        for s, allowed in enumerate((grades, others)):
            part = _of_grades(documents, grade, allowed)
            whole[t, s] = alpha_of(part, data, 0, "documents", 0.95, None, topic).value
            if 0 < sizes[t] <= part.pair.size:
                drawn = _subsets(part, data.level, int(sizes[t]), repetitions, chance.stream(f"subsets {topic}", s))
                known = drawn[~np.isnan(drawn)]
                if known.size > 1:
                    mean[t, s], deviation[t, s] = known.mean(), known.std(ddof=1)
    return MatchedSize(data.labels, sizes, ("all", _name(others)), whole, mean, deviation, repetitions, seed)


def _subsets(documents: Documents, level: Level, size: int, repetitions: int, random: np.random.Generator) -> Floats:
    """(repetitions,) alpha of `size` documents drawn without replacement."""
    lots = random.random((repetitions, documents.pair.size))
    weights = np.zeros(lots.shape)
    np.put_along_axis(weights, np.argpartition(lots, size - 1, axis=1)[:, :size], 1.0, axis=1)
    return Disagreement(documents.values, documents.counts, level).alphas(weights)[0]


def _gold_of(held: Held, data: Reliability) -> tuple[Callable[[Ints], Floats], tuple[float, ...]]:
    """The gold grade of documents by their number, and the grades there are among documents judged often enough."""
    grade = held.grades_of(data.topics, data.documents)
    found = np.unique(np.concatenate([grade(documents.pair) for documents in data.groups]))
    return grade, tuple(found[~np.isnan(found)].tolist())


def _of_grades(documents: Documents, grade: Callable[[Ints], Floats], some: Sequence[float]) -> Documents:
    """The documents whose gold grade is one of some."""
    return documents.part(lambda pair: np.isin(grade(pair), some))


def _name(grades: Sequence[float]) -> str:
    """As the paper writes a combination: 01."""
    return "".join(f"{grade:g}" for grade in grades)
