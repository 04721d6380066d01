"""How accurate each assessor is on gold questions, with its uncertainty, and what that pays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from qrowd_server.campaigns.running.lookup import find
from qrowd_server.campaigns.running.state import read_settings
from qrowd_server.protocols.settings import GoldSettings
from qrowd_server.store import counts, state
from qrowd_server.store import gold as gold_store
from qrowd_server.store.schema import MODEL, PERSON

CONFIDENCE = 0.95  # of intervals of an accuracy

PAYMENT = (
    "assessor", "provider", "external_id", "status", "excluded", "units", "answers", "gold_answers", "gold_right",
    "accuracy", "accuracy_low", "accuracy_high", "bonus", "kind",
)  # fmt: skip
"""The columns of the export."""


@dataclass(frozen=True)
class Accuracy:
    """The answers of one assessor to gold questions.

    n, n_right : answers that are right or wrong ("cannot tell" is neither), and those that are right.
    low, high : the exact (Clopper-Pearson) 95 % interval of the accuracy. bonus : what it pays.
    """

    n: int
    n_right: int
    low: float
    high: float
    bonus: float

    @property
    def value(self) -> float:
        """The share that is right."""
        return self.n_right / self.n


def accuracy_of(n: int, n_right: int, settings: GoldSettings) -> Accuracy:
    """The accuracy after n answers, at least one.

    Clopper & Pearson (1934), The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial.
    Biometrika 26(4), 404-413.

    >>> accuracy = accuracy_of(10, 9, GoldSettings())
    >>> accuracy.value, round(accuracy.low, 3), round(accuracy.high, 4)
    (0.9, 0.555, 0.9975)
    """
    from scipy.special import betaincinv  # slow to import

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(n_right, n - n_right + 1, tail)) if n_right else 0.0
    high = float(betaincinv(n_right + 1, n - n_right, 1 - tail)) if n_right < n else 1.0
    return Accuracy(n, n_right, low, high, settings.bonus_of(n, n_right / n))


def accuracies(
    connection: Connection, campaign_id: int, settings: GoldSettings | None, arm: str | None = None
) -> dict[int, Accuracy]:
    """{assessor: accuracy} of those who answered a gold question. arm : only there; None for all."""
    if settings is None:
        return {}
    answers = gold_store.gold_answers_by_assessor(connection, campaign_id, arm)
    return {number: accuracy_of(len(own), sum(right for right, *_ in own), settings) for number, own in answers.items()}


def payment_rows(connection: Connection, name: str, *, names: bool = False) -> Iterator[tuple[Any, ...]]:
    """Tuples of the columns PAYMENT, one for each assessor in the order in which they came.

    units, answers : completed, and given, whether they count or not. bonus : by the rule of [gold]; 0 without one, and
    for somebody who is excluded. names : people by name, with their ids on platforms; by pseudonym, without, if False.

    Raises
    ------
    ArgumentError
        There is no such campaign.
    """
    row = find(connection, name)
    settings = read_settings(row)
    accuracy = accuracies(connection, row.id, settings.gold)
    answers = counts.answers_by_assessor(connection, row.id)
    units = counts.completed_by_assessor(connection, row.id)
    for one in state.assessors_of(connection, row.id):
        own = accuracy.get(one.id)
        n, n_right = (0, 0) if own is None else (own.n, own.n_right)
        of_gold = (None, None, None) if own is None else (own.value, own.low, own.high)
        bonus = own.bonus if own is not None and one.excluded is None else 0.0
        yield (
            one.name if names else one.label, one.provider, one.external_id if names or one.is_model else None,
            one.status, one.excluded, units.get(one.id, 0),
            answers.get(one.id, 0), n, n_right, *of_gold, bonus, MODEL if one.is_model else PERSON,
        )  # fmt: skip
