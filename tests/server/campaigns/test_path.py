"""How many modules and shapes of data an answer passes on its way from the form to the commit."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import qrowd_server
from judging import Clock
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.store.base import GroupWriter, Store
from qrowd_server.store.engine import open_store
from qrowd_server.store.invitation_links import invite
from webserver import Answer, Browser, serving

ROOT = Path(qrowd_server.__file__).parent.parent.parent.parent  # all distributions
MOST_MODULES = 20
MOST_SHAPES = 8
PLAN = {
    "campaign": {"name": "pilot", "protocol": "grades"},
    "grades": {"k": 4, "reason": "none"},
    "journey": {"consent": False},
    "topics": [{"label": "t", "title": "bread"}],
    "documents": [{"label": f"d{i}", "text": f"text {i}"} for i in range(4)],
}


class Walk:
    """The modules of qrowd in which a function is called until the commit, and the classes of data that are made."""

    def __init__(self) -> None:
        self.modules, self.shapes, self.is_over = set[str](), set[str](), False

    def look(self, frame: Any, what: str, _: object) -> None:
        if what != "call" or self.is_over:
            return
        code = frame.f_code
        file = Path(code.co_filename)
        if file.is_relative_to(ROOT) and code.co_name != "<module>":
            self.modules.add(str(file.relative_to(ROOT)))
        elif code.co_filename == "<string>" and code.co_name == "__init__":  # of a data class
            made = type(frame.f_locals["self"])
            if made.__module__.startswith(("qrowd.", "qrowd_server.")):
                self.shapes.add(made.__name__)
        elif code.co_filename.startswith("<string>") and "_cls" in frame.f_locals:  # of a named tuple
            made = frame.f_locals["_cls"]
            if made.__module__.startswith(("qrowd.", "qrowd_server.")):
                self.shapes.add(made.__name__)

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, which runs in another thread, with its calls."""

        def run(*arguments: Any) -> Any:
            sys.setprofile(self.look)
            try:
                return function(*arguments)
            finally:
                sys.setprofile(None)

        return run


@contextmanager
def walking(monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    walk = Walk()

    def commit(writer: GroupWriter, jobs: Any) -> None:
        walk.watched(before)(writer, jobs)
        walk.is_over = True

    before = GroupWriter._try
    monkeypatch.setattr(GroupWriter, "_try", commit)
    monkeypatch.setattr(Store, "read", walk.watched(Store.read))
    sys.setprofile(walk.look)
    try:
        yield walk
    finally:
        sys.setprofile(None)
    assert walk.is_over, "nothing was committed"


def test_an_answer_passes_few_modules_and_shapes_from_the_form_to_the_commit(tmp_path, monkeypatch):
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
        with walking(monkeypatch) as walk:
            post("/c/pilot/act", page, do="judge", position="1", text="1")
    assert len(walk.modules) <= MOST_MODULES, "\n".join(sorted(walk.modules))
    assert len(walk.shapes) <= MOST_SHAPES, "\n".join(sorted(walk.shapes))
