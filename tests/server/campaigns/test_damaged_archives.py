"""Whatever is in an archive: a whole campaign, or one line that says why not, and then nothing of it is there."""

import asyncio
import copy
import json
from random import Random
from typing import Any

import pytest

from judging import Clock, created, seeded, small_plan, work
from qrowd.errors import QrowdError
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.store.engine import open_store
from qrowd_server.store.materials import campaigns

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**62, 0.5, -0.0, 1e300, "", "0", "1", "left", "both", "40", "1e999", "nan",
    "0,5", "１２", "\u202e", "x" * 300, [], [1], {}, {"a": 1}, "t0", "d0", "arrived", "judged",
]  # fmt: skip


def damaged(value: Any, rng: Random) -> Any:
    """The same JSON with one thing in it taken away or replaced."""
    value = copy.deepcopy(value)
    inside = value
    while True:
        keys: list[Any] = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        if not keys:
            return value
        key = rng.choice(keys)
        if isinstance(inside[key], dict | list) and inside[key] and rng.random() < 0.8:
            inside = inside[key]
            continue
        if rng.random() < 0.3:
            del inside[key]
        else:
            inside[key] = rng.choice(ODD)
        return value


@pytest.mark.parametrize(
    "protocol", ["grades", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("magnitude", "preference"))]
)
def test_a_damaged_archive_is_taken_whole_or_not_at_all(tmp_path, protocol):
    rng, outcomes = Random(13), set()
    with open_store(tmp_path / "judgments.db") as store:
        created(store, small_plan(protocol, **({"k": 4} if protocol == "magnitude" else {})))
        service = seeded(store, clock=Clock(step=7.0))
        ann = asyncio.run(service.arrive("pilot", "link", "ann"))
        asyncio.run(work(service, ann, Random(1), 10))
        archive = [json.loads(line) for line in store.read(lambda c: list(write_archive(c, "pilot")))]
        for number in range(20):
            for event in archive[1:]:  # another campaign and other people each time
                for name in ("assessor_id", "assignment_id"):
                    event[name] = None if event[name] is None else event[name] + 1
                event["idem_key"] = None
            archive[0]["plan"]["campaign"]["name"] = f"moving-{number}"
            place = rng.choice([0, 0, *range(len(archive))])
            lines = [json.dumps(damaged(one, rng) if i == place else one) for i, one in enumerate(archive)]
            before = {row.name for row in store.read(campaigns)}
            try:
                name = store.write(lambda c, lines=lines: read_archive(c, lines))
            except QrowdError:
                outcomes.add("refused")
                assert {row.name for row in store.read(campaigns)} == before
            else:
                outcomes.add("taken")
                assert {row.name for row in store.read(campaigns)} == before | {name}
    assert outcomes == {"taken", "refused"}


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{}", b"[]", b"null", b"\xff", b"{" * 10_000, b"[" * 100_000,
        b'{"format": "qrowd campaign", "version": 1}',
        b'{"format": "qrowd campaign", "version": 1, "plan": {"campaign": {"name": "../x"}}, "created": 0}',
        b'{"format": "qrowd campaign", "version": 1, "plan": 1, "created": "x", "units": 1}',
        b'{"format": "qrowd campaign", "version": 1, "plan": {}, "created": NaN, "units": {}}',
        b"\x1f\x8b" + b"\x00" * 50,
    ],
)  # fmt: skip
def test_what_is_no_archive_is_refused(tmp_path, line):
    with open_store(tmp_path / "judgments.db") as store:
        with pytest.raises(QrowdError):
            store.write(lambda c: read_archive(c, [line]))
        assert store.read(campaigns) == []
