"""The commands of the server with one sentence each, as `qrowd.cli.main` has those of the core."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Collect judgments": {
        "serve": "Serve campaigns to assessors in a browser. Ctrl-C stops the server without loss.",
        "campaign": "Create, watch and export campaigns of judging.",
        "account": "Add, list and change accounts of the judging server.",
    }
}
