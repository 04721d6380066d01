"""Gold questions: documents and pairs whose answer the owner knows, mixed among those that are judged.

Which gold questions an assessor gets, and where, is drawn by the seed of the assignment, which no page shows. The first
ones may come before everything else: the entry test. Then of each `every` documents or pairs in a row one is a gold
question, at a random place among them.

Whether somebody's answers are those of an assessor with at least a given accuracy is decided by two tests that share
the probability of an error, `risk`. The entry test has a pass mark: an exact binomial test, the most powerful one of so
many answers. All answers together are under a sequential test: the evidence against such an accuracy is a likelihood
ratio that an assessor who has it brings above 1 / risk with probability `risk` at most, however many answers are looked
at, and however often (Ville's inequality).

Neyman & Pearson (1933), On the Problem of the Most Efficient Tests of Statistical Hypotheses. Phil. Trans. A 231,
289-337.
Wald (1945), Sequential Tests of Statistical Hypotheses. Ann. Math. Statist. 16(2), 117-186.
Ramdas, Grünwald, Vovk & Shafer (2023), Game-Theoretic Statistics and Safe Anytime-Valid Inference. Statistical Science
38(4), 576-601, sections 2 and 3: mixtures of likelihood ratios.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb

import numpy as np

OF_GOLD = 0x601D  # keeps these draws apart from the others of an assignment's seed
GUESSING = 0.7  # weight of "this is guessing" in the evidence
CONSTANT = 0.2  # of "this is always the same answer"; the rest is on all accuracies below the threshold
SLIP = 0.05  # share of other answers of somebody who always gives the same one
ALTERNATIVES = 100  # accuracies on which the rest lies, evenly spaced
OF_ENTRY = 0.9  # the largest share of the risk that the entry test may have


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
    for none. first : so many come before all else. seed : decides which. feedback : whether the assessor is told after
    each whether the answer was right.
    """

    questions: tuple[Gold, ...] = ()
    every: int = 0
    seed: int = 0
    feedback: bool = False
    first: int = 0
    of_document: dict[int, int] = field(default_factory=dict, compare=False, repr=False)  # place in `questions`

    def comes(self, number: int, n_asked: int) -> bool:
        """Whether the document or pair of this number, from 0, is a gold question. n_asked : gold questions before."""
        if not self.every or n_asked >= len(self.questions):
            return False
        if n_asked < self.first:
            return True
        block, place = divmod(number - self.first, self.every)
        return bool(place == np.random.default_rng([self.seed, OF_GOLD, block]).integers(self.every))

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
        return min(len(self.questions) - n_asked, max(self.first - n_asked, 0) + n_pairs // (self.every - 1) + 2)


NO_GOLD = GoldTask()


def gold_task(gold: Sequence[Gold], every: int, seed: int, *, feedback: bool = False, first: int = 0) -> GoldTask:
    """The gold questions of an assignment: all that its topic has, in random order, of which as many come as places."""
    if not every or not gold:
        return NO_GOLD
    order = np.random.default_rng([seed, OF_GOLD]).permutation(len(gold)).tolist()
    questions = tuple(gold[i] for i in order)
    places = {one.documents[0]: i for i, one in enumerate(questions) if len(one.documents) == 1}
    return GoldTask(questions, every, seed, feedback, first, places)


def is_right(gold: Gold, value: float | None) -> bool | None:
    """Whether a grade is an accepted one; None for "cannot tell", which is neither right nor wrong."""
    return None if value is None else int(value) in gold.accepted


# ---- the rule that excludes


@dataclass(frozen=True)
class GoldAnswer:
    """An answer to a gold question that is right or wrong.

    chance : the probability that a guess is right. choices : those on the page that were right: grades, or the side of
    a pair. is_entry : whether the question belongs to the entry test.
    """

    is_right: bool
    chance: float
    choices: tuple[str, ...]
    is_entry: bool = False


@dataclass(frozen=True)
class EntryTest:
    """The test that the first gold questions are.

    n_questions : how many there are. least_right : the pass mark; 0 lets everybody pass. risk : the most probability
    that somebody whose accuracy is not below the threshold does not pass.
    """

    n_questions: int
    least_right: int
    risk: float

    def is_failed(self, answers: Iterable[GoldAnswer]) -> bool:
        """Whether so many answers are wrong that the pass mark cannot be reached any more."""
        n_wrong = sum(one.is_entry and not one.is_right for one in answers)
        return n_wrong > self.n_questions - self.least_right


@lru_cache(maxsize=256)
def entry_test(n_questions: int, accuracy: float, risk: float) -> EntryTest:
    """The entry test with the highest pass mark that spends nine tenths of the risk at most.

    >>> entry_test(20, 0.9, 0.05).least_right
    16
    """
    least = 0
    while least < n_questions and _at_most(least, n_questions, accuracy) <= OF_ENTRY * risk:
        least += 1
    return EntryTest(n_questions, least, _at_most(least - 1, n_questions, accuracy))


def _at_most(n_right: int, n: int, accuracy: float) -> float:
    """The probability of so many right answers or fewer."""
    return sum((comb(n, k) * accuracy**k * (1 - accuracy) ** (n - k) for k in range(n_right + 1)), 0.0)


def evidence(answers: Sequence[GoldAnswer], accuracy: float) -> float:
    """The evidence that somebody's accuracy is below a threshold, as the logarithm of a mixture of likelihood ratios.

    L = .7 prod_i g_i(x_i) / f(x_i) + .2 mean_c prod_i s_ci(x_i) / f(x_i) + .1 mean_a prod_i h_a(x_i) / f(x_i), where
    x_i says whether answer i is right, f gives a right answer the probability `accuracy`, g_i that of guessing, h_a the
    probability a, for a evenly spaced from 0 to `accuracy`, and s_ci, for somebody who gives the same answer c to every
    question, .05 where c is wrong and `accuracy` where c is right. No answer is more probable to be right under an
    alternative than under f, so under any accuracy not below the threshold, which may be another one for each question,
    the expectation of L is at most 1 after any number of answers.
    """
    chances = [(one.is_right, min(one.chance, accuracy)) for one in answers]
    n_right = sum(right for right, _ in chances)
    n_wrong = len(chances) - n_right
    base = n_right * np.log(accuracy) + n_wrong * np.log1p(-accuracy)
    guessing = sum(np.log(chance if right else 1 - chance) for right, chance in chances) - base
    a = (np.arange(ALTERNATIVES) + 0.5) / ALTERNATIVES * accuracy
    others = n_right * np.log(a) + n_wrong * np.log1p(-a) - base
    logs = guessing, _constant(answers, accuracy), np.logaddexp.reduce(others) - np.log(ALTERNATIVES)
    weights = GUESSING, CONSTANT, 1 - GUESSING - CONSTANT
    return float(np.logaddexp.reduce(np.add(logs, np.log(weights))))


def _constant(answers: Sequence[GoldAnswer], accuracy: float) -> float:
    """The part of the evidence that is about the same answer to all questions with the same choices.

    Somebody who is asked questions of several kinds, with so many choices each, has one answer for each kind, which
    have nothing to do with each other, so that the mean over all of them is a product.
    """
    by_kind: defaultdict[tuple[int, bool], list[GoldAnswer]] = defaultdict(list)
    for one in answers:
        by_kind[round(len(one.choices) / one.chance), one.choices[0].isdigit()].append(one)
    slip = min(SLIP, accuracy)
    right, wrong = np.log(slip / accuracy), np.log((1 - slip) / (1 - accuracy))
    total = 0.0
    for (n_choices, _), own in by_kind.items():
        # Of a choice that never was right, every answer counts; `choices` names all others.
        names = {choice for one in own for choice in one.choices}
        logs = [sum(right if one.is_right else wrong for one in own if name not in one.choices) for name in names]
        never = sum(right if one.is_right else wrong for one in own)
        logs += [never] * (n_choices - len(names))
        total += np.logaddexp.reduce(logs) - np.log(n_choices)
    return total


def is_below(answers: Sequence[GoldAnswer], *, min_answers: int, accuracy: float, risk: float, first: int = 0) -> bool:
    """Whether the answers show an accuracy below the threshold, at least so many of them.

    risk : the most probability of saying so, ever, of somebody whose accuracy is not below it. first : questions of the
    entry test. Its part of the risk is that of its pass mark, and the sequential test has the rest.
    """
    if len(answers) < min_answers:
        return False
    test = entry_test(first, accuracy, risk)
    return test.is_failed(answers) or evidence(answers, accuracy) >= -np.log(risk - test.risk)
