"""Files of TREC AutoJudge that hold no judgments: nuggets and leaderboards. Its qrels are those of TREC."""

from __future__ import annotations

from typing import Any

from qrowd.errors import FileError
from qrowd.readers.exports import first_record

LEADERBOARD = {"run_id", "measure", "value"}


def recognises(text: bytes, name: str) -> bool:
    """Whether the first record is a bank of nuggets, or a score of a leaderboard."""
    return _kind(text) != ""


def read(text: bytes, name: str) -> dict[str, list[Any]]:
    """Nothing.

    Raises
    ------
    FileError
        Always: it names what is read instead.
    """
    if _kind(text) == "leaderboard":
        raise FileError(name, "holds scores of systems; qrowd leaderboards --scores FILE reads them")
    raise FileError(
        name, "holds nuggets, and no judgment of a document; read the qrels or the leaderboard of the same judge"
    )


def _kind(text: bytes) -> str:
    record = first_record(text)
    if record.keys() >= LEADERBOARD:
        return "leaderboard"
    is_bank = any(isinstance(record.get(key), list | dict) for key in ("nugget_bank", "claim_bank", "nuggets"))
    return "nuggets" if is_bank and ("query_id" in record or "qid" in record) else ""
