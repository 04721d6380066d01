"""Servers of two hosts behind nginx over PostgreSQL: answers kept under kills, and answers a second, by `make hosts`.

QROWD_HOSTS says how much: kills, answers, and seconds of each rate, by default 102,100000,20.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from side_by_side import finish, promise

from soak import hosts


def kept(kills: int, answers: int, clients: int = 60) -> None:
    """Kill hosts, processes, the database and the proxy while assessors judge."""
    outcome, killed = hosts.soaked(kills, clients, answers)
    n, each = len(outcome.log.acknowledged), ", ".join(f"{n} {what}" for what, n in killed.items())
    print("\n".join(outcome.wrong[:20]))
    promise(
        "answers lost, doubled or changed, and other things wrong",
        len(outcome.wrong),
        at_most=0,
        beside=f"{n:,} answers acknowledged to {clients} clients in {outcome.seconds:.0f} s",
        limit="invariants of the store, read after the servers ended",
    )
    promise(
        "kills",
        outcome.kills,
        at_least=kills,
        beside=f"{each}; {outcome.log.broken:,} requests broke, {outcome.log.waited:,} were asked to wait",
        limit="how many were asked for",
    )


def rates(seconds: float) -> None:
    """Answers a second of PostgreSQL beside SQLite, in turn."""
    rounds, wrong = hosts.rates(seconds)
    print("\n".join(wrong[:20]))
    each = "; ".join(f"{one.two:.0f} and {one.sqlite:.0f}" for one in rounds)
    promise(
        "answers a second of two servers over PostgreSQL, as a share of one over SQLite",
        hosts.share(rounds, "two"),
        at_least=0.5,
        beside=f"median of {len(rounds)} rounds: {each} a second; four servers {hosts.share(rounds, 'four'):.3g}; load "
        f"average {os.getloadavg()[0]:.1f}",
        limit=f"instructions: servers, database, proxy and clients share {os.cpu_count()} cores",
    )
    promise("things wrong after measuring the rates", len(wrong), at_most=0, beside="all rounds", limit="as above")


if __name__ == "__main__":
    n_kills, n_answers, seconds = os.environ.get("QROWD_HOSTS", "102,100000,20").split(",")
    kept(int(n_kills), int(n_answers))
    rates(float(seconds))
    finish()
