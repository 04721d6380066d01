"""The pages that assessors of a campaign will see, before it is created.

The campaign's first topic is created in a store of its own, which is thrown away; somebody goes through it up to the
first document or pair. So the pages are those of the judging service and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection

from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.judging import JudgingService
from qrowd.collect.campaigns.lookup import find
from qrowd.collect.campaigns.pages import DocumentText, Page
from qrowd.collect.campaigns.plan import Plan
from qrowd.collect.protocols.events import Action, Consent, GoOn, JudgeLine, Reply
from qrowd.collect.protocols.protocol import Question
from qrowd.collect.protocols.views import (
    ConsentView,
    DocumentView,
    LinesView,
    LineView,
    NoneLeftView,
    PairView,
    QuestionView,
    View,
)
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.materials import find_image

TASK, CONSENT, PRACTICE, QUESTION = "task", "consent", "practice", "question"
MOST = 20  # pages before the first document
SOMEBODY = "ann"


@dataclass(frozen=True)
class Preview:
    """Pages by what they are, in the order in which they come; contents : (media type, bytes) by digest."""

    pages: dict[str, Page]
    contents: dict[str, tuple[str, bytes]] = field(repr=False)


def preview_of(plan: Plan) -> Preview:
    """The pages of a campaign's first topic. Takes some tenths of a second; for a thread without an event loop."""
    topic = replace(plan.topics[0], gold=())
    documents = tuple(document for document in plan.documents if document.label in set(topic.pool))
    first = replace(plan, topics=(topic,), documents=documents, gold=None)
    with TemporaryDirectory(prefix="qrowd-") as folder, open_store(Path(folder) / "preview.db") as store:
        number = store.write(lambda connection: create_campaign(connection, first, 0.0))
        pages = asyncio.run(_pages(JudgingService(store, clock=lambda: 0.0), first, topic.question))

        def contents(connection: Connection) -> dict[str, tuple[str, bytes]]:
            row = find(connection, first.name)
            digests = {digest for page in pages.values() for digest in _digests(page)}
            found = {digest: find_image(connection, row.id, digest) for digest in digests}
            return {digest: content for digest, content in found.items() if content is not None}

        assert number is not None
        return Preview(pages, store.read(contents))


def with_addresses(page: Page, address: str) -> Page:
    """The page with the address of each picture and document in a frame; `address` ends where a digest belongs."""

    def at(digest: str) -> str:
        return f"{address}{digest}" if digest else ""

    documents = {
        number: replace(one, image=at(one.image), pages=tuple(map(at, one.pages)))
        for number, one in page.documents.items()
    }
    return replace(page, documents=documents, pictures=tuple((name, at(one)) for name, one in page.pictures))


async def _pages(service: JudgingService, plan: Plan, question: Question | None) -> dict[str, Page]:
    """Go through the first pages."""
    assessor, pages = await service.arrive(plan.name, "link", SOMEBODY), dict[str, Page]()
    for _ in range(MOST):
        page = await service.page(assessor)
        if (name := _name(page.view)) is not None:
            pages.setdefault(name, replace(page, preview=True))
        if name == TASK or (action := _next(page.view, question)) is None:
            break
        await service.act(assessor, action, shown=page.shown, key=page.key)
    return pages


def _name(view: View) -> str | None:
    match view:
        case ConsentView():
            return CONSENT
        case LineView():
            return PRACTICE
        case QuestionView():
            return QUESTION
        case DocumentView() | PairView():
            return TASK
    return None


def _next(view: View, question: Question | None) -> Action | None:
    """What leads on."""
    match view:
        case ConsentView():
            return Consent(True)
        case LineView():
            return JudgeLine(view.line, f"{100 * view.length:.3f}")
        case LinesView() | NoneLeftView():
            return GoOn()
        case QuestionView() if question is not None:
            return Reply(view.options.index(question.options[question.correct]))
    return None


def _digests(page: Page) -> Iterator[str]:
    yield from (digest for _, digest in page.pictures)
    for document in page.documents.values():
        yield from _of_document(document)


def _of_document(document: DocumentText) -> Iterator[str]:
    yield from filter(None, (document.image, *document.pages))
