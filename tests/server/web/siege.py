"""The real application over campaigns full of marked secrets, and people who walk through it by its pages.

Whatever nobody may see has a mark that stands nowhere else: labels LBL..., systems SYS..., completion codes CODE...,
somebody else's name and words ZZ..., numbers of rows 94.....; so one search finds each of them.
"""

import asyncio
import html
import random
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from judging import NOW, Clock
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.campaigns.running.judging import JudgingService
from qrowd_server.protocols.events import Consent, Judge, Prefer
from qrowd_server.protocols.settings import GradesSettings, JourneySettings
from qrowd_server.protocols.views import ConsentView, DocumentView, PairView
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.schema import document, topic, unit
from qrowd_server.store.sessions import make_api_key, revoke_api_key
from webserver import Answer, Browser, Place, serving

CAMPAIGNS = ("sizes", "stars", "pairs")
WITH_GOLD = {"known": "grades", "knownpairs": "preference"}  # gold questions among the documents
N = 8
CODES = {name: f"CODE{name.upper().replace('_', '')}" for name in ("completed", "failed", "screened_out")}
PANEL = {"codes": CODES, "links": {"completed": "https://panel.test/back?who={id}&code={code}"}}
PROVIDERS = ("link", "panel")
QUESTION = {"text": "What is looked for?", "options": ["a", "b", "the right one", "d"], "correct": 2}
ROWS = 9_400_000  # the numbers of rows begin here


def table(name: str, protocol: str, **settings: Any) -> dict[str, Any]:
    """A plan of two topics with eight documents each, the best first, in the order of two systems."""
    labels = [f"LBLDOC{i}" for i in range(N)]
    checks = {"checks": [labels[0], labels[-1]], "question": QUESTION} if protocol == "magnitude" else {}
    return {
        "campaign": {"name": name, "title": f"Judging {name}", "protocol": protocol, "seed": 3, "consent": "May we?"},
        protocol: settings,
        "journey": {"another": False, "restart": False},
        "panel": PANEL,
        "topics": [
            {"label": f"LBLTOPIC{i}", "title": f"Water {i}", "pool": labels, "context": ["a snippet"], **checks,
             "systems": {"SYSONE": labels, "SYSTWO": labels[::-1]}}
            for i in range(2)
        ],
        "documents": [
            {"label": label, "title": f"Tale {i}", "text": f"Tale number {i} speaks."} for i, label in enumerate(labels)
        ],
    }  # fmt: skip


def table_with_gold(name: str, protocol: str) -> dict[str, Any]:
    """Likewise with gold questions: one of three documents or pairs, twelve documents of them."""
    plain = table(name, protocol, redundancy=60, **({"k": N} if protocol == "grades" else {"order": "random"}))
    known = [f"LBLDOC{i}" for i in range(N, N + 12)]
    of_pairs = [{"document": a, "worse": b, "reason": "ZZreason"} for a, b in zip(known[::2], known[1::2], strict=True)]
    graded = [{"document": one, "accepted": [i % 4], "reason": "ZZreason"} for i, one in enumerate(known)]
    gold = graded if protocol == "grades" else of_pairs
    documents = [
        {"label": one, "title": f"Tale {i}", "text": f"Tale number {i} speaks."} for i, one in enumerate(known, N)
    ]
    return {
        **plain,
        "gold": {"every": 3},
        "topics": [{**topic, "gold": gold} for topic in plain["topics"]],
        "documents": [*plain["documents"], *documents],
    }


@cache
def template() -> tuple[bytes, dict[str, str]]:
    """The store as bytes; links of ann and ben by campaign, and keys."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "judgments.db"
        with open_store(path) as store:
            links, chance = store.write(fill), random.Random(4)

            def number() -> int:
                return chance.getrandbits(62)

            asyncio.run(others(JudgingService(store, clock=Clock(), number=number)))
        with closing(sqlite3.connect(path)) as plain:
            plain.execute("pragma wal_checkpoint(truncate)")
        return path.read_bytes(), links


def fill(connection: Any) -> dict[str, str]:
    first = create_campaign(
        connection,
        Plan(
            "empty", "Empty", GradesSettings(k=1, redundancy=1), (TopicPlan("t", "T", ("d",)),),
            (DocumentPlan("d", "Text."),), 1, JourneySettings(consent=False),
        ),
        NOW,
    )  # fmt: skip
    for table_ in (document, topic, unit):  # so that further numbers are known for what they are
        row = dict(connection.execute(table_.select().limit(1)).mappings().one())
        row |= {"id": ROWS, "campaign_id": first, **({"label": "x"} if "label" in row else {"number": 99})}
        connection.execute(table_.insert().values(row))
    links = {}
    protocols = {"sizes": "magnitude", "stars": "grades", "pairs": "preference"}
    more = {
        "sizes": {"k": N, "redundancy": 12},
        "stars": {"k": N, "redundancy": 60},
        "pairs": {"redundancy": 60, "sharing": "own", "order": "keep-preferred"},
    }
    for name in CAMPAIGNS:
        id = create_campaign(connection, plan_from_table(table(name, protocols[name], **more[name])), NOW)
        for who in ("ann", "ben"):
            links[f"{name} {who}"] = invite(connection, id, who, NOW)
    for name, protocol in WITH_GOLD.items():
        id = create_campaign(connection, plan_from_table(table_with_gold(name, protocol)), NOW)
        links[f"{name} ann"] = invite(connection, id, "ann", NOW)
    links["key all"] = make_api_key(connection, "all", NOW)
    sizes = find_campaign(connection, "sizes")
    assert sizes is not None
    links["key sizes"] = make_api_key(connection, "sizes", NOW, campaign_id=sizes.id)
    links["key revoked"] = make_api_key(connection, "gone", NOW)
    revoke_api_key(connection, 3)
    return links


async def others(service: JudgingService) -> None:
    """Somebody else has judged already."""
    for name in CAMPAIGNS:
        who = await service.arrive(name, "link", "ZZother", name="ZZother")
        for _ in range(12):
            page = await service.page(who)
            view = page.view
            if isinstance(view, ConsentView):
                await service.act(who, Consent(True), shown=page.shown)
            elif isinstance(view, DocumentView):
                await service.act(who, Judge(view.position, "1", "ZZreason"), shown=page.shown)
            elif isinstance(view, PairView):
                await service.act(who, Prefer(view.pair, "left"), shown=page.shown)


@dataclass
class Fort(Place):
    """The server. links : tokens of invitations, by "campaign name"; keys by "key name"."""

    links: Mapping[str, str] = field(default_factory=dict)

    def walker(self, campaign: str, provider: str = "link", who: str = "ann", **changes: str) -> "Walker":
        """Somebody at a campaign's door."""
        return Walker(self, campaign, provider, who, changes)


@dataclass
class Walker:
    """Somebody who knows what the pages say, and nothing else; keeps every answer of the server."""

    fort: Fort
    campaign: str
    provider: str
    who: str
    changes: Mapping[str, str]
    seen: list[Answer] = field(default_factory=list)
    data: bool = False  # whether to ask as the script does

    def __post_init__(self) -> None:
        self.browser = Browser(self.fort.app, self.fort.base)
        self.inside = f"/c/{self.campaign}"

    @property
    def page(self) -> Answer:
        return self.seen[-1]

    @property
    def view(self) -> str:
        found = re.search(r'data-view="(\w+)"', self.page.text)
        return found[1] if found else ""

    @property
    def door(self) -> str:
        if self.provider == "link":
            return f"/join/{self.fort.links[f'{self.campaign} {self.who}']}"
        return f"/panel/{self.campaign}?{urlencode({'id': self.who, 'taking': 'first', **self.changes})}"

    def get(self, path: str) -> Answer:
        self.seen.append(self.browser.get(path))
        return self.page

    def post(self, path: str, form: Mapping[str, str], **more: Any) -> Answer:
        self.seen.append(self.browser.post(path, form, origin=self.fort.base, **more))
        if self.page.status == 303:
            self.get(self.page.header("location") or "")
        return self.page

    def come(self) -> "Walker":
        """In by the door."""
        page = self.get(self.door)
        if page.status == 200 and not self.view:
            self.post(self.door.partition("?")[0], {"csrf": page.field("csrf")})
        elif page.status == 303:
            self.get(page.header("location") or "")
        return self

    def value(self, name: str) -> str:
        found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', self.page.text)
        assert found, f"no {name} in {self.page.status} {self.page.text[:300]}"
        return html.unescape(found[1])

    def send(self, do: str, **fields: str) -> Answer:
        """An action, as the page's own form would send it."""
        form = {name: self.value(name) for name in ("csrf", "shown", "key")} | {"do": do, **fields}
        self.data = not self.data
        headers = {"x-qrowd": "fragment"} if self.data else {}
        return self.post(f"{self.inside}/act", form, headers=headers)

    def walk(
        self,
        *,
        until: str = "end",
        seconds: float = 25.0,
        option: str = "the right one",
        number: Callable[[int], str] = lambda tale: str(100 - tale),
        agreed: str = "1",
        line: Callable[[float], str] = str,
    ) -> "Walker":
        """On, page by page, until this view or the end. number : for a document, of which 0 is the best."""
        for _ in range(200):
            if self.view in (until, "end", "noneleft", "excluded", "paused"):
                return self
            self.fort.clock.now += seconds
            text = self.page.text
            match self.view:
                case "consent":
                    self.send("consent", agreed=agreed)
                case "line":
                    width = re.search(r'width="([\d.]+)" height="6"', text)
                    assert width
                    self.send("line", line=self.value("line"), text=line(float(width[1])))
                case "lines" | "revision":
                    self.send("go_on")
                case "question":
                    options = re.findall(r'<span dir="auto">([^<]*)</span>', text)
                    wrong = next(i for i, one in enumerate(options) if one != "the right one")
                    self.send("reply", option=str(options.index(option) if option in options else wrong))
                case "document":
                    tale = re.search(r"Tale (\d+)", text)
                    assert tale
                    given = number(int(tale[1])) if "data-digits" in text else str(int(tale[1]) % 2)
                    self.send("judge", position=self.value("position"), text=given, reason="It speaks of water.")
                case "pair":
                    left, right = map(int, re.findall(r"dir=\"auto\">Tale (\d+)</h2>", text))
                    self.send("prefer", pair=self.value("pair"), choice="left" if left < right else "right")
                case "rating":
                    self.send("rate", confidence="3", understanding="4", comment="")
                case other:
                    raise AssertionError(f"{other}: {self.page.status} {text[:500]}")
        raise AssertionError("no end")


@contextmanager
def fort(folder: Path, **changes: Any) -> Iterator[Fort]:
    """A server over a store of its own in that folder; `changes` : settings."""
    content, links = template()
    with serving(folder, content, Clock(NOW + 1000), **{"judgments_per_minute": 1000, **changes}) as place:
        yield Fort(**vars(place), links=links)


def everything(answer: Answer) -> str:
    """Headers and body, as they were sent and as a browser understands them."""
    text = answer.body.decode("utf-8", "replace")
    return "\n".join([*(f"{name}: {value}" for name, value in answer.headers), text, html.unescape(text)])
