"""The statement of a campaign with a question, while people judge.

A look reads the judgments that count and the draws of the log, and says what `qrowd next` says of the exported
judgments and the exported design.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sqlalchemy import Connection

from qrowd.collect.campaigns.drawn import Drawn, LookOutcome, read_drawn, rounded
from qrowd.collect.campaigns.question_settings import preparation_of
from qrowd.collect.campaigns.state import CampaignSettings, read_settings
from qrowd.collect.protocols.settings import GradesSettings
from qrowd.collect.store import draws, export, materials
from qrowd.collect.store.schema import MODEL, PERSON
from qrowd.kernels.arrays import Floats
from qrowd.model.judgments import Judgments
from qrowd.sequential.candidates import gain_variances
from qrowd.sequential.design import Design
from qrowd.sequential.expectation import expectation
from qrowd.sequential.looks import Look, Problem
from qrowd.sequential.problems import Preparation, statement_of
from qrowd.sequential.statement import Statement
from qrowd.sequential.stored import write_design


@dataclass(frozen=True, eq=False)
class LiveLook:
    """A look at a campaign.

    statement : what can be said. look : the same as arrays, with the sizes of the next draws. drawn : so far.
    n_judged : documents that people judged. n_counting : judged draws before the first that is not judged.
    models : those whose judgments in the campaign are labels. n_topics_without : topics that none of them judged yet;
    their labels count once there is none.
    """

    preparation: Preparation
    problem: Problem
    gains: Floats
    drawn: Drawn
    look: Look
    statement: Statement
    n_judged: int
    n_counting: int
    models: tuple[str, ...] = ()
    n_topics_without: int = 0


class Looker:
    """Looks at the campaigns of a store, and remembers what stays the same between looks.

    That are the preparations, and the problems as long as no model judges.
    """

    def __init__(self) -> None:
        self._preparations: dict[int, Preparation] = {}
        self._problems: dict[int, tuple[int, Problem]] = {}

    def look(self, connection: Connection, campaign_id: int) -> LiveLook:
        """What can be said of the question of a campaign now."""
        settings = settings_of_question(connection, campaign_id)
        asked = settings.question
        assert asked is not None
        prepared = self._preparations.get(campaign_id)
        if prepared is None:
            self._preparations[campaign_id] = prepared = read_preparation(connection, campaign_id)
        people, models = _judgments(connection, campaign_id, settings)
        drawn = read_drawn(connection, campaign_id)
        n_labels = 0 if models is None else len(models)
        known = self._problems.get(campaign_id)
        problem = known[1] if known is not None and known[0] == n_labels else prepared.problem(models)
        self._problems[campaign_id] = n_labels, problem
        gains = prepared.gains(people)
        made = drawn.draws()
        of_people = None
        if asked["disagreement"]:
            of_people = gain_variances(people, prepared.candidates, prepared.measure, prepared.levels)
        options = {name: asked[name] for name in ("confidence", "tolerance", "target")}
        look = problem.look(gains, made, of_people=of_people, **options)
        judged = ~np.isnan(gains[prepared.matters])
        return LiveLook(
            prepared,
            problem,
            gains,
            drawn,
            look,
            statement_of(problem, look, gains, **options),
            int(judged.sum()),
            len(made.answered(judged)),
            () if models is None else models.assessors,
            0 if models is None else prepared.n_topics_without(models),
        )

    def outcome(self, connection: Connection, campaign_id: int) -> LookOutcome:
        """What the log keeps of a look now, and the sizes of further draws."""
        newest, seen = draws.newest_event(connection, campaign_id)
        live = self.look(connection, campaign_id)
        sizes = rounded(live.look.sizes) if not live.look.answer and (live.look.sizes > 0).any() else None
        return LookOutcome(newest, seen, live.n_judged, live.statement.sentence, _as_table(live), sizes)

    def expected(self, connection: Connection, campaign_id: int) -> tuple[int, tuple[int, int, int]]:
        """Judged documents, and the judgments that are expected to be needed still: low, median and high."""
        live = self.look(connection, campaign_id)
        return live.n_judged, to_go(live, settings_of_question(connection, campaign_id))


def look_at(connection: Connection, campaign_id: int) -> LiveLook:
    """What can be said of the question of a campaign now."""
    return Looker().look(connection, campaign_id)


def settings_of_question(connection: Connection, campaign_id: int) -> CampaignSettings:
    """How the campaign is run."""
    return read_settings(_row(connection, campaign_id))


def read_preparation(connection: Connection, campaign_id: int) -> Preparation:
    """What the question of a campaign is about."""
    content = draws.find_question(connection, campaign_id)
    assert content is not None
    return preparation_of(content)


def design_of(connection: Connection, campaign_id: int) -> Design:
    """The design so far, which `qrowd next` continues."""
    row = _row(connection, campaign_id)
    drawn = read_drawn(connection, campaign_id)
    return read_preparation(connection, campaign_id).design(drawn.draws(), seed=row.seed)


def design_content(connection: Connection, campaign_id: int) -> bytes:
    """The design so far, as the file of `qrowd next`."""
    with TemporaryDirectory(prefix="qrowd-") as folder:
        file = Path(folder) / "next.json"
        write_design(file, design_of(connection, campaign_id))
        return file.read_bytes()


def to_go(live: LiveLook, settings: CampaignSettings) -> tuple[int, int, int]:
    """Judgments that are expected to be needed still: low end, median, and high end of an 80 % interval."""
    asked = settings.question
    assert asked is not None
    if live.look.answer:
        return 0, 0, 0
    made = live.drawn.draws()
    waiting = made.document[np.isnan(live.gains[live.preparation.matters])[made.document]]
    expected = expectation(
        live.problem,
        live.look,
        live.gains,
        waiting=waiting,
        n_counting=live.n_counting,
        confidence=asked["confidence"],
        tolerance=asked["tolerance"],
        rng=np.random.default_rng([settings.seed, len(live.drawn), 1]),
    )
    low, median, high = expected.judgments_range
    return int(low), int(median), int(high)


def _as_table(live: LiveLook) -> dict[str, Any]:
    """A look as the log keeps it: the differences of the leading system, or of the system that is asked about."""
    statement, question = live.statement, live.problem.question
    first = question.systems[0]
    if question.kind in ("best", "ranking"):
        wins = dict.fromkeys(question.systems, 0.0)
        for one, other, estimate in zip(statement.first, statement.second, statement.estimate.tolist(), strict=True):
            wins[one if estimate > 0 else other] += 1
        first = max(wins, key=lambda name: wins[name])
    intervals = []
    for i, pair in enumerate(zip(statement.first, statement.second, strict=True)):
        if first not in pair:
            continue
        sign = 1 if pair[0] == first else -1
        estimate, *ends = (sign * float(values[i]) for values in (statement.estimate, statement.low, statement.high))
        low, high = sorted(ends)
        intervals.append([first, pair[pair[0] == first], *map(_finite, (estimate, low, high))])
    return {
        "answer": statement.answer,
        "sentence": statement.sentence,
        "intervals": intervals,
        "remaining": list(statement.remaining),
        "n_counting": live.n_counting,
        "n_documents": statement.n_documents_in_all,
        "models": list(live.models),
        "n_topics_without": live.n_topics_without,
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _row(connection: Connection, campaign_id: int) -> materials.CampaignRow:
    row = materials.find_campaign(connection, campaign_id)
    assert row is not None
    return row


def _judgments(
    connection: Connection, campaign_id: int, settings: CampaignSettings
) -> tuple[Judgments | None, Judgments | None]:
    """The judgments that count: of people, and of models; None where there are none."""
    names = export.JUDGMENTS
    columns = [names.index(name) for name in ("topic", "document", "assessor", "value", "kind")]
    rows: dict[str, list[tuple[Any, ...]]] = {PERSON: [], MODEL: []}
    for row in export.judgments(connection, campaign_id):
        topic, document, assessor, value, kind = (row[i] for i in columns)
        rows[kind].append((topic, document, assessor, value))
    graded = next(iter(settings.arms.values())).settings
    assert isinstance(graded, GradesSettings)

    def made(cells: list[tuple[Any, ...]]) -> Judgments | None:
        if not cells:
            return None
        names = ("topic", "document", "assessor", "value")
        frame = dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))
        return Judgments.from_frame(frame, scales={"*": graded.scale})

    return made(rows[PERSON]), made(rows[MODEL])
