"""What a page is made of: a view, and the words of the topic and documents it speaks of.

Faces (HTML, JSON) draw a `Page` and nothing else, so what is not in here cannot leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from qrowd_server.protocols.events import Event
from qrowd_server.protocols.settings import ASK_DOCUMENT, Settings
from qrowd_server.protocols.views import View


@dataclass(frozen=True)
class TopicText:
    """What is judged for."""

    title: str
    description: str = ""
    narrative: str = ""
    context: tuple[str, ...] = ()  # stored snippets, in this assessor's order


@dataclass(frozen=True)
class DocumentText:
    """What is judged. html : whether `text` is HTML, which a face must clean; plain text otherwise.

    url : shown above it. image : digest of the image of the page, which is shown instead of the text; in what a server
    sends, its address on this server.
    layout : "pre" for a text whose lines and blanks stay as they are. pages : digests or addresses of the images of a
    PDF's pages.
    """

    title: str
    text: str
    html: bool = False
    language: str = ""
    url: str = ""
    image: str = ""
    layout: Literal["", "pre"] = ""
    pages: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it is shown as a text, and not as images."""
        return not (self.image or self.pages)


@dataclass(frozen=True)
class PageMessage:
    """A question of the assessor to the organisers. number : for the form that says it was read. reply : "" for none.

    here : whether it is about what the page shows. read : whether the assessor said so of the reply.
    """

    number: int
    text: str
    reply: str
    here: bool
    read: bool


@dataclass(frozen=True)
class Draft:
    """What was typed and not yet sent."""

    text: str
    reason: str


@dataclass(frozen=True)
class Page:
    """All that a face needs to draw what an assessor sees now.

    campaign, title : its name and title. protocol : magnitude, grades or preference. name : the assessor's.
    named : whoever invited them chose that name; otherwise a crowd platform sent it, as an identifier. Exports hold it.
    view : what to show. topic : what it is about, if anything. documents : by number, those the view speaks of.
    shown : what this page is, for the form: a later page has another. key : the form's own key, new on every page.
    link : where a finished assessor goes (a platform's URL), None where there is none; code : what to hand in there.
        Both only on an `EndView` or `NoneLeftView` of somebody who may have them.
    consent : the campaign's own words for the first page. instructions : likewise, for every page.
    practice_instructions : likewise, before the first line of the practice.
    ask : the question that is asked of a document or a pair. full_topic : the whole topic stays in view beside it.
    language : of the interface, as the campaign has it; "" for the one that the browser asks for.
    guidelines : Markdown. pictures : (name, digest) of its pictures; in what a server sends, their addresses.
    guidelines_at : in what a server sends, the address of the page of the guidelines.
    effort : documents of a unit, and about how many minutes it takes.
    pseudonym : under which the assessor is exported. retention_days : after the end, for which names are kept; None for
    no such time.
    answers : of an assessor who is not in a unit, or pauses: how many they gave, how many of these say something and
    not "cannot tell", and how many count.
    may_ask : whether the organisers can be asked about what is shown. messages : questions to them and replies.
    """

    campaign: str
    title: str
    protocol: str
    name: str
    view: View
    topic: TopicText | None
    documents: dict[int, DocumentText]
    shown: str
    key: str
    link: str | None = None
    code: str | None = None
    consent: str = ""
    instructions: str = ""
    practice_instructions: str = ""
    ask: str = ASK_DOCUMENT
    full_topic: bool = False
    draft: Draft | None = None
    named: bool = True
    language: str = ""
    guidelines: str = ""
    pictures: tuple[tuple[str, str], ...] = ()
    guidelines_at: str = ""
    effort: tuple[int, int] | None = None
    pseudonym: str = ""
    retention_days: float | None = None
    answers: tuple[int, int, int] | None = None
    may_ask: bool = False
    messages: tuple[PageMessage, ...] = ()


@dataclass(frozen=True)
class UnitSoFar:
    """An open unit with all of its documents and the answers so far, for a model that judges it.

    shown : as in `Page`. topic, unit : labels. arm : its name. settings : of its protocol. documents : numbers in the
    order in which they are shown. labels, texts : by number. answers : (value, reason) by number, where documents are
    judged one after another. fails : submissions that failed a check.
    """

    shown: str
    topic: str
    unit: str
    arm: str
    settings: Settings
    documents: tuple[int, ...]
    labels: dict[int, str]
    texts: dict[int, DocumentText]
    answers: dict[int, tuple[float | None, str]]
    fails: int


@dataclass(frozen=True)
class Receipt:
    """An action was taken and is safe on disk.

    event_id : of the last event it caused. time : when. replayed : the same form had been sent before, and this is
    what was answered then. late : the unit had gone to somebody else: kept, and not counted.
    """

    event_id: int
    time: float
    events: tuple[Event, ...] = ()
    replayed: bool = False
    late: bool = False
