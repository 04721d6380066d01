"""How soon gold questions exclude people who guess, and how rarely those who do not: the table of docs/campaigns.md.

python gold_questions.py [SEEDS]       200 by default, about a minute

A campaign of 40 people: 30 who answer gold questions with an accuracy drawn for each of them from a stated range, and
10 who do not read: 4 choose at random, 3 too and at once (.3 s, which no rule here looks at), 3 always the same. Each
gives 80 answers if nobody stops them. Places, questions and the rule are those of the package; people are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from qrowd.collect.protocols.gold import Gold, gold_task, is_below
from qrowd.collect.protocols.settings import GoldSettings

N_HONEST, N_RANDOM, N_FAST, N_SAME = 30, 4, 3, 3
ANSWERS, OF_FIRST_UNIT = 80, 20
GRADES = tuple(Gold((1000 + i,), ((0,), (1, 2), (1, 2), (3,))[i % 4]) for i in range(80))
PAIRS = tuple(Gold((1000 + 2 * i, 1001 + 2 * i)) for i in range(80))


@dataclass(frozen=True)
class Outcome:
    """What became of one person: after how many answers they were excluded, and after how many of gold; 0 for never."""

    answers: int
    of_gold: int


def person(
    kind: str, gold: tuple[Gold, ...], settings: GoldSettings, rng: np.random.Generator, range_: tuple[float, float]
) -> Outcome:
    """Answer until the rule excludes or the answers are given. kind : honest, random, fast or same."""
    accuracy, always = rng.uniform(*range_), int(rng.integers(4))
    given: list[tuple[bool, float]] = []
    n = 0
    for first in (True, False):
        task = gold_task(gold, settings.every_in(first=first), int(rng.integers(2**62)))
        asked, number = 0, 0
        while n < (OF_FIRST_UNIT if first else ANSWERS):
            is_gold = task.comes(number, asked)
            number, n = number + 1, n + 1
            if not is_gold:
                continue
            question = task.questions[asked]
            asked += 1
            chance = question.chance(4)
            if kind == "honest":
                right = rng.random() < accuracy
            elif kind == "same" and question.accepted:
                right = always in question.accepted
            else:
                right = rng.random() < chance
            given.append((bool(right), chance))
            rule = {"min_answers": settings.min_answers, "accuracy": settings.accuracy, "risk": settings.risk}
            if is_below(given, **rule):
                return Outcome(n, len(given))
    return Outcome(0, 0)


def simulate(gold: tuple[Gold, ...], settings: GoldSettings, range_: tuple[float, float], n_seeds: int) -> str:
    """One line of the table: shares of spammers excluded by so many answers, and of honest people ever."""
    people = ["honest"] * N_HONEST + ["random"] * N_RANDOM + ["fast"] * N_FAST + ["same"] * N_SAME
    spammers, honest, most = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        outcomes = [(kind, person(kind, gold, settings, rng, range_)) for kind in people]
        spammers += [one for kind, one in outcomes if kind != "honest"]
        own = [one.answers > 0 for kind, one in outcomes if kind == "honest"]
        honest += own
        most.append(sum(own) <= 1)
    within = [np.mean([0 < one.answers <= n for one in spammers]) for n in (20, 40, ANSWERS)]
    gold_20 = np.mean([0 < one.of_gold <= 20 for one in spammers])
    median = np.median([one.answers or np.inf for one in spammers])
    every = f"1 in {settings.first_every or settings.every}, then 1 in {settings.every}"
    shares = " ".join(f"{share:6.1%}" for share in (*within, gold_20))
    rest = f"{median:6.0f} {np.mean(honest):7.2%} {np.mean(most):7.1%}"
    return f"{every:22} {settings.accuracy:8g} {settings.risk:5g} {shares} {rest}"


HEAD = "gold questions         accuracy  risk  in 20  in 40  in 80 20gold median  honest at most 1"


def main(n_seeds: int) -> None:
    """Print the table."""
    for name, gold, range_, accuracies in (
        ("grades, honest .85 to .95", GRADES, (0.85, 0.95), (0.8, 0.85)),
        ("preferences, honest .90 to .98", PAIRS, (0.9, 0.98), (0.8, 0.9)),
    ):
        print(f"{name}, {n_seeds} campaigns of 40 people\n{HEAD}")
        for first, accuracy, risk in (
            (0, accuracies[0], 0.05),
            (2, accuracies[0], 0.05),
            (2, accuracies[1], 0.05),
            (2, accuracies[1], 0.1),
        ):
            settings = GoldSettings(first_every=first, accuracy=accuracy, risk=risk)
            print(simulate(gold, settings, range_, n_seeds), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
