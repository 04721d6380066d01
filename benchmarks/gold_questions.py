"""How soon gold questions exclude people who guess, and how rarely those who do not: the table of docs/campaigns.md.

python gold_questions.py [SEEDS]       1,000 by default, about ten minutes on two cores

A campaign of 40 people: 30 who answer gold questions with an accuracy drawn for each of them from a stated range, and
10 who do not read: 4 choose at random, 3 too and at once (.3 s, which no rule here looks at), 3 always the same. Each
gives 80 answers if nobody stops them. Places, questions and the rule are those of the package; people are drawn.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from qrowd_server.protocols.gold_checks import Gold, GoldAnswer, entry_test, gold_task, is_below
from qrowd_server.protocols.settings import GoldSettings

N_HONEST, N_RANDOM, N_FAST, N_SAME = 30, 4, 3, 3
ANSWERS, OF_FIRST_UNIT, SOON = 80, 20, 20
N_GRADES, N_GOLD = 4, 80
MATERIAL = {
    "one grade": tuple(Gold((1000 + i,), (i % 4,)) for i in range(N_GOLD)),
    "grades": tuple(Gold((1000 + i,), ((0,), (1, 2), (1, 2), (3,))[i % 4]) for i in range(N_GOLD)),
    "preferences": tuple(Gold((1000 + 2 * i, 1001 + 2 * i)) for i in range(N_GOLD)),
}
Row = tuple[str, float, float, GoldSettings]  # material, the least and the highest accuracy of honest people, the rule


@dataclass(frozen=True)
class Outcome:
    """What became of one person: after how many answers they were excluded; 0 for never."""

    answers: int
    honest: bool


def person(
    kind: str, gold: tuple[Gold, ...], settings: GoldSettings, rng: np.random.Generator, range_: tuple[float, float]
) -> Outcome:
    """Answer until the rule excludes or the answers are given. kind : honest, random, fast or same."""
    accuracy, constant = rng.uniform(*range_), int(rng.integers(N_GRADES))
    rule = settings.rule
    answers: list[GoldAnswer] = []
    n = 0
    for first in (True, False):
        entry = settings.first if first else 0
        task = gold_task(gold, settings.every, int(rng.integers(2**62)), first=entry)
        asked, number = 0, 0
        while n < (entry + OF_FIRST_UNIT if entry else OF_FIRST_UNIT if first else ANSWERS):
            is_gold = task.comes(number, asked)
            number, n = number + 1, n + 1
            if not is_gold:
                continue
            question, is_entry = task.questions[asked], asked < entry
            asked += 1
            if question.accepted:
                choices, n_choices, always = tuple(map(str, question.accepted)), N_GRADES, str(constant)
            else:
                choices, n_choices, always = (
                    (("left", "right")[int(rng.integers(2))],),
                    2,
                    ("left", "right")[constant % 2],
                )
            if kind == "honest":
                right = bool(rng.random() < accuracy)
            elif kind == "same":
                right = always in choices
            else:
                right = bool(rng.random() < len(choices) / n_choices)
            answers.append(GoldAnswer(right, question.chance(N_GRADES), choices, is_entry))
            if is_below(answers, **rule):
                return Outcome(n, kind == "honest")
    return Outcome(0, kind == "honest")


def campaign(row: Row, seed: int) -> list[Outcome]:
    """What became of 40 people."""
    material, low, high, settings = row
    rng = np.random.default_rng(seed)
    people = ["honest"] * N_HONEST + ["random"] * N_RANDOM + ["fast"] * N_FAST + ["same"] * N_SAME
    return [person(kind, MATERIAL[material], settings, rng, (low, high)) for kind in people]


def simulate(row: Row, n_seeds: int) -> str:
    """One line of the table."""
    material, low, high, settings = row
    within: list[list[bool]] = []
    n_honest, n_soon, n_few, n_both = 0, 0, 0, 0
    for seed in range(n_seeds):
        outcomes = campaign(row, seed)
        spammers = [one.answers for one in outcomes if not one.honest]
        within += [[0 < n <= most for most in (SOON, 40, ANSWERS)] for n in spammers]
        out = sum(one.answers > 0 for one in outcomes if one.honest)
        n_honest += out
        soon, few = all(0 < n <= SOON for n in spammers), out <= 1
        n_soon, n_few, n_both = n_soon + soon, n_few + few, n_both + (soon and few)
    places = [f"first {settings.first}"] * (settings.first > 0)
    places.append(f"1 in {settings.every}")
    mark = entry_test(settings.first, settings.accuracy, settings.risk).least_right
    shares = " ".join(f"{share:6.1%}" for share in np.mean(within, axis=0))
    campaigns = " ".join(f"{n / n_seeds:6.1%}" for n in (n_soon, n_few, n_both))
    rest = f"{shares} {n_honest / N_HONEST / n_seeds:7.2%} {campaigns}"
    head = (
        f"{material:11} {low:.2f}-{high:.2f} {', '.join(places):19} {settings.accuracy:5g} {settings.risk:5g} {mark:4}"
    )
    return f"{head} {rest}"


HEAD = (
    "material    honest    gold questions      accur.  risk mark  in 20  in 40  in 80  honest all 10   <= 1   both\n"
    "                                                            share of the 10 that are out  out in 20 honest"
)
TABLE: tuple[Row, ...] = (
    ("grades", 0.85, 0.95, GoldSettings(accuracy=0.8)),
    ("grades", 0.85, 0.95, GoldSettings(accuracy=0.85, first=12)),
    ("grades", 0.85, 0.95, GoldSettings(accuracy=0.85, first=16)),
    ("grades", 0.85, 0.95, GoldSettings(accuracy=0.85, first=20)),
    ("one grade", 0.85, 0.95, GoldSettings(accuracy=0.85, first=12)),
    ("one grade", 0.85, 0.95, GoldSettings(accuracy=0.85, first=16)),
    ("preferences", 0.9, 0.98, GoldSettings(accuracy=0.8)),
    ("preferences", 0.9, 0.98, GoldSettings(accuracy=0.9, first=20)),
    ("preferences", 0.93, 0.99, GoldSettings(accuracy=0.9, first=20)),
    ("preferences", 0.95, 0.99, GoldSettings(accuracy=0.95, first=20)),
)


def main(n_seeds: int) -> None:
    """Print the table."""
    print(f"{n_seeds} campaigns of 40 people\n{HEAD}")
    with ProcessPoolExecutor(2) as pool:
        for line in pool.map(simulate, TABLE, [n_seeds] * len(TABLE)):
            print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
