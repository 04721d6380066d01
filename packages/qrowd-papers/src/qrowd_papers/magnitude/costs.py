"""Cost of judging a collection in units.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 4.1 and 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qrowd.errors import ArgumentError
from qrowd.magnitude.planning import units_needed
from qrowd.model.result import Result


@dataclass(frozen=True)
class Cost(Result):
    """Cost of judging a collection, in the currency of the pay.

    n_documents, n_units, n_judgments : number of each; judgments of check documents are counted in every unit.
    total : pay of all units plus the platform's fee.
    """

    n_documents: int
    n_units: int
    n_judgments: int
    total: float

    _COLUMNS = ("n_documents", "n_units", "n_judgments", "total", "per_document", "per_judgment")

    @property
    def per_document(self) -> float:
        """Total divided by documents."""
        return self.total / self.n_documents

    @property
    def per_judgment(self) -> float:
        """Total divided by judgments."""
        return self.total / self.n_judgments


def judging_cost(
    documents: Sequence[int],
    *,
    pay: float,
    fee: float = 0.0,
    redundancy: int = 10,
    unit_size: int = 8,
    n_checks: int = 2,
) -> Cost:
    """Cost of judging every document `redundancy` times (sections 4.1 and 6.3).

    documents : number of documents of each topic, its check documents included. pay : for one unit. fee : of the
    platform, as a share of the pay. redundancy, unit_size, n_checks : as in `units_needed`.

    >>> judging_cost([278, 111], pay=0.2, fee=0.2, redundancy=7).per_document
    0.2776...
    """
    for name, value in (("pay", pay), ("fee", fee)):
        if value < 0:
            raise ArgumentError("expected 0 or more", name, value)
    plan = {"redundancy": redundancy, "unit_size": unit_size, "n_checks": n_checks}
    units = sum(units_needed(n, **plan) for n in documents)
    return Cost(sum(documents), units, units * unit_size, units * pay * (1 + fee))
