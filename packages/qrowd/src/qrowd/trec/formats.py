"""The formats of TREC's lines, and every mistake in a text of such lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite

from qrowd.errors import FileError
from qrowd.model.labels import number_in, plural

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Format:
    """A line format.

    line : the words for its fields.
    number : which field must be a finite number, if any.
    labels : the fields that are read as labels.
    key : the fields that no two lines may share, which are labels.
    noun : what such lines make up.
    rank : which field is the rank, if any.
    problem : what is wrong with the fields of one line beside that, or None.
    """

    line: str
    number: int | None
    labels: tuple[int, ...]
    key: tuple[int, ...]
    noun: str
    rank: int | None = None
    problem: Callable[[list[bytes]], str | None] | None = None

    @property
    def n_fields(self) -> int:
        return len(self.line.split())

    @property
    def roles(self) -> tuple[str, ...]:
        """What the labels name: fields that name documents share their labels."""
        names = [self.line.split()[field] for field in self.labels]
        return tuple("document" if name in ("preferred", "other", "a", "b") else name for name in names)


RUN = Format("topic Q0 document rank score tag", number=4, labels=(0, 2), key=(0, 2), noun="a run", rank=3)
TAGGED_RUN = Format(RUN.line, number=4, labels=(0, 2, 5), key=(0, 2, 5), noun="a run", rank=3)
QRELS = Format("topic iteration document grade", number=3, labels=(0, 1, 2), key=(), noun="qrels")


def _wrong_pair(fields: list[bytes]) -> str | None:
    return f"document {_shown(fields[1])} cannot be preferred to itself" if fields[1] == fields[2] else None


def _wrong_winner(fields: list[bytes]) -> str | None:
    if fields[3] in fields[1:3]:
        return _wrong_pair(fields)
    _, a, b, chosen = map(_shown, fields)
    hint = "levels by group are read with format='qrels_prefs'"
    return f"the preferred document {chosen!r} is neither {a!r} nor {b!r}; {hint}"


def _wrong_level(fields: list[bytes]) -> str | None:
    below = number_in(fields[-1]) < 0
    return f"expected a level of 0 or more, found {_shown(fields[-1])!r}" if below else None


PREFERENCES: dict[str, Format] = {
    "pairs": Format("topic preferred other", None, (0, 1, 2), (), "preferences", problem=_wrong_pair),
    "winner": Format("topic a b preferred", None, (0, 1, 2, 3), (), "preferences", problem=_wrong_winner),
    "prefs": Format("topic group subgroup document level", 4, (0, 1, 2, 3), (), "preferences", problem=_wrong_level),
    "qrels_prefs": Format("topic group document level", 3, (0, 1, 2), (), "preferences", problem=_wrong_level),
}


def fields_of(line: bytes, format: Format) -> list[bytes]:
    """The fields of a line; the tag of a run is all that follows the score, as for trec_eval."""
    return line.strip().split(None, format.n_fields - 1 if format is RUN else -1)


def with_short_tags(text: bytes) -> bytes:
    """The text of a run, of whose tags the first words stay; they name nothing."""
    lines = text.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    return b"\n".join(b" " + b" ".join(line.split()[:6]) if len(line.split()) > 6 else line for line in lines)


def mistakes(text: bytes, name: str, format: Format) -> Iterator[FileError]:
    """Every mistake in a file's text, line by line: the slow, plain reading that writes the messages."""
    if b"\0" in text:
        yield FileError(name, "is not plain text: it holds zero bytes, as UTF-16 and binary files do")
        return
    seen: dict[tuple[bytes, ...], tuple[int, bytes]] = {}
    number_word = "" if format.number is None else format.line.split()[format.number]
    levels: dict[tuple[bytes, ...], tuple[float, int]] = {}
    for number, line in enumerate(text.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        fields = fields_of(line, format)
        if not fields or line.startswith(b"#"):
            continue
        if len(fields) != format.n_fields:
            yield FileError(name, f"expected {format.line!r}, found {_counted(len(fields), format)}", number)
            continue
        if format.number is not None and not isfinite(number_in(fields[format.number])):
            found = _shown(fields[format.number])
            yield FileError(name, f"expected a finite number as {number_word}, found {found!r}", number)
        elif format.problem and (problem := format.problem(fields) or _clash(format, fields, number, levels)):
            yield FileError(name, problem, number)
        if format.key:
            first, tag = seen.setdefault(tuple(fields[i] for i in format.key), (number, fields[-1]))
            if first != number:
                topic, document, *_ = (_shown(fields[i]) for i in format.key)
                again = f"document {document} is in the list of topic {topic} twice (first in line {first})"
                two = f"the tags are {_shown(tag)!r} and {_shown(fields[-1])!r}: name systems by column to read both"
                yield FileError(name, f"{again}; {two if tag != fields[-1] else 'keep one of them'}", number)


def _clash(
    format: Format, fields: list[bytes], line: int, levels: dict[tuple[bytes, ...], tuple[float, int]]
) -> str | None:
    """Why a level contradicts an earlier one of the same document and group; `levels` remembers them and their lines.

    Within a subgroup a document has one level; within a group it is Bad (level 0) everywhere or nowhere.
    """
    if format.number is None:
        return None
    *groups, document, _ = fields
    level = number_in(fields[format.number])
    before, first = levels.setdefault((*groups, document), (level, line))
    rule = ", of the same topic and group"
    if before == level:
        before, first = levels.setdefault((*groups[:2], b"", document), (level, line))
        rule = "; level 0, which means Bad, holds in a whole group or not at all"
        if (before == 0) == (level == 0):
            return None
    return f"document {_shown(document)} has level {level:g} here and {before:g} in line {first}{rule}"


def _counted(n_fields: int, format: Format) -> str:
    """How many fields a line has, and which other format has as many."""
    if format in PREFERENCES.values():
        like = next((other.line for other in PREFERENCES.values() if other.n_fields == n_fields), None)
        hint = f", like {like!r}; choose with format=..." if like else ""
    else:
        other = QRELS if format.noun == RUN.noun else RUN
        hint = f", like {other.noun}; were runs and judgments swapped?" if n_fields == other.n_fields else ""
        if format is TAGGED_RUN and n_fields > format.n_fields:
            hint = "; a tag with blanks cannot name a system: join its words, or name systems by file"
        hint += " (judgments of TREC RAG: trec-rag:FILE)" if hint and other.noun == RUN.noun else ""
    return f"{plural(n_fields, 'field')}{hint}"


def _shown(field: bytes) -> str:
    """A field as one can print it."""
    text = field.decode(errors="replace")
    return text if len(text) <= 60 else f"{text[:60]}..."
