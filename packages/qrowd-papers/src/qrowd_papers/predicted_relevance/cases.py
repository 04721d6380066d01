"""Panels for the predicted relevance study: one simulated from what the paper printed, and real ones.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Inf. Retr. J. 19, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qrowd import files
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.errors import ArgumentError, InputError
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs
from qrowd.model.scales import Scale, parse_scale
from qrowd.predicted_relevance import PredictedRelevance, predicted_relevance, relevant_results
from qrowd.predicted_relevance.doubles import First
from qrowd.simulation import Truth, simulate_judgments, simulate_pool, simulate_runs
from qrowd_papers.predicted_relevance.printed import N_DOUBLE, shares
from qrowd_papers.predicted_relevance.study import means_by_gains, tau_between_assessors

if TYPE_CHECKING:
    import pandas

SPREAD, NOISE = 0.3, {"pages": 0.4, "snippets": 0.55}
"""How severity varies from topic to topic, and how unsure assessors are, in standard deviations of relevance. Chosen so
that p(Key|Key) comes out near Table 2's; noise of one size for all gives Rel a p(Key|Rel) above the printed one."""
JUDGE = "umbrela-gpt4o"
DEPTH = 30  # results that Table 5 counts


@dataclass(frozen=True, eq=False)
class Case:
    """A panel, and what is compared on it.

    doubles : several assessors, for equation 5. one_sided, first : for equation 4, and whose judgments predict.
    whole : one assessor's judgments of everything, by which systems are evaluated.
    halves : two assessors, "U1" and "U2". runs : None where there are none; then only `doubles` counts.
    top, any_ : grades from which a user is satisfied, as Key and as Rel.
    real : whether people or models judged, not a simulation.
    """

    name: str
    about: str
    doubles: Judgments
    one_sided: Judgments
    first: First
    whole: Judgments
    halves: Judgments
    runs: Runs | None
    top: float = 3
    any_: float = 1
    real: bool = True


@dataclass(frozen=True)
class OfTopics:
    """Grades relevance + severity of the topic + noise, by cuts that give the grades these shares.

    spread, noise : standard deviations of the two. topics : judges only the first so many.
    """

    cuts: tuple[float, ...]
    spread: float
    noise: float
    topics: int | None = None

    def scale(self, truth: Truth) -> Scale:
        return parse_scale(f"0-{len(self.cuts)}")

    def judge(self, truth: Truth, rng: np.random.Generator) -> Floats:
        shift = self.spread * rng.standard_normal(len(truth.pool.topics))
        seen = truth.relevance + shift[truth.topic] + self.noise * rng.standard_normal(truth.relevance.size)
        wide = np.sqrt(1 + self.spread**2 + self.noise**2)
        grade = np.searchsorted(wide * np.array(self.cuts), seen, side="right").astype(np.float64)
        return grade if self.topics is None else np.where(truth.topic < self.topics, grade, np.nan)


def federated_search(
    kind: str = "pages", n_systems: int = 15, n_topics: int = 50, n_documents: int = 680, *, rng: Rng
) -> tuple[Runs, Judgments]:
    """Runs, and judgments by "U1" of everything and by "U2" of a part, simulated in the size of FedWeb13.

    The track had 34,010 results for 50 topics, 7,027 pages and 6,253 snippets of them judged twice, of 24 and 26 topics
    (section 4.1). Grades 0 (Non) to 3 (Key) have the shares that Table 3 implies for the first judgments.
    """
    chance = Chance.of(rng)
    below = shares()[::-1].tolist()
    truth = simulate_pool(n_topics, n_documents, prevalence=below, topic_variance=0.1, rng=chance.stream("pool"))
    runs = simulate_runs(truth, n_systems, depth=100, quality=(0.1, 0.5), rng=chance.stream("runs"))
    twice = 24 if kind == "pages" else 26  # of 50 topics
    share = N_DOUBLE[kind] / (34_010 * twice / 50)
    who = {
        "U1": OfTopics(tuple(truth.cuts.tolist()), SPREAD, NOISE[kind]),
        "U2": OfTopics(tuple(truth.cuts.tolist()), SPREAD, NOISE[kind], twice * n_topics // 50),
    }
    judgments = simulate_judgments(truth, who, coverage={"U2": share}, rng=chance.stream("judgments"))
    return runs, judgments


class Panel:
    """A case, and what several tables need of it, computed when it is first asked for."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._models: dict[float, PredictedRelevance] = {}

    def model(self, theta: float) -> PredictedRelevance:
        if theta not in self._models:
            self._models[theta] = predicted_relevance(self.case.doubles, rel=theta, resample="binomial")
        return self._models[theta]

    @property
    def scenarios(self) -> tuple[float, float]:
        return self.case.top, self.case.any_

    @cached_property
    def counts(self) -> list[pandas.DataFrame]:
        """Table 5, from the highest grade on and from the lowest above 0 on."""
        case = self.case
        return [
            relevant_results(self.model(theta), case.whole, runs=runs_of(case), cutoff=DEPTH).to_frame()
            for theta in self.scenarios
        ]

    @cached_property
    def between_halves(self) -> Floats:
        """(gains,) Table 6."""
        case = self.case
        return np.array([*tau_between_assessors(runs_of(case), case.halves, "nDCG@10", rel=case.top).values()])

    @cached_property
    def with_predicted(self) -> list[dict[str, float]]:
        """Table 7: {gains: tau}, in both scenarios."""
        results = []
        for theta in self.scenarios:
            means = means_by_gains(runs_of(self.case), self.case.whole, self.model(theta), "nDCG@20")
            results.append({gains: kendall_tau_b(means["predicted"], values) for gains, values in means.items()})
        return results


def load(
    data: str | None, quick: bool, rng: Rng, progress: Callable[[str, int, int], None] | None = None
) -> dict[str, Case]:
    """{name: case}: simulated pages and snippets, and the real panels where their folder is given.

    quick : smaller simulated panels.
    """
    makers: dict[str, Callable[[], Case]] = {kind: partial(_simulated, kind, quick, rng) for kind in NOISE}
    if data is not None:
        folder = Path(data)
        for name in ("dl19", "dl21", "trec-rf10"):
            if not (folder / name).is_dir():
                raise InputError(f"{folder / name}: there is no such folder; --data wants one that holds {name}")
        makers |= {
            "dl19": partial(_people, folder / "dl19"),
            "dl21": partial(_judge, folder / "dl21"),
            "rf10": partial(_crowd, folder / "trec-rf10"),
        }
    cases = {}
    for step, (name, make) in enumerate(makers.items(), 1):
        cases[name] = make()
        if progress:
            progress(f"read {name}" if cases[name].real else f"simulated {name}", step, len(makers))
    return cases


def runs_of(case: Case) -> Runs:
    """The systems of a panel that has some.

    Raises
    ------
    ArgumentError
        It has none.
    """
    if case.runs is None:
        raise ArgumentError(f"{case.name} has no runs; choose a panel that has")
    return case.runs


def _simulated(kind: str, quick: bool, rng: Rng) -> Case:
    size = {"n_topics": 25, "n_documents": 300} if quick else {}
    runs, judgments = federated_search(kind, **size, rng=Chance.of(rng).stream(kind))
    about = f"{kind} judged twice, simulated with FedWeb13's numbers and the shares of grades that Table 3 implies"
    if quick:
        about = f"{kind} judged twice, simulated; a panel smaller than FedWeb13"
    whole = judgments.select(assessors=["U1"])
    return Case(f"simulated {kind}", about, judgments, judgments, "U1", whole, judgments, runs, real=False)


def _people(folder: Path) -> Case:
    nist = files.read_judgments({"NIST": folder / "qrels.nist.txt"})
    people = files.read_judgments(folder / "humans" / "main.tsv")
    slots = people.slots(2)
    both = concatenate_judgments([nist, slots])
    about = (
        "TREC 2019 Deep Learning, passages that NIST graded above 0 (and 409 others), judged again by two of eight "
        "people; equation 4: NIST's grade predicts them; systems by NIST's grades, with p(R|i) among people"
    )
    return Case(
        "dl19",
        about,
        people,
        both,
        "NIST",
        nist,
        replace(slots, assessors=("U1", "U2")),
        files.read_runs(folder / "runs"),
    )


def _judge(folder: Path) -> Case:
    nist = files.read_judgments({"NIST": folder / "qrels.nist.txt"})
    judge = files.read_judgments({JUDGE: folder / "judges" / f"{JUDGE}.qrels.gz"}, scales={JUDGE: "0-3"})
    both = concatenate_judgments([nist, judge])
    about = (
        "TREC 2021 Deep Learning, passages judged by NIST and by GPT-4o (UMBRELA); equation 4: what NIST says after "
        "GPT-4o's grade; systems by NIST's grades"
    )
    return Case(
        "dl21", about, both, both, JUDGE, nist, replace(both, assessors=("U1", "U2")), files.read_runs(folder / "runs")
    )


def _crowd(folder: Path) -> Case:
    judgments = files.read_judgments(folder / "trec-rf10-data.txt.gz")
    about = "TREC 2010 Relevance Feedback, 766 crowd workers, grades 0 to 2, mostly five labels per document; no runs"
    return Case("rf10", about, judgments, judgments, None, judgments, judgments, None, top=2)
