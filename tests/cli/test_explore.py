"""`qrowd explore`: the page that it writes or serves, and what it refuses."""

import http.client
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import qrowd as library
from qrowd.cli.page_server import page_server
from qrowd.reports.explorer import explore

PANEL = ["--runs", "panel/runs", "--judgments", "panel/judges"]
TEXTS = ["--topics", "panel/topics.tsv", "--documents", "panel/documents.jsonl"]


def header_of(page: str) -> dict:
    """What the page says of itself."""
    return json.loads(re.search(r'<script type="application/json" id="header">(.*?)</script>', page, re.DOTALL)[1])


def payload_of(page: str) -> str:
    return re.search(r'id="payload">(.*?)</script>', page, re.DOTALL)[1].strip()


def read_panel():
    return library.read_runs("panel/runs"), library.read_judgments("panel/judges")


def test_the_page_holds_what_the_library_computes(qrowd, folder):
    outcome = qrowd("explore", *PANEL, "-m", "nDCG@10", "AP", "--rel", "1", "2", "-o", "page.html")
    assert outcome.status == 0, outcome.err
    assert "wrote page.html" in outcome.err
    page = Path("page.html").read_text("utf-8")
    expected = explore(*read_panel(), ["nDCG@10", "AP"], rel=[1, 2], rng=1).to_html()
    assert payload_of(page) == payload_of(expected)
    assert header_of(page)["command"].startswith("qrowd explore --runs panel/runs")
    assert [one["name"] for one in header_of(page)["measures"]] == ["nDCG@10", "AP(rel=1)", "AP(rel=2)"]


def test_without_options_it_writes_explore_html_and_says_what_the_page_holds(qrowd, folder):
    outcome = qrowd("explore", *PANEL)
    assert outcome.status == 0, outcome.err
    assert outcome.out == "12 systems, 8 assessors and 25 topics by nDCG@10, AP, P@10.\n"
    assert header_of(Path("explore.html").read_text("utf-8"))["documents"]["has_texts"] is False


def test_files_by_position_are_judgments_and_runs(qrowd, folder):
    outcome = qrowd("explore", "panel/judges/ann.qrels", "panel/runs/bm25.run", "panel/runs/hybrid.run", "-o", "-")
    assert outcome.status == 0, outcome.err
    header = header_of(outcome.out)
    assert (header["systems"], header["assessors"]) == (["bm25", "hybrid"], ["ann"])
    assert "2 systems, 1 assessor and 25 topics" in outcome.err


def test_methods_in_a_process_of_their_own_make_the_same_page(qrowd, folder):
    arguments = [*PANEL, "-m", "AP", "--method", "sgl_rmse_md(n_resamples=20)", "-o", "page.html"]
    pages = []
    for more in ([], ["--processes", "1"]):
        assert qrowd("explore", *arguments, *more).status == 0
        pages.append(payload_of(Path("page.html").read_text("utf-8")))
    assert pages[0] == pages[1]


def test_texts_methods_depth_and_title_are_on_the_page(qrowd, folder):
    arguments = [*PANEL, *TEXTS, "--method", "uniform", "--depth", "3", "--title", "Our systems", "-o", "page.html"]
    assert qrowd("explore", *arguments).status == 0
    header = header_of(Path("page.html").read_text("utf-8"))
    assert header["title"] == "Our systems"
    assert header["documents"] == {"depth": 3, "has_texts": True, "has_comments": False}
    assert [one["name"] for one in header["methods"]] == ["mean", "uniform"]
    assert all(topic["text"] for topic in header["topics"])


def test_preferences_are_read_as_qrowd_prefer_reads_them(qrowd, folder):
    arguments = ["--runs", "panel/runs", "--preferences", "panel/preferences.csv"]
    assert qrowd("explore", *arguments, "-o", "page.html").status == 0
    page = Path("page.html").read_text("utf-8")
    preferences = library.read_preferences("panel/preferences.csv")
    assert payload_of(page) == payload_of(explore(library.read_runs("panel/runs"), preferences).to_html())
    assert header_of(page)["kind"] == "preferences"


def test_notes_name_options_as_they_are_typed(qrowd, folder):
    for i, name in enumerate(("ann", "bob")):
        Path(f"{name}.qrels").write_text(f"q01 0 q01-00000 {1 + 2 * i}\nq01 0 q01-00001 0\n")
    outcome = qrowd("explore", "--runs", "panel/runs", "--judgments", "ann.qrels", "bob.qrels", "-o", "page.html")
    assert outcome.status == 0, outcome.err
    notes = header_of(Path("page.html").read_text("utf-8"))["notes"]
    assert any("--scale" in note for note in notes)


def test_a_note_says_how_to_make_a_large_page_smaller(qrowd, folder, monkeypatch):
    monkeypatch.setattr("qrowd.cli.explore.LARGE", 100_000)
    outcome = qrowd("explore", *PANEL, "-m", "AP", "-o", "page.html")
    assert outcome.status == 0
    assert re.search(r"^note: the page has \d+ MB; .* --depth 0, make it smaller$", outcome.err, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*PANEL, "-o", "page.pdf"], "--output page.pdf: the page is HTML; give a name that ends in .html"),
        ([*PANEL, "-o", "missing/page.html"], "missing/page.html: cannot be written"),
        (["--runs", "panel/runs/bm25.run", "--judgments", "panel/judges"], "--runs: one system only (bm25)"),
        (["--judgments", "panel/judges"], "missing option '--runs'"),
        (["--preferences", "panel/preferences.csv"], "missing option '--runs'"),
        (["--runs", "panel/runs", "--judgments", "other.qrels"], "share no topic"),
        ([*PANEL, "--preferences", "panel/preferences.csv"], "--preferences: give either judgments or preferences"),
        ([*PANEL, "-m", "nDCG@10", "--rel", "2"], "--rel 2: none of nDCG@10 has a threshold"),
        ([*PANEL, "--method", "majorty"], "majority"),
        ([*PANEL, "--topics", "other.tsv"], "--topics: none of the 25 topics has a text"),
        ([*PANEL, "--documents", "other.tsv"], "--documents: none of the"),
        ([*PANEL, "--documents", "other.tsv", "--depth", "0"], "--depth 0 shows no document"),
        ([*PANEL, "--serve", "-o", "-"], "--serve: standard output has the page already"),
        ([*PANEL, "--serve", "--port", "70000"], "port"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(qrowd, folder, arguments, message):
    Path("other.qrels").write_text("q99 0 d1 1\n")
    Path("other.tsv").write_text("x1\tsome text\n")
    before = sorted(map(str, Path().rglob("*")))
    outcome = qrowd("explore", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
    assert sorted(map(str, Path().rglob("*"))) == before


@contextmanager
def served(*arguments):
    """The process of a server, and its port, which its first line names."""
    command = [sys.executable, "-m", "qrowd", "explore", *PANEL, "-m", "AP", "--serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = next(line for line in process.stdout if line.startswith("http"))
            yield process, int(re.match(r"http://127\.0\.0\.1:(\d+)/ ", address)[1])
        finally:
            process.kill()


def answer(port: int, method: str = "GET", path: str = "/", host: str | None = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{port}"})
    response = connection.getresponse()
    content = response.read().decode()
    connection.close()
    return response.status, content


def test_a_server_shows_the_page_to_this_machine_and_ends_with_ctrl_c(folder):
    expected = explore(*read_panel(), "AP", rng=1).to_html()
    with served() as (process, port):
        status, page = answer(port)
        assert status == 200
        assert payload_of(page) == payload_of(expected)
        assert answer(port, path="/?a=b#measure=AP")[0] == 200
        assert answer(port, "HEAD") == (200, "")
        assert answer(port, path="/panel/judges/ann.qrels") == (404, "")
        assert answer(port, host="elsewhere.example")[0] == 421
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "Stopped.\n", "")
    assert not Path("explore.html").exists()


def test_a_server_also_writes_the_page_where_output_says_so(folder):
    with served("-o", "page.html") as (process, _):
        assert header_of(Path("page.html").read_text("utf-8"))["systems"]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_port_in_use_is_named(qrowd, folder):
    with page_server(b"page", 0) as server:
        outcome = qrowd("explore", *PANEL, "-m", "AP", "--serve", "--port", str(server.server_port))
    assert outcome.status == 2
    assert f"--port {server.server_port}: address already in use; give another" in outcome.err
    assert outcome.err.count("\n") == 1
