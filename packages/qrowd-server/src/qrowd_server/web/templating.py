"""The templates of all pages, in each language.

Everything that somebody typed is escaped by the templates; the only HTML let through is a document's, cleaned first.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from qrowd_server.campaigns.plan import sanitise
from qrowd_server.web import texts
from qrowd_server.web.documents import SPACES
from qrowd_server.web.languages import ENGLISH, language

WRAPPED = re.compile(r"(?<=[^\n]{60})(?<![ \t])[ \t]*+\n(?![ \t]*+(?:[-*•–]|\d++[.)])[ \t])")


@lru_cache(maxsize=64)
def environment(tag: str = ENGLISH) -> Environment:
    """The templates in a language, compiled once; escaping is always on, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("qrowd_server.web"),
        extensions=["jinja2.ext.i18n"],
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=-1,
    )
    environment.globals["asset"] = asset
    environment.filters["paragraphs"] = paragraphs
    words = language(tag)
    environment.policies["ext.i18n.trimmed"] = True
    environment.newstyle_gettext = True  # type: ignore[attr-defined]
    environment.globals |= {"language": words, "choice": None}
    environment.globals |= {"_": words.gettext, "gettext": words.gettext, "ngettext": words.ngettext}
    environment.filters["said"] = words.text
    environment.filters["own"] = words.own
    table = sanitise.TABLE.replace("Table", escape(words.text(texts.TABLE)))
    environment.filters["tables"] = lambda content: Markup(str(content).replace(sanitise.TABLE, table))
    environment.filters["sentences"] = lambda messages: words.joined([words.text(one) for one in messages])
    environment.filters["ask"] = lambda ask: words.text(ask) if ask in texts.ASKS else ask
    environment.filters["label"] = lambda label: words.text(label) if label in texts.LABELS else label
    return environment


@lru_cache(maxsize=64)
def asset(name: str) -> str:
    """The address of a file that comes with the program; another content has another address, so it may be kept."""
    content = resources.files("qrowd_server.web").joinpath("static", name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:10]}"


def paragraphs(text: str) -> Markup:
    """Plain text as paragraphs: an empty line parts them, a single break stays one. What is HTML stays as it is.

    After 60 characters a break only says where an editor's line ended, unless an item of a list follows.
    """
    return text if isinstance(text, Markup) else _paragraphs(text)


@lru_cache(maxsize=1024)
def _paragraphs(text: str) -> Markup:
    parts = (WRAPPED.sub(" ", part.strip()) for part in SPACES.split(text.replace("\r\n", "\n")))
    lines = (str(escape(part)).replace("\n", "<br>") for part in parts if part)
    return Markup("".join(f'<p dir="auto">{part}</p>' for part in lines))


def render(template: str, *, tag: str = ENGLISH, **values: Any) -> str:
    """A page from its template, in the language of that tag."""
    return environment(tag).get_template(f"{template}.html").render(values)
