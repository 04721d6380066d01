"""What the commands print and write."""

import gzip
import io
import json
import sys

import pandas as pd
import pytest

from qrowd.files import read_judgments, read_runs
from qrowd.judge import read_document_texts, read_topic_texts


def test_evaluate_says_the_answer_first(qrowd, folder):
    outcome = qrowd("evaluate", "--runs", folder / "runs" / "*", "--judgments", folder / "judges" / "*")
    assert outcome.status == 0
    assert outcome.out.startswith("By nDCG@10, rerank-large leads for 4 of 8 assessors;")


def test_evaluate_prints_one_table_of_the_four_usual_measures(qrowd, folder):
    files = ("--runs", folder / "runs", "--judgments", folder / "judges")
    _, table, *_ = qrowd("evaluate", *files).out.split("\n\n")
    title, header, *rows = table.splitlines()
    assert title == "means over topics and 8 assessors, in the order of nDCG@10"
    assert header.split() == ["system", "nDCG@10", "AP", "P@10", "RR"]
    first = [float(row.split()[1]) for row in rows]
    assert first == sorted(first, reverse=True)


def test_the_one_table_of_all_measures_holds_the_means_of_the_tables_of_each(qrowd, folder):
    import qrowd as library

    runs, judgments = library.read_runs(folder / "runs"), library.read_judgments(folder / "judges")
    summary = library.summarise(library.evaluate(runs, judgments, ["AP", "RR"]), rng=1)
    table, _ = summary.to_document().tables
    rows = summary.to_frame().set_index(["measure", "system"])["mean"]
    for system, *cells in table.rows:
        assert cells == [f"{rows[measure, system]:.4f}" for measure in ("AP", "RR")]
    one = library.summarise(library.evaluate(runs, judgments, "AP"), rng=1)
    assert "standard error" in one.to_document().tables[0].header


def test_evaluate_with_a_baseline_adds_wins_and_a_corrected_test(qrowd, folder):
    out = qrowd("evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "--baseline", "bm25").out
    header = next(line for line in out.splitlines() if line.startswith("system"))
    assert header.split()[-3:] == ["difference", "wins/ties/losses", "p"]


@pytest.mark.parametrize(
    "ending", ["csv", "parquet", "md", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("json", "tex"))]
)
def test_output_writes_a_file_of_each_kind(qrowd, folder, tmp_path, ending):
    arguments = ["evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "AP"]
    assert qrowd(*arguments, "--output", f"s.{ending}").status == 0
    assert (tmp_path / f"s.{ending}").stat().st_size > 500
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"s.{ending}"]


def test_runs_given_by_an_unquoted_pattern_are_all_taken(qrowd, folder):
    listed = sorted((folder / "runs").iterdir())
    both = qrowd("evaluate", "--runs", *listed, "--judgments", folder / "judges", "-m", "AP").out
    assert both == qrowd("evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "AP").out


def test_a_dash_reads_standard_input(qrowd, folder, monkeypatch):
    gold = (folder / "gold.qrels").read_bytes()

    class Stdin:
        buffer = io.BytesIO(gzip.compress(gold))

    monkeypatch.setattr(sys, "stdin", Stdin)
    piped = qrowd("evaluate", "--runs", folder / "runs", "--judgments", "-", "-m", "AP")
    named = qrowd("evaluate", "--runs", folder / "runs", "--judgments", folder / "gold.qrels", "-m", "AP")
    assert piped.out.split("scale:")[0] == named.out.split("scale:")[0]


def test_names_can_be_given_with_the_files(qrowd, folder):
    out = qrowd("evaluate", "--runs", folder / "runs", "--judgments", f"nist={folder / 'gold.qrels'}", "-m", "AP").out
    assert "0-3 (inferred from the judgments of nist)" in out


def test_recode_and_scale_change_what_an_assessor_means(qrowd, folder, tmp_path):
    (tmp_path / "recode.toml").write_text('"ann" = 2\n"*" = { "3" = 2 }\n')
    out = qrowd(
        "evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "AP",
        "--recode", "recode.toml", "--scale", "crowd-3=0-3",
    ).out  # fmt: skip
    scales = next(line for line in out.splitlines() if line.startswith("scale: "))
    assert "binary: ann" in scales.replace("binary (inferred)", "")
    assert "0-2 (inferred): bob" in scales


def test_values_beyond_the_declared_scale_can_be_recoded_to_no_judgments(qrowd, tmp_path):
    (tmp_path / "model.qrels").write_text("1 0 a 3\n1 0 b 9\n1 0 c 0\n")
    (tmp_path / "recode.toml").write_text('"*" = {9 = -1}\n')
    assert qrowd("assessors", "--judgments", "model.qrels", "--scale", "*=0-3").status == 2
    outcome = qrowd("assessors", "--judgments", "model.qrels", "--recode", "recode.toml", "--scale", "*=0-3")
    assert outcome.status == 0, outcome.err
    assert "scale: 0-3 (declared)" in outcome.out


def test_slots_turn_a_crowd_into_a_few_assessors(qrowd, folder):
    out = qrowd(
        "evaluate", "--runs", folder / "runs", "--judgments", folder / "magnitudes.csv", "--slots", 3, "-m", "nDCG@10"
    ).out
    assert "slot 3" in out
    assert "scale: magnitude (declared); " in out
    assert "; magnitudes of 3 assessors as written" in out


def test_rbp_comes_with_its_residual(qrowd, folder):
    out = qrowd("evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "RBP").out
    assert "residual: RBP(residual=True) is 0." in out
    assert "\nRBP(residual=True)\n" not in out


def test_every_convention_can_be_set_and_is_written_down(qrowd, folder, tmp_path):
    chosen = {
        "ties": "expected", "score-dtype": "float32", "unjudged": "condensed", "missing": "skip", "empty": "nan",
        "min-coverage": "0.2", "repeats": "mean", "grades": "rescaled",
    }  # fmt: skip
    options = [word for name, value in chosen.items() for word in (f"--{name}", value)]
    documents = [line.split()[:3] for line in (folder / "judges" / "ann.qrels").read_text().splitlines()[:2]]
    (tmp_path / "d.csv").write_text("topic,document,group\n" + "".join(f"{t},{d},1\n" for t, _, d in documents))
    options += ["--duplicates", "d.csv"]
    arguments = ["evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "P@5", *options]
    assert qrowd(*arguments, "--output", "s.json").status == 0
    written = json.loads((tmp_path / "s.json").read_text())["conventions"]
    assert {name.replace("_", "-"): str(value) for name, value in written.items()} == {
        **chosen,
        "duplicates": "1 group of 2 documents",
    }


def test_check_tells_what_is_in_runs_and_judgments(qrowd, folder):
    outcome = qrowd("check", folder / "runs", folder / "judges", folder / "magnitudes.csv")
    assert outcome.status == 0
    assert "12 systems, 25 topics" in outcome.out
    assert "25 topics and 8 assessors" in outcome.out
    assert "No mistakes found\n" in outcome.out


def test_check_lists_every_mistake_and_goes_on(qrowd, tmp_path):
    (tmp_path / "bad.qrels").write_text("q1 0 d1 1\nq1 0 d2\nq1 0 d3 x\n")
    (tmp_path / "good.qrels").write_text("q1 0 d1 1\n")
    outcome = qrowd("check", "bad.qrels", "good.qrels")
    assert outcome.status == 2
    assert "bad.qrels:2: " in outcome.out
    assert "bad.qrels:3: " in outcome.out
    assert "judgments: 1 assessor, 1 topic, 1 document id, 1 row, from good.qrels" in outcome.out


def test_measures_lists_all_and_explains_one(qrowd):
    out = qrowd("measures").out
    for name in ("nDCG", "AP", "P@10", "ERR", "RBP", "Q", "GAP", "Bpref", "Judged@10"):
        assert f"\n{name}: " in f"\n{out}"
    assert "max_rel" in qrowd("measures", "err").out
    assert "2^g - 1" in qrowd("measures", "nDCG@10").out


def test_simulate_writes_files_that_evaluate_reads_back_to_the_demo(qrowd, folder):
    demo = qrowd("demo").out
    files = qrowd(
        "evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "nDCG@10", "-m", "AP",
        "--baseline", "bm25",
    ).out  # fmt: skip
    assert files.split("\n\n")[1] in demo


def test_simulate_writes_nothing_into_a_folder_in_use(qrowd, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    outcome = qrowd("simulate", "full")
    assert outcome.status == 2
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine"]


def test_a_simulated_panel_has_texts_for_all_its_topics_and_documents(simulated):
    runs, gold = read_runs(simulated / "runs"), read_judgments(simulated / "gold.qrels")
    assert set(read_topic_texts(str(simulated / "topics.tsv"))) == set(runs.topics)
    assert set(read_document_texts([str(simulated / "documents.jsonl")])) == {*runs.documents, *gold.documents}


def test_the_same_seed_simulates_the_same_files(qrowd, tmp_path):
    qrowd("simulate", "one", "--seed", 7)
    qrowd("simulate", "two", "--seed", 7)
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_the_demo_answers_both_questions(qrowd):
    out = qrowd("demo").out
    assert "change places with the assessor" in out
    assert "tau-b of each assessor's ranking" in out


def test_the_version_is_that_of_the_package(qrowd):
    assert qrowd("--version").out.startswith("qrowd 0.")


def test_csv_output_is_the_library_s_scores(qrowd, folder, tmp_path):
    import qrowd as library

    qrowd("evaluate", "--runs", folder / "runs", "--judgments", folder / "judges", "-m", "AP", "--output", "s.csv")
    scores = library.evaluate(library.read_runs(folder / "runs"), library.read_judgments(folder / "judges"), "AP")
    assert pd.read_csv(tmp_path / "s.csv")["score"].to_numpy() == pytest.approx(
        scores.values.ravel(), abs=0, nan_ok=True
    )
