"""Values of options that are lists, pairs, or files: text from the command line as what functions take."""

from __future__ import annotations

from qrowd.errors import ArgumentError
from qrowd.model.conventions import Duplicates


def pair_of(systems: list[str] | None) -> tuple[str, str] | None:
    """The two systems of --systems."""
    if systems is None:
        return None
    if len(systems) != 2:
        raise ArgumentError(f"--systems {' '.join(systems)}: two systems were expected, found {len(systems)}")
    return systems[0], systems[1]


def related_of(texts: list[str] | None) -> dict[str, list[str]] | None:
    """{assessors: systems} of --related; a pattern of assessors that is given twice is related to both."""
    if not texts:
        return None
    related: dict[str, list[str]] = {}
    for text in texts:
        assessors, equals, systems = text.partition("=")
        if not (assessors and equals and systems):
            raise ArgumentError(f"--related {text}: expected ASSESSORS=SYSTEMS, as in 'qwen*=dual*'")
        related.setdefault(assessors, []).append(systems)
    return related


def numbers(name: str, text: str | None) -> list[int] | None:
    """Whole numbers above 0, separated by commas."""
    if text is None:
        return None
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        values = [0]
    if min(values) < 1:
        raise ArgumentError(f"{name} {text}: whole numbers above 0 were expected, as in 25,50,100")
    return values


def read_duplicates(path: str) -> Duplicates:
    """The duplicates of a file."""
    from qrowd import files

    return files.read_duplicates(path)


def grades_of(text: str) -> set[float]:
    """The grades of a list such as 2,3."""
    try:
        return {float(part) for part in text.split(",")}
    except ValueError:
        raise ArgumentError(f"--relevant-grades {text}: grades separated by commas were expected, as in 2,3") from None
