"""Variance components of scores: the shares of systems, topics, assessors and their interactions.

Brennan (2001), Generalizability Theory. Springer: chapters 3 and 4 (crossed and nested designs, two facets), 7.1
(unbalanced, analogous to an analysis of variance); after Cronbach, Gleser, Nanda, Rajaratnam (1972), The Dependability
of Behavioral Measurements. For retrieval: Bodoff, Li (2007), Test Theory for Assessing IR Test Collections. SIGIR;
Urbano, Marrero, Martin (2013), On the Measurement of Test Collection Reliability. SIGIR.

D studies are the precision of other numbers of topics and assessors, and the best design for a budget (Brennan,
chapters 1, 3 and 4). For unequal costs: Marcoulides, Goldstein (1990), The Optimization of Generalizability Studies
with Resource Constraints. Educ. Psychol. Meas. 50(4).

Brennan's persons are systems s here, crossed with topics t and with assessors a, who judge every topic (s x t x a) or
are different ones for each topic (s x (a:t)).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qrowd.errors import ArgumentError, NoOverlapError, check_choice
from qrowd.kernels.arrays import Floats
from qrowd.kernels.two_way import of_clusters
from qrowd.model.result import Result
from qrowd.model.scores import clusters_in, one_measure

if TYPE_CHECKING:
    from qrowd.model.scores import AnyScores


Design = Literal["crossed", "nested"]

CROSSED = (
    "system",
    "topic",
    "assessor",
    "system*topic",
    "system*assessor",
    "topic*assessor",
    "error",
)
NESTED = ("system", "topic", "assessor:topic", "system*topic", "error")

COMPLETE_ENOUGH = 0.8  # share of the scores in a complete block from which on "auto" takes the design as crossed
BLOCKS = 1 << 12  # sets of assessors searched for the largest complete block; more take a greedy search


@dataclass(frozen=True, eq=False)
class VarianceComponents(Result):
    """The variance components of scores; each array is (sources,).

    design : "crossed": every assessor judges every topic; "nested": every topic has assessors of its own.
    sources : system, topic, assessor, system*topic, system*assessor, topic*assessor, error (crossed); system, topic,
        assessor:topic, system*topic, error (nested, where the error contains system*assessor).
    ss, df, ms : sum of squares, degrees of freedom, mean square.
    estimate : the estimated variance component, which may be below 0. component : the same, with 0 for those below 0.
        share : of the sum of components; nan where nothing varies.
    negative : the sources with an estimate below 0.
    topics, assessors, systems : the names that the estimates rest on. n_systems, n_topics : their number.
    n_assessors : per topic; the harmonic mean where topics have panels of unequal size, on which the error of a mean
        over topics depends.
    n_scores : number of (assessor, topic) cells used. n_left_out : cells with a score that were left out.
    handling : one sentence on the treatment of missing scores.
    sampled : "topic"; "cluster" where clusters of topics stand for topics in all of this.
    """

    summary = "The variance components of scores"

    design: Design
    sources: tuple[str, ...]
    ss: Floats
    df: NDArray[np.int64]
    ms: Floats
    estimate: Floats
    component: Floats
    share: Floats
    negative: tuple[str, ...]
    topics: tuple[str, ...]
    assessors: tuple[str, ...]
    systems: tuple[str, ...]
    n_assessors: float
    n_scores: int
    n_left_out: int
    handling: str
    sampled: str = "topic"

    _COLUMNS = ("sources", "ss", "df", "ms", "estimate", "component", "share")

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.topics)

    def of(self, source: str) -> float:
        """The variance component of one source."""
        if source not in self.sources:
            raise ArgumentError(f"source {source!r}: choose from {', '.join(self.sources)}")
        return float(self.component[self.sources.index(source)])

    def generalizability(
        self, n_topics: float | None = None, n_assessors: float | None = None, *, design: Design | None = None
    ) -> float:
        """E rho squared: how well means over so many topics and assessors order systems, from 0 to 1.

            v_s / (v_s + relative error),
            relative error: crossed v_st / n_t + v_sa / n_a + v_e / (n_t n_a); nested v_st / n_t + v_e / (n_t n_a)

        n_topics, n_assessors : of the design, with assessors counted per topic; default: those of the data.
        design : "crossed" or "nested"; default: that of the data. Crossed components also give a nested design (v_sa
            joins the error); nested components do not give a crossed one.

        0 where systems do not vary, nan where nothing does. Brennan's equations for the generalizability coefficient.
        """
        return self._coefficient(0, n_topics, n_assessors, design)

    def dependability(
        self, n_topics: float | None = None, n_assessors: float | None = None, *, design: Design | None = None
    ) -> float:
        """Phi: how well such means estimate the scores themselves, not only the order of systems, from 0 to 1.

            v_s / (v_s + absolute error),
            absolute error: relative error, and crossed v_t / n_t + v_a / n_a + v_ta / (n_t n_a);
            nested v_t / n_t + v_a:t / (n_t n_a)

        Arguments as for `generalizability`, which is never smaller.
        """
        return self._coefficient(1, n_topics, n_assessors, design)

    def _design(self, n_topics: float | None, n_assessors: float | None) -> tuple[float, float]:
        t = self.n_topics if n_topics is None else n_topics
        a = self.n_assessors if n_assessors is None else n_assessors
        for name, value in (("n_topics", t), ("n_assessors", a)):
            if not 0 < value < np.inf:
                raise ArgumentError("a number above 0 was expected", name, value)
        return float(t), float(a)

    def _coefficient(
        self, which: int, n_topics: float | None, n_assessors: float | None, design: Design | None
    ) -> float:
        errors = error_variances(self, *self._design(n_topics, n_assessors), design)
        return float(coefficient(self, errors[which]))


def variance_components(
    scores: AnyScores, *, design: Literal["crossed", "nested", "auto"] = "auto"
) -> VarianceComponents:
    """Estimate the variance components of systems, topics, assessors and their interactions, by one measure.

    Parameters
    ----------
    scores : (assessor, topic, system) of one measure. An (assessor, topic) cell counts where all systems have a score.
    design : "crossed": assessors are the same in all topics; where scores are missing, only the largest complete block
        of topics and assessors counts (most cells; of equals, most topics). "nested": every topic has assessors of its
        own, of any number; who judged several topics counts as another assessor in each. "auto": crossed if every
        assessor has every topic, or if the largest complete block keeps 80 % of the scores; else nested.

    From the mean squares, T, S, A being numbers of levels:

        crossed: v_e = MS_sta; v_st = (MS_st - MS_sta) / A; v_sa = (MS_sa - MS_sta) / T; v_ta = (MS_ta - MS_sta) / S;
                 v_s = (MS_s - MS_st - MS_sa + MS_sta) / (T A), and v_t, v_a likewise
        nested:  v_e = MS_sa:t; v_st = (MS_st - MS_sa:t) / k; v_a:t = (MS_a:t - MS_sa:t) / S;
                 v_t = (MS_t - MS_st - MS_a:t + MS_sa:t) / (S k); v_s = (MS_s - MS_sa:t - r v_st) / N

    with N = sum of A_t over topics, r = sum of A_t^2 / N and k = (N - r) / (T - 1): for panels of equal size A = r = k.
    The nested estimates are unbiased for panels of any size (Henderson's method 1; Brennan's analogous estimates,
    section 7.1): a topic weighs as its number of assessors there. The harmonic mean is used for one thing only, the
    number of assessors that the data's own design is said to have. An estimate below 0 becomes 0 after all are
    computed, as with Brennan, and is named.

    Raises
    ------
    ArgumentError
        Not three dimensions; an infinite score; an unknown design; fewer than 2 systems, topics or assessors.
    NoOverlapError
        Crossed, and no 2 assessors share 2 topics; nested, and no topic has 2 assessors.

    >>> from qrowd import Scores
    >>> found = variance_components(Scores.from_array([[[1.0, 2], [2, 5]], [[1, 4], [3, 6]]]))
    >>> found.sources[0], round(found.of("system"), 4), found.negative
    ('system', 3.0, ('topic*assessor',))
    """
    values, (assessors, topics, systems) = one_measure(scores)
    check_choice("design", design, ("crossed", "nested", "auto"))
    if np.isinf(values).any():
        raise ArgumentError("scores hold an infinite value; leave it out or make it nan")
    if len(systems) < 2:
        raise ArgumentError(f"scores: {len(systems)} system; variance among systems needs 2")
    known = np.asarray(~np.isnan(values).any(axis=2))
    scored = np.flatnonzero(known.any(axis=0))
    clusters = clusters_in(scores, scored)
    if clusters:
        numbers, topics = clusters
        table, cells = of_clusters(np.nan_to_num(values.transpose(1, 0, 2)[scored]), known.T[scored], numbers)
        values, known = table.transpose(1, 0, 2), cells.T
    for axis, names, what in ((1, assessors, "assessor"), (0, topics, "topic")):
        _refuse_few(int(known.any(axis=axis).sum()), len(names), what)
    rows, columns, every = _complete_block(known) if design != "nested" else (_none(), _none(), True)
    n_known, n_block = int(known.sum()), rows.size * columns.size
    if design == "auto":
        design = "crossed" if n_block >= COMPLETE_ENOUGH * n_known else "nested"
    if design == "crossed":
        if n_block == 0:
            raise NoOverlapError("scores: no 2 assessors share 2 topics, so nothing is crossed; design='nested'")
        used, judged = rows, columns
        squares, n_assessors = _crossed(values[np.ix_(rows, columns)]), float(rows.size)
        handling = "every assessor has a score in every topic"
        if n_block < known.size:
            handling = (
                f"the largest complete block{'' if every else ' found'}: {rows.size} of {len(assessors)} assessors "
                f"and {columns.size} of {len(topics)} topics, {n_block:,} of {n_known:,} cells with scores"
            )
    else:
        judged, used = np.flatnonzero(known.any(axis=0)), np.flatnonzero(known.any(axis=1))
        sizes = known.sum(axis=0)[judged]
        handling = _nested_handling(sizes, len(topics))
        squares, n_assessors = _nested(values[:, judged], known[:, judged]), _harmonic_mean(sizes)
        n_block = n_known
    of_topics, of_assessors = tuple(topics[t] for t in judged), tuple(assessors[a] for a in used)
    left_out = n_known - n_block
    sampled = "cluster" if clusters else "topic"
    levels = of_topics, of_assessors, systems
    return _estimated(design, squares, *levels, n_assessors, n_block, left_out, handling, sampled)


def _estimated(
    design: Design,
    squares: tuple[Floats, NDArray[np.int64], Floats],
    topics: tuple[str, ...],
    assessors: tuple[str, ...],
    systems: tuple[str, ...],
    n_assessors: float,
    n_scores: int,
    n_left_out: int,
    handling: str,
    sampled: str,
) -> VarianceComponents:
    """The components. squares : sums of squares, degrees of freedom and estimates."""
    ss, df, estimate = squares
    ms = ss / df
    # A difference of mean squares that is rounding alone is 0.
    estimate = np.where(np.abs(estimate) > 1e-13 * ms.max(), estimate, 0.0)
    component = np.maximum(estimate, 0.0)
    total = component.sum()
    sources = CROSSED if design == "crossed" else NESTED
    return VarianceComponents(
        design,
        sources,
        ss,
        df,
        ms,
        estimate,
        component,
        share=component / total if total > 0 else np.full(component.size, np.nan),
        negative=tuple(name for name, value in zip(sources, estimate, strict=True) if value < 0),
        topics=topics,
        assessors=assessors,
        systems=systems,
        n_assessors=n_assessors,
        n_scores=n_scores,
        n_left_out=n_left_out,
        handling=handling.replace("topic", sampled),
        sampled=sampled,
    )


def _refuse_few(n: int, n_names: int, what: str) -> None:
    """Refuse fewer than two assessors, or topics, with scores of all systems."""
    if n < 2:
        among = f" of {n_names}" if n_names > 1 else ""
        raise ArgumentError(
            f"scores: {n} {what}{among} with scores of all systems; variance among {what}s needs 2"
            + ("; without a budget, qrowd plan plans topics alone" if what == "assessor" else "")
        )


def _harmonic_mean(sizes: NDArray[np.int64]) -> float:
    """Of the numbers of assessors of topics."""
    return float(sizes.size / (1 / sizes).sum())


def _nested_handling(sizes: NDArray[np.int64], n_topics: int) -> str:
    """What is said of missing scores in a nested design. sizes : number of assessors of each topic with scores.

    Raises
    ------
    NoOverlapError
        No topic has two assessors.
    """
    if sizes.max() < 2:
        raise NoOverlapError(
            "scores: no topic has 2 assessors, so the variances of assessors and topics cannot be separated; judge "
            "some topics twice"
        )
    handling = f"every topic has {sizes[0]} assessors of its own"
    if sizes.min() < sizes.max():
        handling = (
            f"topics have {sizes.min()} to {sizes.max()} assessors of their own, harmonic mean "
            f"{_harmonic_mean(sizes):.4g}; unbiased estimates for unequal panels (Henderson's method 1)"
        )
    if sizes.size < n_topics:
        handling += f"; {n_topics - sizes.size} of {n_topics} topics have no score and are left out"
    return handling


# ---------------------------------------------------------------------- components


def _crossed(x: Floats) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Sums of squares, degrees of freedom and estimates of complete (assessor, topic, system) scores."""
    n_a, n_t, n_s = x.shape
    largest = float(np.abs(x).max())
    x = x - x.mean()
    s, t, a = x.mean(axis=(0, 1)), x.mean(axis=(0, 2)), x.mean(axis=(1, 2))
    st = x.mean(axis=0) - t[:, None] - s
    sa = x.mean(axis=1) - a[:, None] - s
    ta = x.mean(axis=2) - a[:, None] - t
    rest = x - x.mean(axis=0) - (sa + a[:, None])[:, None] - ta[:, :, None]
    parts = ((s, n_t * n_a), (t, n_s * n_a), (a, n_s * n_t), (st, n_a), (sa, n_t), (ta, n_s), (rest, 1))
    ss = _cleaned(np.array([n * float((part**2).sum()) for part, n in parts]), largest, n_a * n_t * n_s)
    ds, dt, da = n_s - 1, n_t - 1, n_a - 1
    df = np.array([ds, dt, da, ds * dt, ds * da, dt * da, ds * dt * da])
    m_s, m_t, m_a, m_st, m_sa, m_ta, m_e = ss / df
    estimate = np.array([
        (m_s - m_st - m_sa + m_e) / (n_t * n_a),
        (m_t - m_st - m_ta + m_e) / (n_s * n_a),
        (m_a - m_sa - m_ta + m_e) / (n_s * n_t),
        (m_st - m_e) / n_a,
        (m_sa - m_e) / n_t,
        (m_ta - m_e) / n_s,
        m_e,
    ])  # fmt: skip
    return ss, df, estimate


def _nested(x: Floats, known: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.int64], Floats]:
    """The same of scores known for some assessors of each topic; every topic has one at least."""
    n_t, n_s = x.shape[1:]
    sizes = known.sum(axis=0)
    n = int(sizes.sum())
    cells = x[known]  # (cells, systems)
    largest = float(np.abs(cells).max())
    cells = cells - cells.mean()
    topic = np.nonzero(known)[1]
    by_topic = np.zeros((n_t, n_s))
    np.add.at(by_topic, topic, cells)
    by_topic /= sizes[:, None]
    # A topic weighs as its number of assessors, which makes these parts orthogonal.
    s, t, at = cells.mean(axis=0), by_topic.mean(axis=1), cells.mean(axis=1)
    a = at - t[topic]
    st = by_topic - t[:, None] - s
    rest = cells - by_topic[topic] - a[:, None]
    sums = (
        n * (s**2).sum(),
        n_s * (sizes * t**2).sum(),
        n_s * (a**2).sum(),
        (sizes[:, None] * st**2).sum(),
        (rest**2).sum(),
    )
    ss = _cleaned(np.array([float(total) for total in sums]), largest, n * n_s)
    df = np.array([n_s - 1, n_t - 1, n - n_t, (n_s - 1) * (n_t - 1), (n_s - 1) * (n - n_t)])
    m_s, m_t, m_a, m_st, m_e = ss / df
    r = float((sizes**2).sum() / n)
    k = (n - r) / (n_t - 1)
    v_st = (m_st - m_e) / k
    estimate = np.array([
        (m_s - m_e - r * v_st) / n,
        (m_t - m_st - m_a + m_e) / (n_s * k),
        (m_a - m_e) / n_s,
        v_st,
        m_e,
    ])  # fmt: skip
    return ss, df, estimate


def _cleaned(ss: Floats, largest: float, n: int) -> Floats:
    """Sums of squares without those that rounding alone makes of scores of that size."""
    return np.asarray(np.where(ss > n * (1e-14 * largest) ** 2, ss, 0.0))


def _none() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


def _complete_block(known: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Assessors and topics, 2 of each at least, that all have a score with each other: as many cells as possible.

    The assessors of the best block are who some topics have in common. All such sets are looked at; where there are
    more than 4,096, so many and a greedy one, which leaves out whoever lacks most until nobody lacks any. The last
    value says whether all were.
    """
    patterns = np.unique(known.T, axis=0)
    patterns = patterns[np.argsort(-patterns.sum(axis=1), kind="stable")]
    shared = {pattern.tobytes(): pattern for pattern in patterns[patterns.sum(axis=1) >= 2]}
    every = True
    for pattern in patterns:
        if len(shared) > BLOCKS:
            every = False
            break
        for other in [pattern & known_pattern for known_pattern in shared.values()]:
            if other.sum() >= 2:
                shared.setdefault(other.tobytes(), other)
    candidates = list(shared.values()) if every else [*shared.values(), _greedy(known)]
    best, block = (0, 0), (_none(), _none())
    for members in candidates:
        rows = np.flatnonzero(members)
        columns = np.flatnonzero(known[rows].all(axis=0))
        size = rows.size * columns.size, columns.size
        if rows.size >= 2 and columns.size >= 2 and size > best:
            best, block = size, (rows, columns)
    return *block, every


def _greedy(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Assessors that are left when the assessor or topic that lacks the largest share goes, one after another."""
    rows, columns = (np.ones(n, np.bool_) for n in known.shape)
    while (gaps := ~known & rows[:, None] & columns).any():
        of_rows, of_columns = gaps.sum(axis=1) / columns.sum(), gaps.sum(axis=0) / rows.sum()
        if of_rows.max() > of_columns.max():
            rows[of_rows.argmax()] = False
        else:
            columns[of_columns.argmax()] = False
    return rows


# ---------------------------------------------------------------------- designs


def error_parts(components: VarianceComponents, design: Design | None) -> tuple[Design, tuple[float, ...]]:
    """v_st, v_sa and v_e of the relative error, then v_t, v_a and v_ta of the absolute one, in a design."""
    design_used = components.design if design is None else design
    check_choice("design", design_used, Design)
    v = dict(zip(components.sources, components.component.tolist(), strict=True))
    if components.design == "nested":
        if design_used == "crossed":
            raise ArgumentError(
                "components of nested assessors do not give those of one panel for all topics", "design", "crossed"
            )
        return design_used, (v["system*topic"], 0.0, v["error"], v["topic"], 0.0, v["assessor:topic"])
    v_sa, v_a = v["system*assessor"], v["assessor"]
    if design_used == "nested":
        return design_used, (v["system*topic"], 0.0, v_sa + v["error"], v["topic"], 0.0, v_a + v["topic*assessor"])
    return design_used, (v["system*topic"], v_sa, v["error"], v["topic"], v_a, v["topic*assessor"])


def error_variances(components: VarianceComponents, n_t: Any, n_a: Any, design: Design | None) -> tuple[Any, Any]:
    """Relative and absolute error variance, for numbers or arrays of numbers."""
    _, (v_st, v_sa, v_e, v_t, v_a, v_ta) = error_parts(components, design)
    relative = v_st / n_t + v_sa / n_a + v_e / (n_t * n_a)
    return relative, relative + v_t / n_t + v_a / n_a + v_ta / (n_t * n_a)


def coefficient(components: VarianceComponents, error: Any) -> Floats:
    """Share of what systems differ by in that and the error; nan where both are 0."""
    v_s = components.of("system")
    total = v_s + np.asarray(error, np.float64)
    return np.asarray(np.divide(v_s, total, out=np.full(total.shape, np.nan), where=total > 0))


MAX_TOPICS, MAX_ASSESSORS = 1000, 20  # that best_design considers


@dataclass(frozen=True, eq=False)
class DesignStudy(Result):
    """The precision of designs; each array is (designs,), ordered by topics, then assessors.

    generalizability, dependability : E rho squared and Phi. standard_error : of a system's mean.
    standard_error_of_difference : of the difference of two systems' means. cost : nan where no costs were given.
    design : "crossed" or "nested", for all of them.
    """

    summary = "The precision of designs"

    design: Design
    n_topics: NDArray[np.int64]
    n_assessors: NDArray[np.int64]
    generalizability: Floats
    dependability: Floats
    standard_error: Floats
    standard_error_of_difference: Floats
    cost: Floats

    _COLUMNS = (
        "n_topics",
        "n_assessors",
        "generalizability",
        "dependability",
        "standard_error",
        "standard_error_of_difference",
        "cost",
    )

    def rows(self, numbers: NDArray[np.int64]) -> DesignStudy:
        """Some of the designs, by their positions."""
        return DesignStudy(self.design, *(getattr(self, name)[numbers] for name in DesignStudy._COLUMNS))


@dataclass(frozen=True, eq=False)
class BestDesign(Result):
    """The best design within a budget.

    n_topics, n_assessors : assessors counted per topic. cost : of the design.
    by_assessors : for each affordable number of assessors, the most topics. n_designs : number of designs within the
    budget, of at most 1,000 topics and 20 assessors.
    """

    summary = "The best design within a budget"

    n_topics: int
    n_assessors: int
    generalizability: float
    dependability: float
    standard_error: float
    standard_error_of_difference: float
    cost: float
    budget: float
    design: Design
    by_assessors: DesignStudy
    n_designs: int


def d_study(
    components: VarianceComponents,
    topics: Iterable[int] = (25, 50, 100, 200),
    assessors: Iterable[int] = (1, 2, 3, 5, 8),
    *,
    design: Design | None = None,
) -> DesignStudy:
    """The precision of each number of topics combined with each number of assessors per topic.

    design : as in `VarianceComponents.generalizability`.

    >>> from qrowd.comparison import variance_components
    >>> from qrowd import Scores
    >>> components = variance_components(Scores.from_array([[[1.0, 2], [2, 5]], [[1, 4], [3, 6]]]))
    >>> d_study(components, [2], [2, 4]).generalizability.round(3).tolist()
    [0.96, 0.98]
    """
    t, a = _counts("topics", topics), _counts("assessors", assessors)
    return _study(components, np.repeat(t, a.size), np.tile(a, t.size), design)


def best_design(
    components: VarianceComponents,
    budget: float,
    *,
    topic_cost: float = 0.0,
    judgment_cost: float = 0.0,
    documents_per_topic: float,
) -> BestDesign:
    """The number of topics, and of assessors per topic, with the highest generalizability within a budget.

        cost = n_t * topic_cost + n_t * n_a * documents_per_topic * judgment_cost

    Parameters
    ----------
    budget : total budget. topic_cost : fixed cost of a topic before judging (writing it, pooling). judgment_cost : cost
        of one judgment of one document by one assessor. All in one currency.
    documents_per_topic : number of documents that an assessor judges per topic.

    All designs within the budget of at most 1,000 topics and 20 assessors are evaluated. The same design has the
    smallest standard error of a difference. Of equally good designs it is the cheapest, then the one with the fewest
    assessors.

    Raises
    ------
    ArgumentError
        A cost below 0, all costs 0, a budget below the cost of one topic with one assessor.
    """
    for name, value in (("topic_cost", topic_cost), ("judgment_cost", judgment_cost)):
        if not 0 <= value < np.inf:
            raise ArgumentError("0 or more was expected", name, value)
    for name, value in (("budget", budget), ("documents_per_topic", documents_per_topic)):
        if not 0 < value < np.inf:
            raise ArgumentError("a number above 0 was expected", name, value)
    if topic_cost == judgment_cost == 0:
        raise ArgumentError("topic_cost=0, judgment_cost=0: without costs no design is best")
    t = np.repeat(np.arange(1, MAX_TOPICS + 1), MAX_ASSESSORS)
    a = np.tile(np.arange(1, MAX_ASSESSORS + 1), MAX_TOPICS)
    cost = t * topic_cost + t * a * documents_per_topic * judgment_cost
    paid = cost <= budget * (1 + 1e-12)
    if not paid.any():
        raise ArgumentError(f"one topic with one assessor costs {cost[0]:g}", "budget", budget)
    study = _study(components, t[paid], a[paid], None, cost[paid])
    if np.isnan(study.generalizability).all():
        raise ArgumentError("components: nothing varies, so no design is better than another")
    equally_good = np.flatnonzero(
        study.generalizability > np.nanmax(study.generalizability) - 1e-12
    )  # but for rounding
    cheapest = equally_good[np.lexsort((study.n_assessors[equally_good], study.cost[equally_good]))[:1]]
    most = np.array([np.flatnonzero(study.n_assessors == n)[-1] for n in np.unique(study.n_assessors)])
    best = study.rows(cheapest)
    numbers: dict[str, Any] = {name: getattr(best, name)[0].item() for name in DesignStudy._COLUMNS}
    return BestDesign(
        **numbers,
        budget=float(budget),
        design=study.design,
        by_assessors=study.rows(most),
        n_designs=int(paid.sum()),
    )


def _study(
    components: VarianceComponents,
    n_t: NDArray[np.int64],
    n_a: NDArray[np.int64],
    design: Design | None,
    cost: Floats | None = None,
) -> DesignStudy:
    relative, absolute = error_variances(components, n_t, n_a, design)
    return DesignStudy(
        error_parts(components, design)[0],
        n_t,
        n_a,
        coefficient(components, relative),
        coefficient(components, absolute),
        np.sqrt(absolute),
        np.sqrt(2 * relative),
        np.full(n_t.size, np.nan) if cost is None else cost,
    )


def _counts(name: str, numbers: Iterable[int]) -> NDArray[np.int64]:
    counts = list(numbers)
    if not counts:
        raise ArgumentError(f"{name}: at least one number was expected")
    for n in counts:
        if n != int(n) or n < 1:
            raise ArgumentError(f"{name}: {n!r} is no whole number above 0")
    return np.array(counts, np.int64)
