"""Campaigns that carry a question: a small world of runs, a cheap assessor and true grades, and people who judge it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.campaigns.running.pages import Page
from qrowd_server.protocols.events import Action, Consent, GoOn, Judge
from qrowd_server.protocols.views import ConsentView, DocumentView, EndView, LostView, NoneLeftView


@dataclass(frozen=True)
class World:
    """What is true. grades : {topic: {document: grade}}. runs : {system: {topic: documents, best first}}."""

    grades: dict[str, dict[str, int]]
    runs: dict[str, dict[str, list[str]]]
    labels: dict[str, dict[str, int]]


def make_world(*, topics: int = 10, documents: int = 40, noises: Sequence[float] = (0.6, 1.6), seed: int = 1) -> World:
    """Systems rank by the true grade and an error of their own; a cheap assessor says grades with errors."""
    rng = np.random.default_rng(seed)
    grades, labels = {}, {}
    runs: dict[str, dict[str, list[str]]] = {f"sys{i}": {} for i in range(len(noises))}
    for t in range(topics):
        names = [f"t{t}d{d}" for d in range(documents)]
        true = np.minimum(rng.geometric(0.55, documents) - 1, 3)
        grades[f"t{t}"] = dict(zip(names, true.tolist(), strict=True))
        said = np.clip(np.round(true + rng.normal(0, 0.8, documents)), 0, 3).astype(int)
        labels[f"t{t}"] = dict(zip(names, said.tolist(), strict=True))
        for i, noise in enumerate(noises):
            scores = true + rng.normal(0, noise, documents)
            runs[f"sys{i}"][f"t{t}"] = [names[d] for d in np.argsort(-scores, kind="stable")]
    return World(grades, runs, labels)


def write_world(
    folder: Path,
    world: World,
    *,
    question: str = "sys0 > sys1",
    models: bool = True,
    k: int = 5,
    redundancy: int = 1,
    consent: bool = False,
    settings: str = "",
    more: str = "",
) -> Path:
    """The folder of a campaign with a question. settings : further lines of [question]. more : further tables."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runs").mkdir(exist_ok=True)
    for system, lists in world.runs.items():
        lines = [
            f"{topic} Q0 {document} {rank} {1000 - rank} {system}\n"
            for topic, ranked in lists.items()
            for rank, document in enumerate(ranked, 1)
        ]
        (folder / "runs" / f"{system}.run").write_text("".join(lines))
    qrels = [f"{topic} 0 {d} {grade}\n" for topic, of_topic in world.labels.items() for d, grade in of_topic.items()]
    (folder / "llm.qrels").write_text("".join(qrels))
    (folder / "topics.tsv").write_text("".join(f"{topic}\tAbout {topic}\n" for topic in world.grades))
    texts = [
        json.dumps({"docid": document, "title": document, "text": f"Text of {document}."}) + "\n"
        for of_topic in world.grades.values()
        for document in of_topic
    ]
    (folder / "documents.jsonl").write_text("".join(texts))
    (folder / "campaign.toml").write_text(
        '[campaign]\nname = "live"\ntitle = "How relevant is it?"\nseed = 1\n\n'
        f'[question]\ntext = "{question}"\nruns = "runs/*.run"\n'
        + ('models = "llm.qrels"\n' if models else "")
        + f'{settings}\n[grades]\nscale = "0-3"\nredundancy = {redundancy}\nk = {k}\nreason = "none"\n\n'
        f"[journey]\nconsent = {str(consent).lower()}\n{more}"
    )
    return folder


def grade_of(world: World, page: Page) -> int:
    """The true grade of the document on a page."""
    view = page.view
    assert isinstance(view, DocumentView)
    name = page.documents[view.document].title
    return world.grades[name.partition("d")[0]][name]


def next_step(world: World, page: Page, rng: Random, *, wrong: float = 0.0) -> Action | None:
    """What a person does: the true grade, or with probability `wrong` any; None where there is nothing to do."""
    match page.view:
        case ConsentView():
            return Consent(True)
        case DocumentView(position=position):
            grade = grade_of(world, page) if rng.random() >= wrong else rng.randrange(4)
            return Judge(position, str(grade))
        case LostView() | EndView(another=True):
            return GoOn()
        case NoneLeftView(until=until) if until is not None:
            return GoOn()
    return None


async def answer(
    service: JudgingService, world: World, assessor: int, rng: Random, *, wrong: float = 0.0, answers: int = 1
) -> Page:
    """Give so many answers, or as many as there are documents for; the last page."""
    page = await service.page(assessor)
    given = 0
    while given < answers:
        action = next_step(world, page, rng, wrong=wrong)
        if action is None:
            break
        given += isinstance(action, Judge)
        waited = isinstance(page.view, NoneLeftView)
        await service.act(assessor, action, shown=page.shown, key=page.key)
        page = await service.page(assessor)
        if waited and isinstance(page.view, NoneLeftView):
            break
    return page
