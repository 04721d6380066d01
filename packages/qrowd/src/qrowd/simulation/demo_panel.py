"""The panel of `qrowd demo`: eight assessors, twelve systems, and no single answer to which one is best."""

from __future__ import annotations

from qrowd.model.chance import Chance, Rng
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation.behaviours import Behaviour, Confident, Confused, Lenient, Spammer, simulate_judgments
from qrowd.simulation.truth import Truth, simulate_pool, simulate_runs

# name: (quality, how far it follows what looks good)
SYSTEMS = {
    "tf-idf": (0.40, 0.0),
    "bm25": (0.60, 0.0),
    "bm25+rm3": (0.70, 0.0),
    "doc2query": (0.80, 0.1),
    "dense-small": (0.80, 0.2),
    "dense-large": (1.00, 0.3),
    "splade": (1.15, 0.1),
    "colbert": (1.25, 0.1),
    "hybrid": (1.30, 0.1),
    "rerank-small": (1.40, 0.2),
    "rerank-llm": (2.20, 1.0),
    "rerank-large": (2.20, 0.1),
}
ASSESSORS: dict[str, Behaviour] = {
    "ann": Lenient(noise=0.25),
    "bob": Lenient(noise=0.35),
    "lena": Lenient(shift=0.7, noise=0.3, appeal=0.2),
    "sven": Lenient(shift=-0.6, noise=0.3),
    "crowd-1": Confused.of_accuracy(0.85),
    "crowd-2": Confused.of_accuracy(0.75),
    "crowd-3": Spammer(),
    "llm-a": Confident(shift=0.3, noise=0.2, appeal=0.7),
}


def simulate_demo(*, rng: Rng = 2) -> tuple[Runs, Judgments, Truth]:
    """Twelve systems on 25 topics, judged by eight assessors, and the truth.

    rerank-large is the better system; rerank-llm follows what looks good, and so does the assessor llm-a, who puts it
    first. Experts (ann, bob) grade 0-3, lena leniently, sven severely; crowd-1 and crowd-2 say yes or no, right in 85
    and 75 of 100 cases; crowd-3 answers at random; llm-a gives fractions, seldom anything between 0 and 1.
    """
    random = Chance.of(rng).stream("demo")
    truth = simulate_pool(25, 40, prevalence=0.35, rng=random)
    quality, appeal = zip(*SYSTEMS.values(), strict=True)
    runs = simulate_runs(
        truth,
        len(SYSTEMS),
        depth=20,
        quality=quality,
        appeal=appeal,
        names=tuple(SYSTEMS),
        unjudged_share=0.03,
        tie_share=0.02,
        rng=random,
    )
    judgments = simulate_judgments(truth, ASSESSORS, coverage={"crowd-1": 0.9, "crowd-2": 0.9}, rng=random)
    return runs, judgments, truth
