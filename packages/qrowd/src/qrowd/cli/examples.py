"""Examples for the help texts: lines to copy, on the files that `qrowd simulate panel` writes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

EXAMPLES: Mapping[str, Sequence[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
"""{command: lines}."""


def examples_of(command: str) -> str:
    """The examples of a command as they stand below its help text; empty where there are none."""
    lines = EXAMPLES.get(command, ())
    if not lines:
        return ""
    source = " (qrowd simulate panel writes the files)" if any("panel/" in line for line in lines) else ""
    return f"Example{'s' * (len(lines) > 1)}{source}:\n" + "".join(f"  {line}\n" for line in lines)
