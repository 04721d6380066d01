"""What is known without being asked: campaigns that infer nothing, and what the analysis says of those that do."""

import asyncio
from random import Random

import numpy as np
import pytest

from judging import Clock, created, next_action, seeded, small_plan
from qrowd.preferences import closure, transitivity
from qrowd.reports.preference_tables import preference_document
from qrowd_server.campaigns.running.collected import collected
from qrowd_server.protocols.events import Prefer
from qrowd_server.protocols.views import PairView

N = 12
PAIRS = N * (N - 1) // 2


def collect(store, *, choose, assessors=1, topics=1, **settings):
    """The preferences of assessors who go through all topics; choose(rng, left, right) : "left" or "right"."""
    plan = small_plan("preference", topics=topics, documents=N, redundancy=assessors, rating=False, **settings)
    created(store, plan)
    service = seeded(store, clock=Clock(step=7.0))

    async def judge(number):
        rng = Random(number)
        assessor = await service.arrive("pilot", "link", f"person-{number}")
        page = await service.page(assessor)
        while True:
            if isinstance(page.view, PairView):
                action = Prefer(page.view.pair, choose(rng, page.view.left, page.view.right))
            elif (action := next_action(page, rng)) is None:
                return
            await service.act(assessor, action, shown=page.shown, key=page.key)
            page = await service.page(assessor)

    async def everybody():
        for number in range(assessors):
            await judge(number)

    asyncio.run(everybody())
    return store.read(lambda connection: collected(connection, "pilot"))


def coin(rng, left, right):
    return rng.choice(("left", "right"))


def perfect(rng, left, right):
    return "left" if left < right else "right"


@pytest.fixture
def campaigns(opened, tmp_path):
    return opened(tmp_path / "judgments.db")


@pytest.mark.nightly
def test_a_coin_keeps_half_of_the_chains_where_every_pair_is_asked(campaigns):
    preferences = collect(campaigns, choose=coin, assessors=2, order="all")
    assert len(preferences) == 2 * PAIRS
    assert preferences.n_repeats() == 0
    own = transitivity(preferences)
    assert own.n_pairs.tolist() == [PAIRS] * 2
    assert own.implied.tolist() == [0] * 2
    assert own.rate == pytest.approx(0.5, abs=0.1)
    assert own.consistency == own.rate
    assert own.tested_kept.sum() / own.tested.sum() == pytest.approx(0.5, abs=0.1)
    assert f"{100 * own.rate:.1f} % of chains are kept" in preference_document(preferences).sentence


@pytest.mark.parametrize("order", [pytest.param("all", marks=pytest.mark.nightly), "utility"])
def test_without_inference_and_stop_a_topic_has_every_pair(campaigns, order):
    preferences = collect(campaigns, choose=perfect, order=order, infer=False, stop=False)
    asked = {tuple(sorted(pair)) for _, *pair, _, _ in preferences.to_rows()}
    assert len(asked) == len(preferences) == PAIRS
    assert transitivity(preferences).consistency == 1


def test_where_chains_are_inferred_the_report_says_so_instead_of_a_share_of_chains(campaigns):
    preferences = collect(campaigns, choose=coin, order="merge", stop=False)
    own, closed = transitivity(preferences), closure(preferences)
    assert own.rate == 1
    assert np.isnan(own.consistency)
    assert own.n_pairs[0] + own.implied[0] == PAIRS
    document = preference_document(preferences)
    assert "no answer could break a chain, because pairs that earlier answers imply were not asked" in document.sentence
    assert "% of chains" not in str(document)
    n, share = len(preferences), 100 * closed.implied_share
    assert f"{n} were asked and ordered; {PAIRS - n} follow from chains and 0 from Bad marks, {share:.1f} %" in str(
        document
    )
    assert closed.implied_share == (PAIRS - n) / PAIRS
