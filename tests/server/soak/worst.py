"""The worst texts within the limits: `python -m soak.worst SECONDS [SEED]`.

Texts that a campaign may hold are made at random from pieces that are hard to read (tags that never end, blanks, deep
nesting, one long line), 1,000 to 1,000,000 characters long. Each is read and drawn as the server does it. What runs on
the event loop may take 20 ms of processor time; what runs in a thread may take as long as its length allows, at most
10 microseconds a character and .2 s.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from qrowd.errors import QrowdError
from qrowd.texts import read_documents, read_page, read_topics
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.pages import DocumentText, Page, TopicText
from qrowd_server.protocols.views import DocumentView
from qrowd_server.web.document_pages import render_document
from qrowd_server.web.rendering import render_page, takes_long

MOST = 1_000_000  # characters of a text
ON_THE_LOOP = 0.02  # seconds
A_CHARACTER, AT_ONCE = 10e-6, 0.2  # seconds in a thread
PIECES = (
    "<", ">", "</", "<a", "<p", "<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<ul><li>", "<table><tr><td>",
    "<!--", "-->", "<script>", "</script>", "<title>", "<html lang", "<h1", ' x="', "='", '"', "'", "=", "&", "&a",
    "&#1", ";", " ", "\t", "\n", "\n \n", "\r\n", "\xa0", "bee", "a", "9", "1. ", "- ", "ä", "漢", "\u202e", "�",
    "<top>", "<num>", "<title>", "<desc>", "</top>", "<doc>", "<docno>", "</docno>", "<text>", "</text>", "</doc>",
    "water ", "river ", "running ", "x" * 60, " " * 61, "supercalifragilistic",
)  # fmt: skip


@dataclass
class Slowest:
    """What took longest of one kind of work, in seconds of the processor."""

    seconds: float = 0.0
    n_characters: int = 0
    start: str = ""
    n: int = 0

    def see(self, seconds: float, text: str) -> None:
        self.n += 1
        if seconds > self.seconds:
            self.seconds, self.n_characters, self.start = seconds, len(text), text[:60]


def text(rng: random.Random) -> str:
    """A hard text: few pieces many times, numbers that grow, or all pieces mixed."""
    n = int(10 ** rng.uniform(3, 6))
    kind = rng.randrange(4)
    if kind == 0:
        made = "".join(rng.choices(PIECES, k=n // 4))
    elif kind == 1:
        piece = "".join(rng.choices(PIECES, k=rng.randint(1, 4)))
        made = piece * (n // len(piece) + 1)
    elif kind == 2:
        head, tail = (rng.choice(PIECES) * (n // 8) for _ in range(2))
        made = head + rng.choice(PIECES) * (n // 4) + tail
    else:
        before, after = rng.choice(PIECES), rng.choice(PIECES)
        made = "".join(f"{before}{i}{after}" for i in range(n // (len(before) + len(after) + 5)))
    return made[: min(n, MOST)]


def slowness() -> float:
    """How many times longer this machine takes than one that adds ten million numbers in .3 s; at least 1."""
    start = time.thread_time()
    for _ in range(10_000_000):
        pass
    return max(1.0, (time.thread_time() - start) / 0.2)


def seconds_of(work: Callable[[], object]) -> float:
    start = time.thread_time()
    with suppress(QrowdError):
        work()
    return time.thread_time() - start


def page_of(words: str, title: str, narrative: str, html: bool) -> Page:
    """A page with this document, for a topic of this title and narrative."""
    from server.web.gallery import GALLERY

    page = GALLERY["grades"]
    assert isinstance(page.view, DocumentView)
    document = DocumentText("Title", words, html, "en")
    topic = TopicText(title, "", narrative)
    return replace(page, topic=topic, documents={page.view.document: document})


def deeds(words: str, rng: random.Random) -> dict[str, Callable[[], object]]:
    """What the server does with a text, by name; what begins with "thread" never runs on the event loop."""
    content = words.encode("utf-8", "replace")
    html, title = rng.random() < 0.5, "running water"
    plan = {
        "campaign": {"name": "worst", "protocol": "grades"},
        "topics": [{"label": "t", "title": words or "t", "narrative": words, "pool": ["d"]}],
        "documents": [{"label": "d", "text": words, "html": html}],
    }
    topic = f"<top><num>1</num><title>{words}</title><narr>{words}</top>".encode()

    def drawn(page: Page) -> str:
        render_document.cache_clear()
        return render_page(page, base="/c/worst", csrf="t")

    made: dict[str, Callable[[], object]] = {
        "thread: a page in HTML": lambda: list(read_page(content, "d.html", "d")),
        "thread: topics of TREC": lambda: list(read_topics(topic, "topics.trec")),
        "thread: documents of TREC": lambda: list(
            read_documents(b"<doc><docno>d</docno>" + content + b"</doc>", "d.trec")
        ),
        "thread: documents in a table": lambda: list(read_documents(b"docid,text\nd," + content, "d.csv")),
        "thread: a campaign from one table": lambda: plan_from_table(plan),
    }
    for name, page in {
        "document": page_of(words, title, "", html),
        "title": page_of("x", words, "", html=False),
        "narrative": page_of("x", title, words, html=False),
    }.items():
        where = "thread" if takes_long(page) else "loop"
        made[f"{where}: a page with a hard {name}"] = lambda page=page: drawn(page)  # type: ignore[misc]
    return made


def fuzz(seconds: float, seed: int) -> int:
    """Look for texts that take too long; the number of those found."""
    rng, slow, slowest = random.Random(seed), slowness(), dict[str, Slowest]()
    end, n, found = time.monotonic() + seconds, 0, 0
    gc.freeze()
    while time.monotonic() < end:
        words = text(rng)
        n += 1
        for name, work in deeds(words, rng).items():
            limit = slow * (ON_THE_LOOP if name.startswith("loop") else AT_ONCE + A_CHARACTER * len(words))
            took = seconds_of(work)
            if took > limit:  # another process may have had the caches: the better of two
                took = min(took, seconds_of(work))
            slowest.setdefault(name, Slowest()).see(took, words)
            if took > limit:
                found += 1
                print(
                    f"TOO LONG {name}: {1000 * took:.0f} ms for {len(words):,} characters, {words[:80]!r}", flush=True
                )
    print(f"{n:,} texts, seed {seed}; limits {slow:.1f} times as long as on the usual machine")
    for name, most in sorted(slowest.items()):
        about = f"{most.n_characters:,} characters, {most.start!r}"
        print(f"  {name}: at most {1000 * most.seconds:.1f} ms ({about}), {most.n:,} times")
    print(f"{found} too long")
    return found


if __name__ == "__main__":
    sys.exit(fuzz(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)) > 0)
