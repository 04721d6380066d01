"""Quality against counts made the slow way, and against the cache asked directly."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from sqlalchemy import select

from qrowd.agreement import assessor_profiles, krippendorff_alpha
from qrowd.preferences.preference_agreement import pairwise_preferences
from qrowd_server.campaigns.results.quality import AssessorQuality, Quality, quality
from qrowd_server.campaigns.running import collected
from qrowd_server.campaigns.running.admin import CampaignAdmin
from qrowd_server.store import event_log as events
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.schema import assessor, assignment, bad_mark, judgment, preference
from server.web.owner.estate import Estate, estate

NAMES = ("small", "demo-magnitude", "demo-grades", "demo-preference")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    with estate(tmp_path_factory.mktemp("quality"), demo=True, steps=35) as made:
        yield made


def asked(filled: Estate, name: str, *, names: bool = False) -> Quality:
    return filled.store.read(lambda c: quality(c, name, bootstrap=50, names=names))


def row_of(q: Quality, name: str) -> AssessorQuality | None:
    return next((one for one in q.assessors if one.name == name), None)


def table(filled: Estate, of: Any, name: str) -> list[Any]:
    return filled.store.read(
        lambda c: c.execute(select(of).where(of.c.campaign_id == find_campaign(c, name).id)).all()  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_assessors_did_is_what_counting_one_by_one_gives(filled: Estate, name: str) -> None:
    q = asked(filled, name)
    held = table(filled, assignment, name)
    answers = [one for of in (judgment, preference, bad_mark) for one in table(filled, of, name)]
    log = filled.store.read(lambda c: list(events.of_campaign(c, find_campaign(c, name).id)))  # type: ignore[union-attr]
    assert [one.id for one in q.assessors] == [
        one.id for one in sorted(table(filled, assessor, name), key=lambda one: one.created)
    ]
    for one in q.assessors:
        mine = {row.id: row for row in held if row.assessor_id == one.id}
        by_status = Counter(row.status for row in mine.values())
        said = [row for row in answers if row.assignment_id in mine and getattr(row, "value", 1.0) is not None]
        kinds = Counter(event.kind for event in log if event.assessor_id == one.id and not event.late)
        assert (one.completed, one.failed, one.screened_out, one.open) == tuple(
            by_status[status] for status in ("completed", "failed", "screened_out", "open")
        )
        assert one.lost == by_status["expired"] + by_status["withdrawn"]
        assert one.answers == len(said)
        assert one.backs == kinds["undone" if q.protocol == "preference" else "stepped_back"]
        checks = [e for e in log if e.assessor_id == one.id and e.kind == "checked" and not e.data["passed"]]
        assert one.fails == len(checks)
        assert one.practice == (kinds["practised"] if q.protocol == "magnitude" else None)
        counted = [
            row for row in said if one.excluded is None and mine[row.assignment_id].counts and hasattr(row, "value")
        ]
        assert one.seconds == (pytest.approx(median(row.seconds for row in counted or said)) if said else None)


@pytest.mark.parametrize("name", ["small", "demo-magnitude"])
def test_agreement_on_judgments_is_the_library_s(filled: Estate, name: str) -> None:
    q, judged = asked(filled, name), filled.store.read(lambda c: collected.judgments(c, name))
    alpha = krippendorff_alpha(judged, n_resamples=50, rng=1).item()
    assert q.alpha is not None
    assert (q.alpha.value, q.alpha.low, q.alpha.high) == (alpha.value, alpha.low, alpha.high)
    assert q.alpha.level == ("ratio" if name == "demo-magnitude" else "ordinal")
    assert q.by_topic is not None
    assert q.by_topic.labels == krippendorff_alpha(judged, by="topic").labels
    profiles = assessor_profiles(judged)
    for i, who in enumerate(profiles.assessors):
        one = row_of(q, who)
        assert one is not None
        assert one.agreement == pytest.approx(profiles.agreement[i], nan_ok=True) or one.agreement is None
        assert one.reasons == "; ".join(profiles.reasons[i])
    excluded = row_of(asked(filled, name, names=True), "cleo")
    assert excluded is not None
    assert excluded.agreement is None, "who is excluded is compared with nobody"
    assert str(excluded.excluded).startswith("always the same")


def test_agreement_on_preferences_weighs_every_shared_pair_alike(filled: Estate) -> None:
    q = asked(filled, "demo-preference")
    pairs = pairwise_preferences(filled.store.read(lambda c: collected.preferences(c, "demo-preference")))
    assert q.alpha is None
    assert q.pairs_alike == pytest.approx(pairs.mean_agreement)
    for i, who in enumerate(pairs.assessors):
        others = [j for j in range(len(pairs.assessors)) if j != i and pairs.n[i, j]]
        n = sum(int(pairs.n[i, j]) for j in others)
        alike = sum(float(pairs.agreement[i, j]) * int(pairs.n[i, j]) for j in others)
        one = row_of(q, who)
        assert one is not None
        assert one.agreement == (pytest.approx(alike / n) if n else None)


def test_an_exclusion_takes_an_assessor_out_of_the_agreement_and_reinstating_brings_them_back(tmp_path: Path) -> None:
    with estate(tmp_path) as made:
        admin = CampaignAdmin(made.store, clock=made.clock)
        before = made.store.read(lambda c: quality(c, "small", bootstrap=0))
        asyncio.run(admin.exclude("small", "ann", "tired"))
        without = made.store.read(lambda c: quality(c, "small", bootstrap=0, names=True))
        asyncio.run(admin.reinstate("small", "ann"))
        again = made.store.read(lambda c: quality(c, "small", bootstrap=0))
        assert before.alpha is not None
        assert again.alpha is not None
        ann = row_of(without, "ann")
        assert ann is not None
        assert (ann.excluded, ann.agreement) == ("tired", None)
        assert without.alpha is None or without.alpha.n_judgments < before.alpha.n_judgments
        assert again.alpha.value == before.alpha.value


def test_a_campaign_without_two_opinions_says_why_there_is_no_agreement(tmp_path: Path) -> None:
    from qrowd_server.campaigns.demo import demo_plans
    from qrowd_server.campaigns.running.creation import create_campaign
    from qrowd_server.store.engine import open_store

    with open_store(tmp_path / "judgments.db") as store:
        for plan in demo_plans()[1:]:
            store.write(lambda c, plan=plan: create_campaign(c, plan, 1.0))
            q = store.read(lambda c, plan=plan: quality(c, plan.name))
            assert (q.assessors, q.alpha, q.by_topic, q.pairs_alike) == ((), None, None, None)
            assert "at least two assessors" in q.why_not
