"""What people's grades score as rankings, by gold judgments."""

import pytest

from qrowd.files import read_judgments
from qrowd.model.judgments import Judgments
from qrowd_papers.human_ceiling import human_ceiling


def test_people_reach_the_published_ceilings_on_dl19(dl19):
    """Parry et al. (SIGIR 2025) print .777 and .81 of the re-judging people as if they were systems, scored by NIST.

    The whole pool is ranked by the higher, or the mean, of the grades that the topic's people gave; what they did not
    see counts 0 and ties are taken in expectation. Recomputed: .7783 and .8149.
    """
    nist, people = read_judgments([dl19 / "qrels.nist.txt"]), read_judgments([dl19 / "humans" / "main.tsv"])
    ceiling = human_ceiling(people, nist, "nDCG@10")
    assert (ceiling["max"], ceiling["mean"]) == pytest.approx((0.7783, 0.8149), abs=5e-5)


def test_the_highest_and_the_mean_grade_rank_differently():
    people = Judgments.from_rows(
        [("q", "a", "ann", 3), ("q", "a", "bob", 0), ("q", "b", "ann", 2), ("q", "b", "bob", 2)]
    )
    gold = Judgments.from_rows([("q", "a", "gold", 1), ("q", "b", "gold", 0)])
    assert human_ceiling(people, gold, "P@1") == {"max": 1.0, "mean": 0.0}
