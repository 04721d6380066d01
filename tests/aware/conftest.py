"""Small panels with everything that is untidy, and their similarities computed a second time by the oracle."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.panel import Panel, Pool
from qrowd.model.runs import Runs
from qrowd.simulation import (
    Confident,
    Confused,
    Lazy,
    Lenient,
    Random,
    RandomAssessors,
    Spammer,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)

LEVELS = {"under": 0.05, "even": 0.5, "over": 0.95}
EMPTY_IS_NAN = Conventions(empty="nan")


@dataclass(frozen=True)
class Case:
    """Runs, judgments, and what is asked of them."""

    runs: Runs
    judgments: Judgments
    measures: tuple = ("AP", "nDCG@10")
    n: int = 3
    seed: int = 5
    conventions: Conventions = EMPTY_IS_NAN

    @cached_property
    def scores(self):
        return self.evaluated(self.judgments, self.conventions)

    def evaluated(self, judgments, conventions):
        return evaluate(self.runs, judgments, list(self.measures), conventions=conventions).to_xarray()

    @cached_property
    def tables(self):
        """{(measure, assessor): [topic][system]}, None for a topic without a score."""
        return {
            (measure, assessor): rows(self.scores.sel(measure=measure, assessor=assessor).values)
            for measure in self.measures
            for assessor in self.judgments.assessors
        }

    def random_tables(self, assessor):
        """{measure: [level][replicate][topic][system]} of random assessors made for one assessor alone."""
        topics = list(self.scores.topic.values)
        with_score = [
            topic for topic in topics if self.scores.sel(assessor=assessor, topic=topic).notnull().any().item()
        ]
        panel = self.judgments.panel(repeats=self.conventions.repeats)
        a = panel.assessors.index(assessor)
        pool, like = by_label(panel, a, with_score)
        found = {measure: [] for measure in self.measures}
        if not with_score:
            return {measure: [[[None] * len(topics)] * self.n] * len(LEVELS) for measure in self.measures}
        for level, p in LEVELS.items():
            random = Chance.of(self.seed).stream(level)
            blocks = Drawn(pool, self.n, panel.scales[a], p, like, random)
            filled = self.evaluated(blocks, replace(self.conventions, empty="zero"))
            for measure in self.measures:
                replicates = [
                    [
                        filled.sel(measure=measure, topic=t).values[h].tolist() if t in with_score else None
                        for t in topics
                    ]
                    for h in range(self.n)
                ]
                found[measure].append(replicates)
        return found


@dataclass(frozen=True)
class Drawn:
    """Random assessors on someone's scale: the relevant grades share p equally, the others 1 - p."""

    pool: Pool
    n: int
    scale: object
    p: float
    like: np.ndarray
    rng: np.random.Generator

    def __iter__(self) -> Iterable[Panel]:
        if self.scale.kind == "fractions":
            values = sorted(set(self.like[~np.isnan(self.like)]))
            threshold = self.scale.rel
        else:
            values, threshold = [float(g) for g in range(int(self.scale.maximum) + 1)], 1
        relevant = [value >= threshold for value in values]
        shares = [self.p / sum(relevant) if yes else (1 - self.p) / (len(values) - sum(relevant)) for yes in relevant]
        if self.scale.kind == "fractions":  # the fractions used may all stand on one side
            shares = np.array(shares) / np.sum(shares)
        drawn = RandomAssessors(self.pool, self.n, distribution=shares, like=self.like, rng=self.rng)
        for panel in drawn:
            said = np.array([[np.nan if np.isnan(v) else values[int(v)] for v in row] for row in panel.values])
            yield replace(panel, stored=said, scales=(self.scale,) * len(panel.assessors))


def by_label(panel, a, topics):
    """The pool of these topics, topics and documents in the order of their labels, and what the assessor said there."""
    starts, documents, said = [0], [], []
    names = sorted(panel.pool.documents)
    for topic in sorted(topics):
        here = panel.pool.rows(panel.pool.topics.index(topic))
        entries = sorted(
            (panel.pool.documents[d], value)
            for d, value in zip(panel.pool.document[here].tolist(), panel.values[here, a].tolist(), strict=True)
        )
        documents += [names.index(name) for name, _ in entries]
        said += [value for _, value in entries]
        starts.append(len(documents))
    pool = Pool(tuple(sorted(topics)), tuple(names), np.array(starts), np.array(documents, np.int32))
    return pool, np.array(said)


def rows(table):
    return [None if np.isnan(row).any() else row.tolist() for row in table]


def case_of(kind):
    """Panels: "plain" binary; "mixed" scales with fractions; "gaps", where few judged all or found something."""
    truth = simulate_pool(5, 14, prevalence=0.3, topic_variance=0.5, rng=4)
    runs = simulate_runs(truth, 7, depth=12, unjudged_share=0.2, tie_share=0.2, rng=4)
    if kind == "plain":
        careful = {f"a{i}": Confused.of_accuracy(p) for i, p in enumerate((0.95, 0.8, 0.6))}
        return Case(runs, simulate_judgments(truth, careful, rng=4), ("AP", "nDCG@10"))
    if kind == "mixed":
        panel = {
            "yes-no": Confused.of_accuracy(0.8), "grades": Lenient(noise=0.5), "share": Confident(noise=0.5),
            "lazy": Lazy(), "all": Random(1.0), "none": Spammer(0),
        }  # fmt: skip
        judgments = simulate_judgments(truth, panel, rng=4)
        return Case(runs, judgments, ("AP", "ERR@20", "RBP"))
    panel = {"whole": Lenient(noise=0.3), "half": Lenient(noise=0.3), "bit": Confused.of_accuracy(0.9), "two": Lazy()}
    judgments = simulate_judgments(truth, panel, coverage={"half": 0.5, "bit": 0.15}, rng=4)
    two = judgments.select(assessors="two", topics=["q1", "q3"])
    return Case(runs, concatenate_judgments([judgments.select(assessors=["whole", "half", "bit"]), two]), ("AP", "RR"))


@pytest.fixture(scope="session", params=[pytest.param("plain", marks=pytest.mark.nightly), "mixed", "gaps"])
def case(request):
    return case_of(request.param)


@pytest.fixture(scope="session")
def plain():
    return case_of("plain")


@pytest.fixture(scope="session")
def gappy():
    return case_of("gaps")
