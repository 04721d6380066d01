"""Texts for assessors that remember what they were made of, so that a page can say them in another language.

A `Message` is its English sentence, and carries the sentence with named placeholders beside the values: the first is
what a catalogue translates. Programs and logs use it as the text that it is. `web.languages` translates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Value = str | int | float


def N_(text: str) -> str:
    """Mark a text for the catalogues, where it is written and not yet shown."""
    return text


class Message(str):
    """An English text; `template` is the text with placeholders such as `%(n)s`, `values` is what they stand for.

    Whole numbers are written with commas. A text without values may hold any character.

    >>> Message("Use at most %(longest)s characters.", longest=2000)
    'Use at most 2,000 characters.'
    """

    template: str
    values: Mapping[str, Value]

    def __new__(cls, template: str, /, **values: Value) -> Message:
        english = {name: f"{value:,}" if type(value) is int else value for name, value in values.items()}
        made = super().__new__(cls, template % english if values else template)
        made.template, made.values = template, values
        return made


@dataclass(frozen=True)
class Block:
    """A paragraph of whole sentences; as a list, one item for each."""

    sentences: tuple[Message, ...]
    is_list: bool = False


class Instructions(str):
    """An English text of several blocks, which it remembers."""

    blocks: tuple[Block, ...]

    def __new__(cls, blocks: tuple[Block, ...]) -> Instructions:
        made = super().__new__(cls, joined(blocks))
        made.blocks = blocks
        return made


def joined(blocks: tuple[Block, ...], translate: Callable[[Message], str] = str, space: str = " ") -> str:
    """Blocks as plain text. space : between sentences."""
    parts = []
    for block in blocks:
        sentences = [translate(sentence) for sentence in block.sentences]
        parts.append("\n".join(f"- {one}" for one in sentences) if block.is_list else space.join(sentences))
    return "\n\n".join(parts)
