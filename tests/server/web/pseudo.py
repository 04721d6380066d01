"""A made-up Arabic catalogue: every text of ours in Arabic letters, so that pages can be seen from right to left."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

from babel import Locale
from babel.messages.catalog import Catalog

from qrowd_server.web import languages, rendering

LETTERS = dict(zip("abcdefghijklmnopqrstuvwxyz", "ابجدهوزحطيكلمنسعفصقرشتثخذض", strict=True))
KEPT = re.compile(r"(%\(\w+\)s|<[^>]*>|&\w+;)")  # placeholders and tags


def pseudo(text: str) -> str:
    """The text in Arabic letters, with its placeholders and tags.

    >>> pseudo("Keys: %(n)s")
    'كهذق: %(n)s'
    """
    parts = KEPT.split(text)
    return "".join(part if KEPT.fullmatch(part) else "".join(LETTERS.get(c, c) for c in part.lower()) for part in parts)


def translate() -> ModuleType:
    """The program of the docs that brings catalogues up to date."""
    folder = str(Path(__file__).resolve().parents[3] / "docs")
    if folder not in sys.path:
        sys.path.append(folder)
    import translate

    return translate


@cache
def extracted() -> Catalog:
    """The texts of the program."""
    texts: Catalog = translate().extracted()
    return texts


@cache
def arabic() -> bytes:
    """The catalogue."""
    made = Catalog(locale=Locale.parse("ar"), charset="utf-8", fuzzy=False)
    for message in extracted():
        if message.id:
            other = message.id[1] if isinstance(message.id, tuple) else message.id
            said = [pseudo(other)] * made.num_plurals if message.pluralizable else pseudo(other)
            made.add(message.id, said, context=message.context)
    content: bytes = translate().written(made)
    return content


@contextmanager
def with_arabic(folder: Path) -> Iterator[None]:
    """There are pages in Arabic, too."""
    (folder / "ar.po").write_bytes(arabic())
    caches = (
        languages.tags,
        languages.language,
        languages.choose,
        rendering.environment,
        rendering.script_texts,
    )
    languages.FOLDERS.append(folder)
    try:
        for cache in caches:
            cache.cache_clear()
        yield
    finally:
        languages.FOLDERS.remove(folder)
        for cache in caches:
            cache.cache_clear()
