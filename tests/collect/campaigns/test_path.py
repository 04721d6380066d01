"""How many modules an answer passes on its way from the form to the log."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import qrowd
from judging import Clock
from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.plan_tables import plan_from_table
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.events import send
from qrowd.collect.store.invitations import invite
from qrowd.collect.store.sqlite import SqliteStore
from webserver import Answer, Browser, serving

ROOT = Path(qrowd.__file__).parent
PLAN = {
    "campaign": {"name": "pilot", "protocol": "grades"},
    "grades": {"k": 4, "reason": "none"},
    "journey": {"consent": False},
    "topics": [{"label": "t", "title": "bread"}],
    "documents": [{"label": f"d{i}", "text": f"text {i}"} for i in range(4)],
}


@contextmanager
def modules_before_the_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The modules of qrowd in which a function is called, in this thread or the writer's, until an event is stored."""
    modules: set[str] = set()
    stored: list[bool] = []
    commit: Callable[..., None] = SqliteStore._commit

    def look(frame, what, _):
        if what == "call" and not stored and (file := Path(frame.f_code.co_filename)).is_relative_to(ROOT):
            modules.add(str(file.relative_to(ROOT)))
            if frame.f_code is send.__code__:
                stored.append(True)

    def commit_under_observation(store, jobs):
        sys.setprofile(look)
        try:
            commit(store, jobs)
        finally:
            sys.setprofile(None)

    monkeypatch.setattr(SqliteStore, "_commit", commit_under_observation)
    sys.setprofile(look)
    try:
        yield modules
    finally:
        sys.setprofile(None)
    assert stored, "no event was stored"


def test_a_grade_passes_at_most_fourteen_modules_from_the_form_to_the_log(tmp_path, monkeypatch):
    with open_store(tmp_path / "made.db") as store:
        number = store.write(lambda c: create_campaign(c, plan_from_table(PLAN), 1e9))
        token = store.write(lambda c: invite(c, number, "ann", 1e9))
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served", (tmp_path / "made.db").read_bytes(), Clock()) as place:
        browser = Browser(place.app)

        def post(path: str, page: Answer, **fields: str) -> None:
            fields |= {name: page.field(name) for name in ("csrf", "key", "shown") if f'name="{name}"' in page.text}
            assert browser.post(path, fields).status == 303

        post(f"/join/{token}", browser.get(f"/join/{token}"))
        post("/c/pilot/act", browser.get("/c/pilot"), do="go_on")
        post("/c/pilot/act", browser.get("/c/pilot"), do="judge", position="0", text="1")  # now all is in memory
        page = browser.get("/c/pilot")
        with modules_before_the_log(monkeypatch) as modules:
            post("/c/pilot/act", page, do="judge", position="1", text="1")
    assert len(modules) <= 14, sorted(modules)
