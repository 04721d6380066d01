"""The commands of the papers with one sentence each, as `qrowd.cli.main` has those of the core."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Papers": {"study": "Recompute a paper, or apply its analyses to files."},
}
