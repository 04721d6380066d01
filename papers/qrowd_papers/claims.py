"""What a paper prints beside what we compute: the claims of all five papers in one shape."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qrowd.reports.document import Table

MATCH = "match"
NOT_PUBLIC = "not reachable: the data is not public"


@dataclass(frozen=True)
class Claim:
    """One printed number or statement.

    where : the section, table or figure. what : the quantity. printed, ours : its value there and here.
    data : the data on which ours was computed. holds : whether the statement is true of these data, None if they were
    simulated so that it is. verdict : MATCH, NOT_PUBLIC, or "differs: ..." with the reason.
    """

    where: str
    what: str
    printed: str
    ours: str
    verdict: str = NOT_PUBLIC
    data: str = ""
    holds: bool | None = None


def verdict(agrees: object, reason: str) -> str:
    """MATCH, or that it differs and why."""
    return MATCH if agrees else f"differs: {reason}"


def claims_table(title: str, claims: Iterable[Claim]) -> Table:
    """The claims as a table; the columns `data` and `holds here` only if a claim names its data."""
    claims = list(claims)
    if not any(claim.data for claim in claims):
        rows = [[one.where, one.what, one.printed, one.ours, one.verdict] for one in claims]
        return Table(title, ["where", "what", "printed", "ours", "verdict"], rows)
    holds = {None: "-", True: "yes", False: "no"}
    rows = [[one.where, one.what, one.printed, one.ours, one.data, holds[one.holds], one.verdict] for one in claims]
    return Table(title, ["where", "what", "printed", "ours", "data", "holds here", "verdict"], rows)
