"""`qrowd report`."""

import csv
import json
import re
from hashlib import sha256
from html import unescape

import pytest


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.fixture
def panel(folder):
    """Five of the twelve runs."""
    for run in (folder / "runs").iterdir():
        if run.stem not in ("bm25", "hybrid", "rerank-large", "rerank-llm", "rerank-small"):
            run.unlink()
    data = ["--runs", folder / "runs", "--judgments", folder / "judges"]
    return [*data, "--n-resamples", 200, "--random-assessors", 5]


def test_report_writes_one_page_and_says_the_answer(qrowd, panel, tmp_path):
    outcome = qrowd("report", *panel, "-o", "page.html")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("hybrid leads, but ")
    assert outcome.err == "wrote page.html\n"
    text = unescape((tmp_path / "page.html").read_text("utf-8"))
    assert outcome.out.splitlines()[0].split(". By ")[0] in text
    assert len(text) < 3_000_000


def test_the_page_tells_how_to_make_it_again(qrowd, panel, folder, tmp_path):
    qrowd("report", *panel, "--seed", 7)
    text = unescape((tmp_path / "report.html").read_text("utf-8"))
    assert f"qrowd report --runs {folder / 'runs'} --judgments {folder / 'judges'} " in text
    assert "seed 7" in text
    files = [*(folder / "runs").iterdir(), *(folder / "judges").iterdir()]
    for file in files:
        assert sha256(file.read_bytes()).hexdigest() in text
    assert f"The {len(files)} files that were read" in text


def test_the_same_command_writes_the_same_page(qrowd, panel, tmp_path):
    pages = []
    for _ in range(2):
        qrowd("report", *panel)
        pages.append((tmp_path / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_page_names_systems_without_the_words_that_all_share(qrowd, panel, folder, tmp_path):
    qrowd("report", *panel, "--baseline", "bm25", "-o", "plain.json")
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"my_{run.stem}_2020.run"))
    options = ("--baseline", "my_bm25_2020", "--short-names")
    assert qrowd("report", *panel, *options).status == 0
    page = unescape((tmp_path / "report.html").read_text("utf-8"))
    assert set(re.findall(r"my_[\w-]*_2020(?!\.run)", page)) == {"my_bm25_2020"}  # in the command alone
    outcome = qrowd("report", *panel, *options, "-o", "short.json")
    plain, short = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "short"))
    assert (short["compared_with"], short["answer"]) == ("bm25", plain["answer"])
    assert short["tables"] == plain["tables"]
    assert outcome.out.splitlines()[0] == plain["sentence"]


def test_related_assessors_stand_in_the_report(qrowd, panel, tmp_path):
    related = ("--related", "bob=rerank-*")
    outcome = qrowd("report", *panel, *related, "-o", "page.html")
    assert outcome.status == 0, outcome.err
    text = unescape((tmp_path / "page.html").read_text("utf-8"))
    assert "Related assessors" in text
    assert "Without relatives, " in text
    assert qrowd("report", *panel, *related, "-o", "r.json").status == 0
    rows = json.loads((tmp_path / "r.json").read_text())["tables"]["kinship"]
    assert {row["system"] for row in rows if row["n_relatives"]} == {"rerank-large", "rerank-llm", "rerank-small"}


def test_tables_come_as_latex_csv_or_json_instead(qrowd, panel, tmp_path):
    for name in ("report.tex", "report.csv", "report.json"):
        assert qrowd("report", *panel, "-o", name).status == 0
        assert (tmp_path / name).exists()
    rows = list(csv.DictReader((tmp_path / "report.csv").read_text().splitlines()))
    content = json.loads((tmp_path / "report.json").read_text())
    assert [row["system"] for row in rows] == [row["system"] for row in content["tables"]["systems"]]
    assert content["settings"]["random_assessors"] == 5
    assert content["provenance"]["command"].startswith("qrowd report ")
    assert r"\begin{tabular}" in (tmp_path / "report.tex").read_text()


def test_conventions_and_choices_reach_the_numbers(qrowd, panel, tmp_path):
    given = {"ties": "expected", "missing": "skip", "min-coverage": "0.3", "grades": "rescaled"}
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    assert qrowd("report", *panel, *options, "--baseline", "bm25", "-m", "P@5", "-o", "report.json").status == 0
    content = json.loads((tmp_path / "report.json").read_text())
    told = {name.replace("_", "-"): str(value) for name, value in content["settings"].items()}
    assert given.items() <= told.items()
    assert (content["answer"]["measure"], content["compared_with"]) == ("P@5", "bm25")


@pytest.mark.parametrize(("extra", "expected"), [
    (["-o", "report.pdf"], ["report.pdf", ".csv, .parquet, .xlsx, .json, .txt, .md, .tex"]),
    (["--baseline", "bm52"], ["'bm52'", "did you mean"]),
    (["--reference", "anne"], ["'anne'", "'ann'"]),
    (["--measure", "nDGC"], ["did you mean 'nDCG'"]),
    (["--ties", "x"], ["'--ties': 'x'"]),
    (["--campaign", "x"], ["either files or a campaign"]),
    (["-o", "nowhere/report.html"], ["nowhere/report.html", "cannot be written"]),
])  # fmt: skip
def test_a_mistake_is_one_line_with_the_culprit_exit_status_2_and_no_file(qrowd, panel, tmp_path, extra, expected):
    before = sorted(tmp_path.iterdir())
    outcome = qrowd("report", *panel, *extra)
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1
    for text in expected:
        assert text in outcome.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_page_that_stood_there_stays_when_a_new_one_fails(qrowd, panel, tmp_path):
    (tmp_path / "report.html").write_text("old")
    assert qrowd("report", *panel, "--baseline", "nobody").status == 2
    assert (tmp_path / "report.html").read_text() == "old"


@pytest.mark.nightly
@pytest.mark.parametrize(("collection", "judges", "step", "size"), [
    ("dl21", "judges/[bu]*.gz", 12, 300_000),
    pytest.param("dl19", "humans/main.tsv", 12, 300_000, marks=pytest.mark.nightly),
    pytest.param("dl21", "judges/*.gz", 1, 3_000_000, marks=pytest.mark.nightly),
    pytest.param("dl19", "humans/main.tsv", 1, 3_000_000, marks=pytest.mark.nightly),
])  # fmt: skip
def test_reports_on_real_panels_are_small(qrowd, request, tmp_path, collection, judges, step, size):
    """Of every twelfth run and six of the 18 models; in `make nightly` of all of them."""
    data = request.getfixturevalue(collection)
    runs = sorted((data / "runs").glob("*.gz"))[::step]
    arguments = ["--runs", *runs, "--judgments", data / judges]
    assert qrowd("report", *arguments, "--random-assessors", 5, "--n-resamples", 100).status == 0
    text = (tmp_path / "report.html").read_text("utf-8")
    assert len(text.encode()) < size
    assert "<svg" in text
    assert re.search(rf"<h1[^>]*>(?:[^<]|<wbr>)* leads?, but \d+ of {len(runs)} systems may be the best", text)


def test_what_was_noticed_while_files_were_read_stands_in_the_report(qrowd, folder, tmp_path):
    rows = [line.split() for line in (folder / "judges" / "ann.qrels").read_text().splitlines()]
    cells = [f"{topic},{document},{grade}" for topic, _, document, grade in rows]
    cells[3] = cells[3].rpartition(",")[0] + ","
    (tmp_path / "ann.csv").write_text("\n".join(["Topic ID,Doc ID,Grade", *cells]) + "\n")
    options = ("--runs", folder / "runs", "--judgments", "ann.csv", "--incomplete-rows", "drop", "--n-resamples", 200,
               "--random-assessors", 2)  # fmt: skip
    page = qrowd("report", *options, "-o", "report.html")
    assert page.status == 0, page.err
    html = (tmp_path / "report.html").read_text()
    assert re.search(r"<li>Files: [^<]*1 row", html)
    assert qrowd("report", *options, "-o", "report.txt").status == 0
    assert "\nfiles: " in (tmp_path / "report.txt").read_text()


def test_texts_and_measures_reach_the_page(qrowd, panel, folder, tmp_path):
    texts = ("--topics", folder / "topics.tsv", "--documents", folder / "documents.jsonl")
    outcome = qrowd("report", *panel, "-m", "nDCG@10", "AP(rel=2)", *texts)
    assert outcome.status == 0, outcome.err
    page = unescape((tmp_path / "report.html").read_text("utf-8"))
    assert "By other measures" in page
    assert "AP(rel=2)" in page
    assert re.search(r"The simulated document q\d+-\d+\.", page)
    assert sha256((folder / "documents.jsonl").read_bytes()).hexdigest() in page


@pytest.mark.parametrize("option", ["--topics", "--documents"])
def test_texts_that_cannot_be_read_are_one_line_and_no_page(qrowd, panel, tmp_path, option):
    outcome = qrowd("report", *panel, option, "nowhere.tsv")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "nowhere.tsv" in outcome.err
    assert not (tmp_path / "report.html").exists()


def test_preferences_make_a_page_too(qrowd, folder, tmp_path):
    data = ["--runs", folder / "runs", "--preferences", folder / "preferences.csv"]
    outcome = qrowd("report", *data, "--n-resamples", 200)
    assert outcome.status == 0, outcome.err
    page = unescape((tmp_path / "report.html").read_text("utf-8"))
    assert "ppref@10" in page
    assert "pairs of assessors" in page
    assert sha256((folder / "preferences.csv").read_bytes()).hexdigest() in page


def test_preferences_and_judgments_together_are_refused(qrowd, panel, folder):
    outcome = qrowd("report", *panel, "--preferences", folder / "preferences.csv")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert "it is for judgments, and these are preferences; leave it out" in outcome.err
