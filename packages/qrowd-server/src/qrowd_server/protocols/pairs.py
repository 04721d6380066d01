"""The state of judging by preferences: the pair on the page, the answers so far, those to gold questions among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from qrowd_server.protocols.gold import Gold
from qrowd_server.protocols.protocol import GoldRow, Task
from qrowd_server.protocols.views import FeedbackView

Phase = Literal["question", "arriving", "pairs", "rating", "completed", "screened_out"]


@dataclass(frozen=True, slots=True)
class CurrentPair:
    """The pair on the page.

    pair : its number. new, at_most, removed : as in `PairView`. markable : whether left and right may be marked as Bad.
    since : when it came up. gold : which of the gold questions it is; None for a pair to be judged.
    """

    pair: int
    left: int
    right: int
    new: Literal["left", "right", "both"]
    at_most: int
    removed: bool
    markable: tuple[bool, bool]
    since: float
    gold: int | None = None


class PairAnswer(NamedTuple):
    """A judgment or mark that stands. choice : "bad-left" and "bad-right" are marks. gold : as of `CurrentPair`."""

    pair: int
    left: int
    right: int
    choice: Literal["left", "right", "duplicates", "bad-left", "bad-right"]
    strength: int
    seconds: float
    active: float | None
    time: float
    gold: int | None = None


@dataclass(frozen=True, slots=True)
class PreferenceState:
    """How far an assessor is with a topic.

    current : the pair on the page, or the last one. answers : what stands, oldest first. n_pairs : shown so far.
    wrong : answers to the question. looked_up : how often the context was opened. ending : why the pairs ended.
    n_gold : gold questions shown so far. feedback : whether the assessor is being told about the last answer.
    """

    phase: Phase
    current: CurrentPair | None = None
    answers: tuple[PairAnswer, ...] = ()
    n_pairs: int = 0
    wrong: int = 0
    looked_up: int = 0
    ending: Literal["", "stopped", "finished", "all_bad", "waiting"] = ""
    confidence: int | None = None
    understanding: int | None = None
    comment: str = ""
    n_gold: int = 0
    feedback: bool = False

    @property
    def n_gold_answers(self) -> int:
        """How many gold questions have an answer: the first ones, because only the last answer is taken back."""
        return sum(one.gold is not None for one in self.answers)


# ---- gold questions


def of_gold(gold: int | None) -> dict[str, int]:
    """What an event says of a pair that is a gold question; nothing of any other."""
    return {} if gold is None else {"gold": gold}


def may_undo(task: Task, state: PreferenceState) -> bool:
    """Whether there is an answer to take back; one that the assessor was told about stays."""
    return bool(state.answers) and not (task.gold.feedback and state.answers[-1].gold is not None)


def chosen_document(gold: Gold, answer: PairAnswer) -> Literal["better", "worse", "duplicates"]:
    """Which document of a gold question was chosen; the other one where one was marked as Bad."""
    if answer.choice == "duplicates":
        return "duplicates"
    chosen = answer.left if answer.choice in ("left", "bad-right") else answer.right
    return "better" if chosen == gold.documents[0] else "worse"


def gold_row(number: int, task: Task, answer: PairAnswer) -> GoldRow:
    """The answer to a gold question. number : of the pair among the answers."""
    assert answer.gold is not None
    gold, is_entry = task.gold.questions[answer.gold], answer.gold < task.gold.first
    chosen = chosen_document(gold, answer)
    times = answer.seconds, answer.active, answer.time
    better, worse = gold.documents
    side = "left" if answer.left == better else "right"
    return GoldRow(number, better, worse, chosen == "better", gold.chance(2), side, is_entry, chosen, "", *times)


def feedback_view(task: Task, answer: PairAnswer) -> FeedbackView:
    """What the assessor is told after a gold question."""
    assert answer.gold is not None  # there is feedback on nothing else
    gold = task.gold.questions[answer.gold]
    chosen = chosen_document(gold, answer)
    side = "left" if answer.left == gold.documents[0] else "right"
    other = "right" if side == "left" else "left"
    shown = {"better": side, "worse": other, "duplicates": "same"}[chosen]
    return FeedbackView(chosen == "better", True, shown, (side,), gold.reason)
