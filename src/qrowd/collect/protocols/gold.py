"""Gold questions: documents and pairs whose answer the owner knows, mixed among those that are judged.

Which gold questions an assessor gets, and where, is drawn by the seed of the assignment, which no page shows. Of each
`every` documents or pairs in a row one is a gold question, at a random place among them.

Whether somebody's answers are those of an assessor with at least a given accuracy is decided by a sequential test: the
evidence against it is a likelihood ratio that such an assessor brings above 1 / risk with probability `risk` at most,
however many answers are looked at, and however often (Ville's inequality).

Wald (1945), Sequential Tests of Statistical Hypotheses. Ann. Math. Statist. 16(2), 117-186.
Ramdas, Grünwald, Vovk & Shafer (2023), Game-Theoretic Statistics and Safe Anytime-Valid Inference. Statistical Science
38(4), 576-601, sections 2 and 3: mixtures of likelihood ratios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

OF_GOLD = 0x601D  # keeps these draws apart from the others of an assignment's seed
GUESSING = 0.9  # weight of "this is guessing" in the evidence; the rest is on all accuracies below the threshold
ALTERNATIVES = 100  # accuracies on which the rest lies, evenly spaced


@dataclass(frozen=True)
class Gold:
    """A document or a pair with its known answer.

    documents : one document; or the better and the worse one of a pair. accepted : grades that are right; none for a
    pair. reason : why, in the owner's words, where assessors are told.
    """

    documents: tuple[int, ...]
    accepted: tuple[int, ...] = ()
    reason: str = ""

    def chance(self, n_grades: int) -> float:
        """The probability that a guess is right. n_grades : of the scale."""
        return len(self.accepted) / n_grades if self.accepted else 0.5


@dataclass(frozen=True)
class GoldTask:
    """The gold questions of one assignment.

    questions : in the order in which they are asked. every : one of so many documents or pairs is a gold question; 0
    for none. seed : decides which. feedback : whether the assessor is told after each whether the answer was right.
    """

    questions: tuple[Gold, ...] = ()
    every: int = 0
    seed: int = 0
    feedback: bool = False
    of_document: dict[int, int] = field(default_factory=dict, compare=False, repr=False)  # place in `questions`

    def comes(self, number: int, n_asked: int) -> bool:
        """Whether the document or pair of this number, from 0, is a gold question. n_asked : gold questions before."""
        if not self.every or n_asked >= len(self.questions):
            return False
        place = np.random.default_rng([self.seed, OF_GOLD, number // self.every]).integers(self.every)
        return bool(place == number % self.every)

    def mixed(self, documents: Sequence[int]) -> tuple[int, ...]:
        """Documents in their order, with those of the gold questions among them, until the questions run out."""
        if not self.every:
            return tuple(documents)
        order: list[int] = []
        n_asked = 0
        for document in documents:
            while self.comes(len(order), n_asked):
                order.append(self.questions[n_asked].documents[0])
                n_asked += 1
            order.append(document)
        return tuple(order)

    def at_most(self, n_pairs: int, n_asked: int) -> int:
        """The most gold questions that can come among so many further pairs."""
        if not self.every or n_pairs <= 0:
            return 0
        return min(len(self.questions) - n_asked, n_pairs // (self.every - 1) + 2)


NO_GOLD = GoldTask()


def gold_task(gold: Sequence[Gold], every: int, seed: int, *, feedback: bool = False) -> GoldTask:
    """The gold questions of an assignment: all that its topic has, in random order, of which as many come as places."""
    if not every or not gold:
        return NO_GOLD
    order = np.random.default_rng([seed, OF_GOLD]).permutation(len(gold)).tolist()
    questions = tuple(gold[i] for i in order)
    places = {one.documents[0]: i for i, one in enumerate(questions) if len(one.documents) == 1}
    return GoldTask(questions, every, seed, feedback, places)


def is_right(gold: Gold, value: float | None) -> bool | None:
    """Whether a grade is an accepted one; None for "cannot tell", which is neither right nor wrong."""
    return None if value is None else int(value) in gold.accepted


def evidence(answers: Iterable[tuple[bool, float]], accuracy: float) -> float:
    """The evidence that somebody's accuracy is below a threshold, as the logarithm of a mixture of likelihood ratios.

    L = 0.9 prod_i g_i(x_i) / f(x_i) + 0.1 mean_a prod_i h_a(x_i) / f(x_i), where x_i says whether answer i is right, f
    gives a right answer the probability `accuracy`, g_i that of guessing and h_a the probability a, for a evenly spaced
    from 0 to `accuracy`. Under any accuracy not below the threshold the expectation of L is at most 1 after any number
    of answers.

    answers : whether each is right, and the probability that a guess would be.
    """
    pairs = [(right, min(chance, accuracy)) for right, chance in answers]
    n_right = sum(right for right, _ in pairs)
    n_wrong = len(pairs) - n_right
    base = n_right * np.log(accuracy) + n_wrong * np.log1p(-accuracy)
    guessing = sum(np.log(chance if right else 1 - chance) for right, chance in pairs) - base
    a = (np.arange(ALTERNATIVES) + 0.5) / ALTERNATIVES * accuracy
    others = n_right * np.log(a) + n_wrong * np.log1p(-a) - base
    other = np.logaddexp.reduce(others) - np.log(ALTERNATIVES)
    return float(np.logaddexp(np.log(GUESSING) + guessing, np.log(1 - GUESSING) + other))


def is_below(answers: Sequence[tuple[bool, float]], *, min_answers: int, accuracy: float, risk: float) -> bool:
    """Whether the answers show an accuracy below the threshold, at least so many of them.

    risk : the most probability of saying so, ever, of somebody whose accuracy is not below it.
    """
    return len(answers) >= min_answers and evidence(answers, accuracy) >= -np.log(risk)
