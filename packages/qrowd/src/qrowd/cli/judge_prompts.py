"""`qrowd judge prompts`: the prompts that there are, or one of them as it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from qrowd.cli.output import Output, deliver

if TYPE_CHECKING:
    from qrowd.judge import Prompt
    from qrowd.reports.document import Document

EXAMPLE = {"topic": "[topic]", "description": "[description of the topic]", "narrative": "[narrative of the topic]"}


def prompts(
    prompt: Annotated[
        str | None,
        typer.Argument(
            metavar="PROMPT", help="Name or TOML file of one that is shown as it is sent.", show_default="all"
        ),
    ] = None,
    output: Output = None,
) -> None:
    """List the prompts, or show the messages that one of them sends and the answer that it takes."""
    from qrowd.judge import prompt as prompt_of

    deliver(listed() if prompt is None else as_sent(prompt_of(prompt)), output)


def listed() -> Document:
    """All prompts with their form, scale, licence and hash."""
    from pandas import DataFrame

    from qrowd.judge import built_in_prompts
    from qrowd.reports.document import Document, Table

    known = built_in_prompts()
    columns: dict[str, list[str]] = {
        "prompt": [one.id for one in known],
        "version": [one.version for one in known],
        "form": [one.form for one in known],
        "scale": [f"{one.scale[0]:g}-{one.scale[-1]:g}" if one.scale else "-" for one in known],
        "source": [one.source for one in known],
        "licence": [one.licence for one in known],
        "hash": [one.sha256[:12] for one in known],
    }
    table = Table.of("prompts", columns)
    sentence = f"{len(known)} prompts; --as PATH.toml reads another."
    return Document(sentence, (table,), (), lambda: DataFrame(columns))


def as_sent(prompt: Prompt) -> Document:
    """The messages about an example, and the answer that is expected."""
    from pandas import DataFrame

    from qrowd.judge.prompts import ITEMIZED
    from qrowd.reports.document import Document, Note

    n_documents = {"preference": 2, "magnitude": 3}.get(prompt.form, 1)
    items = ["[first item]", "[second item]"] if prompt.form in ITEMIZED else []
    documents = [f"[text of document {number}]" for number in range(1, n_documents + 1)]
    messages = prompt.messages(EXAMPLE, documents, items=items)
    rows = {"role": [one.role for one in messages], "content": [one.content for one in messages]}
    parts = [f"--- {one.role}\n{one.content}\n" for one in messages]
    notes = [Note("answer", answer_of(prompt)), Note("source", f"{prompt.source}; licence {prompt.licence}")]
    if prompt.notice:
        notes.append(Note("notice", prompt.notice))
    if not prompt.delimiters:
        notes.append(Note("delimiters", "none: the model cannot tell what a document says from what it is asked"))
    sentence = "\n".join((f"Prompt {prompt.id}, version {prompt.version}, SHA-256 {prompt.sha256}\n", *parts)).rstrip()
    return Document(sentence, (), tuple(notes), lambda: DataFrame(rows))


def answer_of(prompt: Prompt) -> str:
    """The form of the answer that is asked for, in words."""
    answer = prompt.answer
    grades = ", ".join(f"{grade:g}" for grade in prompt.scale)
    value = {"yes_no": "yes or no", "choice": "A or B", "number": "a number above 0 for each document"}.get(
        answer.format, f"{'grades' if answer.format == 'grades' else 'a grade'} of {grades}"
    )
    keys = prompt.keys(n_values=2)
    place = f", after {answer.marker!r} on the last line" if answer.marker else ""
    if keys:
        more = ", ..." if len(keys) > 1 and not answer.items else ""
        place += (
            f"{' or' if place else ''} in a JSON object with the key{'s' * (len(keys) > 1)} {', '.join(keys)}{more}"
        )
    return value + place + (f"; the judgment is {answer.judgment}" if answer.judgment else "")
