"""What to cite: BibTeX entries of qrowd, and of the papers behind measures, methods, statistics and conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch
from functools import cache
from importlib import resources

from qrowd.errors import ArgumentError
from qrowd.model.signature import version

KEYWORDS = re.compile(r"^.*keywords = \{(.*)\}.*\n", re.MULTILINE)


@cache
def references() -> Mapping[str, list[str]]:
    """{entry of `references.bib`, or the reason why there is none: its keywords}; the first entry is that of qrowd."""
    text = (resources.files("qrowd.reports") / "references.bib").read_text("utf-8").replace("VERSION", version())
    _, *blocks = text.split("\n\n")
    return {
        KEYWORDS.sub("", f"{block.strip()}\n"): ", ".join(KEYWORDS.findall(f"{block}\n")).split(", ")
        for block in blocks
    }


def citations(texts: Iterable[str]) -> str:
    """The entries of qrowd and of what is named, each once.

    texts : measures, methods, statistics, conventions, or a signature, of which other words are passed over.

    Raises
    ------
    ArgumentError
        A name that is not known.
    """
    entries = [next(iter(references()))]
    for text in texts:
        for word in text.split():
            name = re.split(r"[(@]", word)[0]
            exact = [one for one, words in references().items() if name in words]  # Mean is a measure, mean a method
            alike = (one for one, words in references().items() if any(fnmatch(name.lower(), k.lower()) for k in words))
            found = exact or list(alike)
            if not found and " | " not in text:
                raise ArgumentError(f"{word}: nothing of this name can be cited; qrowd cite lists what can be")
            entries += found
    return "\n".join(dict.fromkeys(entries))
