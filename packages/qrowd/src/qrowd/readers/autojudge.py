"""Files of TREC AutoJudge that hold no judgments: nuggets and leaderboards. Its qrels are those of TREC."""

from __future__ import annotations

from qrowd.errors import FileError
from qrowd.readers.exports import Reader, Record, first_record

LEADERBOARD = {"run_id", "measure", "value"}


def is_other(record: Record) -> bool:
    """Whether it is a bank of nuggets, or a score of a leaderboard."""
    is_bank = any(isinstance(record.get(key), list | dict) for key in ("nugget_bank", "claim_bank", "nuggets"))
    return record.keys() >= LEADERBOARD or (is_bank and ("query_id" in record or "qid" in record))


def refuse(text: bytes, name: str) -> list[Record]:
    """Say what is read instead."""
    if first_record(text).keys() >= LEADERBOARD:
        raise FileError(name, "holds scores of systems; qrowd leaderboards --scores FILE reads them")
    raise FileError(
        name, "holds nuggets, and no judgment of a document; read the qrels or the leaderboard of the same judge"
    )


AUTOJUDGE = Reader(is_other, lambda record: [], "", refuse)
