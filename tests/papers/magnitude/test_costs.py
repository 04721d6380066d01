"""What judging in units costs."""

import pytest

from qrowd.errors import ArgumentError
from qrowd_papers.magnitude.costs import judging_cost
from qrowd_papers.magnitude.study import TOPICS

SIZES = [documents for documents, _ in TOPICS.values()]
approx = pytest.approx


def test_a_document_cost_40_cents_and_would_have_cost_30():
    """Sections 4.1 and 6.3: about 1,700 dollars with the platform's fee; seven workers instead of ten."""
    cost = judging_cost(SIZES, pay=0.2, fee=0.2)
    assert (cost.n_documents, cost.n_units, cost.n_judgments) == (4269, 7059, 56472)
    assert cost.total == approx(1694.16)
    assert round(cost.per_document, 1) == 0.4
    assert cost.per_judgment == approx(0.03)
    assert round(judging_cost(SIZES, pay=0.2, fee=0.2, redundancy=7).per_document, 1) == 0.3


@pytest.mark.parametrize("money", [{"pay": -1}, {"pay": 1, "fee": -0.1}])
def test_less_than_nothing_is_refused(money):
    with pytest.raises(ArgumentError, match="expected 0 or more"):
        judging_cost([20], **money)
