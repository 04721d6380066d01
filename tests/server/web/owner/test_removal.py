"""From three commands to the first answer; and a campaign is deleted in the browser, by its name, and comes back."""

import json
import re

from command_line import status_of
from judging import Clock
from qrowd_server.store.materials import find_campaign
from qrowd_server.store.state_rows import assessors_of
from server.web.owner.estate import estate
from server.web.owner.test_owner_routes import multipart
from webserver import Browser, serving


def archive_of(owner, base="/owner/c/small", *, names=False):
    """The archive, from the links and the form of the pages Results and Setup."""
    csrf = owner.get(f"{base}/setup").field("csrf")
    if names:
        return owner.post(f"{base}/export", {"csrf": csrf, "file": "archive/jsonl"}), csrf
    return owner.get(f"{base}/export/archive/jsonl"), csrf


def arrived(archive):
    """The names under which assessors came, as an archive has them."""
    events = [json.loads(line) for line in archive.body.splitlines()[1:]]
    return {one["data"]["name"] for one in events if one["kind"] == "arrived"}


def delete(owner, csrf, name, base="/owner/c/small"):
    return owner.post(f"{base}/delete", {"csrf": csrf, "do": "delete", "name": name})


def test_a_campaign_is_deleted_once_it_is_stopped_and_its_archive_was_downloaded_and_can_be_imported(tmp_path):
    with estate(tmp_path) as made:
        owner = made.owner()
        answer, csrf = archive_of(owner)
        assert "once it is stopped" in owner.get("/owner/c/small/setup").text
        answer = delete(owner, csrf, "small")
        assert "stop it first" in answer.text
        owner.post("/owner/c/small/status", {"csrf": csrf, "do": "stop"})
        answer = delete(owner, csrf, "small")  # stopping is an event that the archive does not hold
        assert "Download the archive first" in answer.text
        archive, csrf = archive_of(owner)
        assert archive.header("content-disposition") == 'attachment; filename="small.archive"'
        assert "Type the name" in delete(owner, csrf, "smal").text
        assert made.store.read(lambda c: find_campaign(c, "small")) is not None
        answer = delete(owner, csrf, "small")
        assert (answer.status, answer.header("location")) == (303, "/owner")
        assert made.store.read(lambda c: find_campaign(c, "small")) is None
        assert owner.get("/owner/c/small").status == 404
        body, headers = multipart({"csrf": csrf}, [("small.archive", archive.body)])
        answer = owner.post("/owner/new", body, headers)
        assert (answer.status, answer.header("location")) == (303, "/owner/c/small")
        again, _ = archive_of(owner)
        events = [[json.loads(line) for line in one.body.splitlines()[1:]] for one in (archive, again)]
        assert events[0] == events[1]


def test_the_archive_before_a_deletion_has_names_only_where_they_are_asked_for_and_the_log_says_so(tmp_path):
    with estate(tmp_path) as made:
        owner = made.owner()
        csrf = owner.get("/owner/c/small/setup").field("csrf")
        owner.post("/owner/c/small/status", {"csrf": csrf, "do": "stop"})
        people = made.store.read(lambda c: {one.name for one in assessors_of(c, 1) if not one.is_model})
        plain, _ = archive_of(owner)
        named, csrf = archive_of(owner, names=True)
        assert not people & arrived(plain)
        assert people <= arrived(named)
        assert named.header("content-disposition") == 'attachment; filename="small-names.archive"'
        assert b'"names_exported"' not in plain.body
        assert b'"names_exported"' in named.body, "the archive itself says that it was taken with names"
        assert delete(owner, csrf, "small").status == 303, "and it holds what happened last"


def test_a_file_that_is_no_archive_is_refused_in_a_line(tmp_path):
    with estate(tmp_path) as made:
        owner = made.owner()
        csrf = owner.get("/owner/new").field("csrf")
        body, headers = multipart({"csrf": csrf}, [("a.archive", b"{}\n")])
        answer = owner.post("/owner/new", body, headers)
        assert "not a campaign" in answer.text
        assert 'role="alert"' in answer.text


def test_three_commands_lead_from_nothing_to_the_first_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert status_of("campaign", "init", "shop") == 0
    assert status_of("campaign", "create", "shop") == 0
    (tmp_path / "served").mkdir()
    # The third is `qrowd serve`, which prints the link that `owner` opens.
    with serving(tmp_path / "served", (tmp_path / "judgments.db").read_bytes(), Clock()) as place:
        owner = place.owner()
        path = "/owner/c/shop/setup"
        page = owner.post(path, {"csrf": owner.get(path).field("csrf"), "do": "names", "names": "ann"})
        link = re.search(r"/join/[\w-]+", page.text)[0]
        ann = Browser(place.app)

        def send(to, page, **fields):
            hidden = {name: page.field(name) for name in ("csrf", "key", "shown") if f'name="{name}"' in page.text}
            assert ann.post(to, {**hidden, **fields}).status == 303

        send(link, ann.get(link))
        send("/c/shop/act", ann.get("/c/shop"), do="consent", agreed="yes")
        send("/c/shop/act", ann.get("/c/shop"), do="judge", position="0", text="2")
        answers = owner.get("/owner/c/shop/export/judgments/jsonl").text.splitlines()
        assert [json.loads(line)["value"] for line in answers] == [2.0]
