"""Simulated assessors judge through HTTP; what is exported gives the same scores as the simulation itself."""

import asyncio
from pathlib import Path

import numpy as np
import pytest
import xarray

import qrowd
from qrowd.files import read_preferences
from qrowd.model.preferences import Preferences
from qrowd.simulation import (
    Behaviour,
    Confused,
    Inverted,
    Lenient,
    Spammer,
    Truth,
    simulate_judgments,
    simulate_pool,
    simulate_runs,
)  # fmt: skip
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.results.exports import export_rows
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.settings import JourneySettings, Settings, settings_of
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from server.soak.client import Assessor, Choose, Log, Screen
from webserver import ServerProcess

CONFUSION = ((0.7, 0.2, 0.1, 0.0), (0.3, 0.4, 0.2, 0.1), (0.1, 0.2, 0.5, 0.2), (0.0, 0.0, 0.1, 0.9))
BEHAVIOURS = (Lenient(noise=0.2), Lenient(noise=0.6), Confused(CONFUSION), Inverted(Lenient(noise=0.2)), Spammer(2))


def planned(truth: Truth, name: str, settings: Settings) -> Plan:
    """A campaign over a simulated pool. A document is called what it is, so that a page says which one it shows."""
    pool = truth.pool
    labels = [[pool.documents[d] for d in pool.document[pool.rows(t)]] for t in range(len(pool.topics))]
    return Plan(
        name=name,
        title=name,
        settings=settings,
        topics=tuple(TopicPlan(t, f"What is {t}?", tuple(d)) for t, d in zip(pool.topics, labels, strict=True)),
        documents=tuple(DocumentPlan(label, f"About {label}.", label) for topic in labels for label in topic),
        seed=5,
        journey=JourneySettings(practice=False),
    )


def judged(url: str, plan: Plan, people: dict[str, Choose], folder: Path) -> None:
    """Everybody comes in by a link and judges until there is nothing more to judge."""
    with open_store(url) as store:
        number = store.write(lambda connection: create_campaign(connection, plan, 0.0))
        tokens = store.write(lambda connection: {name: invite(connection, number, name, 0.0) for name in people})
    log = Log()

    async def everything(client: Assessor, token: str) -> None:
        await client.join(token)
        while await client.step():
            pass
        client.close()

    async def everybody(server: ServerProcess) -> None:
        clients = {name: Assessor(plan.name, [server.address], choose, log) for name, choose in people.items()}
        await asyncio.gather(*(everything(client, tokens[name]) for name, client in clients.items()))

    with ServerProcess(url, log=folder / "log") as server:
        asyncio.run(everybody(server))
    assert (log.failed, log.refused, log.broken) == ([], {}, 0)


def exported(url: str, campaign: str, what: str, form: str, to: Path) -> Path:
    with open_store(url, read_only=True) as store:
        to.write_bytes(
            b"".join(store.stream(lambda connection: export_rows(connection, campaign, what, form, names=True)))
        )
    return to


def same_scores(found: xarray.DataArray, expected: xarray.DataArray) -> None:
    """Number for number, and for the same assessors, topics and systems."""
    for name in ("assessor", "topic", "system", "measure"):
        assert sorted(found[name].values) == sorted(expected[name].values)
        found = found.sel({name: expected[name].values})
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize(
    ("n_assessors", "n_topics", "k"), [(3, 2, 6), pytest.param(30, 3, 8, marks=pytest.mark.nightly)]
)
def test_simulated_assessors_grade_through_http_and_the_scores_are_those_of_the_simulation(
    tmp_path: Path, n_assessors: int, n_topics: int, k: int
) -> None:
    truth = simulate_pool(n_topics, k, rng=3)
    behaviours: dict[str, Behaviour] = {f"a{i:02}": BEHAVIOURS[i % len(BEHAVIOURS)] for i in range(n_assessors)}
    said = simulate_judgments(truth, behaviours, rng=4)
    runs = simulate_runs(truth, 6, depth=k, rng=5)
    assert len(said) == n_assessors * n_topics * k
    grade = {(row.assessor, row.document): str(int(row.value)) for row in said.to_frame().itertuples()}

    def by(name: str) -> Choose:
        return lambda screen: {"do": "judge", "text": grade[name, screen.titles[0]], "reason": ""}

    url = f"sqlite:///{tmp_path / 'judgments.db'}"
    plan = planned(truth, "loop", settings_of("grades", {"k": k, "redundancy": n_assessors, "rating": False}))
    judged(url, plan, {name: by(name) for name in behaviours}, tmp_path)

    expected = qrowd.evaluate(runs, said, ["nDCG@5", "AP", "P@3"]).to_xarray()
    lines = exported(url, "loop", "judgments", "jsonl", tmp_path / "loop.jsonl")
    qrels = exported(url, "loop", "judgments", "qrels", tmp_path / "loop.qrels")
    for read in (
        qrowd.read_judgments(lines),
        qrowd.read_judgments(qrels, assessor="column", scales={"*": "0-3"}),
    ):
        assert len(read) == len(said)
        same_scores(qrowd.evaluate(runs, read, ["nDCG@5", "AP", "P@3"]).to_xarray(), expected)


@pytest.mark.nightly
def test_simulated_preferences_through_http_give_the_scores_of_what_was_preferred(tmp_path: Path) -> None:
    truth = simulate_pool(2, 5, rng=6)
    runs = simulate_runs(truth, 4, depth=5, rng=7)
    names = [f"p{i}" for i in range(3)]
    rng = np.random.default_rng(8)
    worth = {name: dict(zip(truth.pool.documents, rng.normal(truth.relevance), strict=True)) for name in names}
    pool = truth.pool
    topic = {pool.documents[d]: t for i, t in enumerate(pool.topics) for d in pool.document[pool.rows(i)]}
    rows: list[tuple[str, str, str, str, int]] = []

    def by(name: str) -> Choose:
        def choose(screen: Screen) -> dict[str, str]:
            left, right = screen.titles
            margin = worth[name][left] - worth[name][right]
            better, other = (left, right) if margin > 0 else (right, left)
            strength = 1 + (abs(margin) > 1)
            rows.append((topic[left], better, other, name, strength))
            definitely = {"definitely": "1"} if strength == 2 else {}
            return {"do": "prefer", "choice": "left" if margin > 0 else "right", **definitely}

        return choose

    url = f"sqlite:///{tmp_path / 'judgments.db'}"
    settings = settings_of("preference", {"redundancy": 3, "rating": False})
    judged(url, planned(truth, "pairs", settings), {name: by(name) for name in names}, tmp_path)

    expected = qrowd.evaluate(runs, Preferences.from_rows(rows), ["wpref", "ppref"]).to_xarray()
    for form in ("jsonl", "csv"):
        read = read_preferences(exported(url, "pairs", "preferences", form, tmp_path / f"pairs.{form}"))
        assert len(read) == len(rows)
        if form == "jsonl":
            same_scores(qrowd.evaluate(runs, read, ["wpref", "ppref"]).to_xarray(), expected)
