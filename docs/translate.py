"""Bring the catalogues of the pages up to date with the texts of the program.

`python docs/translate.py` adds new texts to web/locale/*.po, drops those that are gone, and lists
what has no translation. `python docs/translate.py fr` begins a new language.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

SOURCE = Path(__file__).resolve().parent.parent / "packages" / "qrowd-server" / "src" / "qrowd_server"
LOCALE = SOURCE / "web" / "locale"
KEYWORDS = {
    "_": None,
    "N_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "Message": None,
    "Text": None,  # `Message` by another name
    "Refusal": (2,),
    "Problem": (3,),
}
LEFT_OUT = (
    '"Project-Id',
    '"Report-Msgid',
    '"POT-Creation',
    '"PO-Revision',
    '"Last-Trans',
    '"Language-Team',
    '"Generated-By',
)
#: For owners, operators and programs, in English.
NOT_SHOWN = {"api.py", "api_requests.py", "owner", "downloads.py", "models.py", "model_questions.py"}


def files() -> list[Path]:
    """The files that hold texts of pages."""
    python = [path for name in ("protocols", "campaigns", "store", "web") for path in (SOURCE / name).rglob("*.py")]
    templates = (SOURCE / "web" / "templates").rglob("*.html")
    return sorted(path for path in [*python, *templates] if not NOT_SHOWN & set(path.parts))


def extracted() -> Catalog:
    """All texts of the program that are to be translated, each with the places where it is used."""
    catalogue = Catalog(project="qrowd", charset="utf-8", fuzzy=False)
    for path in files():
        method = "python" if path.suffix == ".py" else "jinja2.ext:babel_extract"
        options = {} if path.suffix == ".py" else {"trimmed": "true", "trim_blocks": "true", "newstyle_gettext": "true"}
        for _, text, _, context in extract_from_file(method, path, KEYWORDS, options=options):
            if text and (not isinstance(text, tuple) or all(text)):
                catalogue.add(text, context=context, locations=[(path.relative_to(SOURCE).as_posix(), None)])
    return catalogue


def read(path: Path) -> Catalog:
    """The catalogue of a language."""
    return read_po(BytesIO(path.read_bytes()), locale=path.stem.replace("-", "_"))


def updated(catalogue: Catalog, texts: Catalog) -> Catalog:
    """The catalogue with the texts of now: new ones without a translation, none that is gone."""
    catalogue.update(texts, no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """The content of a catalogue's file, without headers that change or say nothing."""
    content = BytesIO()
    write_po(content, catalogue, width=110, sort_by_file=True, no_location=True)
    lines = content.getvalue().decode().split("\n")
    return "\n".join(line for line in lines if not line.startswith(LEFT_OUT)).encode()


def missing(catalogue: Catalog) -> list[str]:
    """The texts without a translation."""
    return [
        f"{one.context}: {one.id}" if one.context else str(one.id)
        for one in catalogue
        if one.id and not (all(one.string) if one.pluralizable else one.string)
    ]


def main(languages: list[str]) -> None:
    texts = extracted()
    for tag in languages:
        if not (LOCALE / f"{tag}.po").exists():
            new = Catalog(locale=Locale.parse(tag, sep="-"), project="qrowd", charset="utf-8", fuzzy=False)
            (LOCALE / f"{tag}.po").write_bytes(written(new))
    for path in sorted(LOCALE.glob("*.po")):
        catalogue = updated(read(path), texts)
        path.write_bytes(written(catalogue))
        absent = missing(catalogue)
        print(f"{path.name}: {len(texts) - len(absent)} of {len(texts)} texts are translated")
        print(*(f"  {text}" for text in absent), sep="\n", end="\n" if absent else "")


if __name__ == "__main__":
    main(sys.argv[1:])
