"""Changes of a campaign in words, a line each, as the command and the page show them."""

from __future__ import annotations

from qrowd.collect.campaigns.changes import Changes

MOST = 60  # characters of a text
LISTED = 5  # labels that are named


def change_lines(changes: Changes) -> list[str]:
    """One line for each thing that is other than before; none where nothing is."""
    lines = [f"{what}: {_short(before)} -> {_short(after)}" for what, before, after in changes.reworded]
    for labels, what in (
        (changes.topics, "new topic"),
        (changes.documents, "new document"),
        (changes.topics_reworded, "corrected topic"),
        (changes.documents_reworded, "corrected document"),
        (changes.gold, "topic with other gold questions"),
    ):
        if labels:
            lines.append(f"{_counted(len(labels), what)}: {_named(labels)}")
    if changes.units:
        lines.append(_counted(len(changes.units), "new unit"))
    had = {unit.topic for unit in changes.units} & changes.judged.keys()
    lines += [
        f"topic {topic!r}: {_counted(changes.judged[topic], 'assessor')} had a unit of it and get no further one"
        for topic in sorted(had)
    ]
    return lines


def _short(text: str) -> str:
    text = " ".join(text.split()) or "none"
    return text if len(text) <= MOST else f"{text[: MOST - 3]}..."


def _named(labels: tuple[str, ...]) -> str:
    rest = len(labels) - LISTED
    return ", ".join(labels[:LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _counted(n: int, what: str) -> str:
    first, _, rest = what.partition(" with ")
    return f"{n} {first}{'s' * (n != 1)}{' with ' + rest if rest else ''}"
