"""Commands on files as people have them: what check says, and what the other commands do with the same files."""

import json
import shlex

import pytest

from qrowd import trec

pytestmark = pytest.mark.usefixtures("coarse")

JUDGMENTS = """\
Query ID;Product ID;Annotator;Label
q1;SKU 1-A;ann;Exact
q1;SKU 2-A;ann;Irrelevant
q1;;ann;Exact
q1;SKU 1-A;bob;Substitute
q1;SKU 2-A;bob;Irrelevant
q1;SKU 2-A;bob;Irrelevant
"""
RUNS = (
    "ranker,query_id,product_id,rank\nneural,q1,SKU 1-A,1\nneural,q1,SKU 2-A,2\nbm25,q1,SKU 2-A,1\nbm25,q1,SKU 1-A,2\n"
)
OPTIONS = (
    "--labels",
    "Irrelevant<Complement<Substitute<Exact",
    "--incomplete-rows",
    "drop",
    "--identical-rows",
    "drop",
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "labels.csv").write_text(JUDGMENTS)
    (tmp_path / "runs.csv").write_text(RUNS)
    return tmp_path


def test_one_line_names_all_options_that_a_table_needs_and_with_them_it_is_read(qrowd, files):
    outcome = qrowd("evaluate", "--judgments", "labels.csv", "--runs", "runs.csv")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith("qrowd: labels.csv, line 2: values are words (exact, irrelevant, substitute), ")
    assert (
        "labels 'exact<irrelevant<substitute' (the order in the file, to be corrected; in Python labels= of "
        "read_judgments, or of Judgments.from_frame for a data frame)" in outcome.err
    )
    outcome = qrowd("evaluate", "--judgments", "labels.csv", "--runs", "runs.csv", "-m", "nDCG", *OPTIONS)
    assert outcome.status == 0
    assert outcome.out.startswith("By nDCG, neural leads for both assessors")
    assert outcome.err.splitlines() == [
        "note: labels.csv: 1 row with a missing cell (document) was left out",
        "note: labels.csv: 1 row is identical to an earlier row and was left out",
    ]


def test_check_says_of_words_in_columns_of_usual_names_that_they_need_labels(qrowd, tmp_path):
    row = {"query": "q1", "product_id": "d1", "judge": "llm", "label": "Exact"}
    (tmp_path / "llm.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "llm.json").write_text(json.dumps([row]))
    for name in ("llm.jsonl", "llm.json"):
        refused = qrowd("check", name)
        assert refused.status == 2
        text = " ".join(refused.out.split())
        assert "values are words (exact), not numbers; give their order" in text
        assert "--column" not in text
        assert qrowd("check", name, "--labels", "irrelevant<exact").status == 0


def test_how_files_are_read_is_said_by_check_alone(qrowd, files):
    understood = ("labels are read as grades: Irrelevant = 0", "there is no score column, so the rank gives the order")
    check = " ".join(qrowd("check", "labels.csv", "runs.csv", *OPTIONS).out.split())
    evaluate = qrowd("evaluate", "--judgments", "labels.csv", "--runs", "runs.csv", "-m", "nDCG", *OPTIONS).err
    for text in understood:
        assert text in check
        assert text not in evaluate
    assert evaluate.count("left out") == 2


def test_check_says_how_the_same_files_are_read(qrowd, files):
    outcome = qrowd("check", "labels.csv", "runs.csv", *OPTIONS)
    assert outcome.status == 0
    text = " ".join(outcome.out.split())
    columns = "topic: Query ID, document: Product ID, assessor: Annotator, value: Label"
    assert f"from labels.csv (CSV with semicolons, columns {columns})" in text
    columns = "system: ranker, topic: query_id, document: product_id, rank"
    assert f"from runs.csv (CSV with commas, columns {columns})" in text
    assert "scales: 0-3: ann and bob" in text
    assert "labels.csv: 1 row is identical to an earlier row and was left out" in text
    assert "No mistakes found" in text


def test_check_lists_the_mistakes_of_a_table_in_the_order_of_lines_and_at_most_ten(qrowd, tmp_path):
    rows = ["t,d,a,1", "t,,a,2", "t,e,a,x", "t,f,a"]
    (tmp_path / "bad.csv").write_text("\n".join(["topic,document,assessor,value", *rows, *["t,g,a,"] * 20, ""]))
    outcome = qrowd("check", "bad.csv")
    mistakes = [line for line in outcome.out.splitlines()[1:] if not line.startswith("    ")]  # which go on
    assert [line.split(": ")[0] for line in mistakes] == [*(f"  bad.csv:{i}" for i in range(3, 13)), "  and 13 more"]


def test_check_reads_preferences_of_each_form(qrowd, tmp_path):
    (tmp_path / "pairs.pref").write_text("q1 a b\nq1 b c\n")
    (tmp_path / "winner.pref").write_text("q1 a b a\nq1 b c c\n")
    (tmp_path / "levels.pref").write_text("q1 ann 0 a 2\nq1 ann 0 b 1\n")
    (tmp_path / "table.csv").write_text("Topic,Winner,Loser,Worker\nq1,a,b,zoe\n")
    outcome = qrowd("check", "pairs.pref", "winner.pref", "levels.pref", "table.csv")
    assert outcome.status == 0
    assert "preferences: 4 assessors, 1 topic, 3 document ids, 6 rows" in outcome.out


def test_check_passes_over_files_about_the_data_and_says_so(qrowd, files):
    (files / "README.md").write_text("# Our data\n")
    outcome = qrowd("check", ".", *OPTIONS)
    assert outcome.status == 0
    assert "passed over: 1 file about the data (README.md)" in outcome.out


def test_columns_are_named_for_every_file_that_a_command_reads(qrowd, files):
    (files / "j.csv").write_text("Frage,Dokument,Wer,Note\nq1,d1,ann,1\nq1,d2,ann,0\n")
    (files / "r.csv").write_text("Maschine,Frage,doc,score\nA,q1,d1,2\nA,q1,d2,1\n")
    named = [f"--column={role}" for role in ("topic=Frage", "document=Dokument", "document=doc", "assessor=wer")]
    outcome = qrowd("evaluate", "--judgments", "j.csv", "--runs", "r.csv", *named, "--column", "value=Note")
    assert outcome.status == 0, outcome.err
    outcome = qrowd("evaluate", "--judgments", "j.csv", "--runs", "r.csv", "--column", "topic=Thema")
    assert outcome.err == (
        "qrowd: j.csv: column topic=Thema: the columns are Frage, Dokument, Wer, Note; where files differ, give "
        "--column topic=Thema --column topic=HEADER\n"
    )


def test_a_header_that_one_of_two_tables_lacks_is_named_once_more_for_it_as_proposed(qrowd, files):
    (files / "j.csv").write_text("Topic,Product ID,Rater,Grade\nq1,d1,ann,1\nq1,d2,ann,0\n")
    (files / "r.csv").write_text("system,topic,item code,score\nA,q1,d1,2\nA,q1,d2,1\n")
    command = ["evaluate", "--judgments", "j.csv", "--runs", "r.csv", "--column", "document=Product ID"]
    refused = qrowd(*command)
    assert refused.status == 2
    proposed = refused.err.strip().partition("; where files differ, give ")[2]
    assert proposed == "--column 'document=Product ID' --column 'document=item code'"
    assert qrowd(*command[:-2], *shlex.split(proposed)).status == 0


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--column", "assessor"], "--column assessor: expected ROLE=HEADER, as in assessor=Rater"),
        (["--column", "who=x"], "--column who=x: there is no role 'who'; choose from topic, document, assessor, "),
        (["--labels", "one"], "--labels one: two words or more were expected, from the lowest, as in 'low<high'"),
    ],
)
def test_an_option_that_cannot_be_understood_is_named(qrowd, files, option, message):
    outcome = qrowd("evaluate", "--judgments", "labels.csv", "--runs", "runs.csv", *option)
    assert outcome.status == 2
    assert outcome.err.startswith(f"qrowd: {message}")


def test_two_columns_for_one_role_name_the_option_that_says_which(qrowd, files):
    (files / "two.csv").write_text("topic,document,assessor,label,relevance\nq1,d,ann,1,2\n")
    outcome = qrowd("agree", "--judgments", "two.csv")
    assert outcome.err == (
        "qrowd: two.csv: two columns may be the value: 'label' and 'relevance'; name the column, as in value=label\n"
    )


def test_systems_of_one_file_are_read_by_their_tags(qrowd, tmp_path):
    run = "".join(f"q1 Q0 d{d} {d} {10 - d} {tag}\n" for tag in ("A", "B") for d in (1, 2))
    (tmp_path / "both.run").write_text(run)
    (tmp_path / "ann.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    command = ["evaluate", "--judgments", "ann.qrels", "--runs", "both.run"]
    assert "the tags are 'A' and 'B': name systems by column to read both" in qrowd(*command).err
    outcome = qrowd(*command, "--system", "column", "-o", "-")
    assert outcome.status == 0
    assert "P@10,ann,q1,B,0.1" in outcome.out
    assert "2 systems" in qrowd("check", "both.run", "--system", "column").out


def test_files_may_be_given_in_the_order_of_trec_eval_and_ir_measures(qrowd, tmp_path):
    labels = [f"q{q},d{d},{who},{grade}" for q, d, who, grade in [(1, 1, "ann", 1), (2, 2, "ann", 1), (1, 1, "bob", 1)]]
    (tmp_path / "panel.csv").write_text("\n".join(["topic,document,assessor,value", *labels, "q2,d1,bob,1", ""]))
    for name, first in (("a.run", 1), ("b.run", 2)):
        run = "".join(f"q{q} Q0 d{d} {d} {abs(d - first)} x\n" for q in (1, 2) for d in (1, 2))
        (tmp_path / name).write_text(run)
    for command in ("evaluate", "compare", "plan"):
        named = qrowd(command, "--judgments", "panel.csv", "--runs", "a.run", "b.run", "-m", "P@1")
        assert qrowd(command, "panel.csv", "a.run", "b.run", "-m", "P@1") == named
        assert named.status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ann.qrels"], "missing option '--runs'"),
        (
            ["ann.qrels", "a.run", "--runs", "b.run"],
            "unexpected extra argument ann.qrels a.run: give ",
        ),
        (
            ["ann.qrels", "a.run", "--judgments", "b.qrels"],
            "unexpected extra argument ann.qrels a.run: give ",
        ),
    ],
)
def test_files_that_are_given_in_another_way_are_refused_with_the_way(qrowd, tmp_path, arguments, message):
    (tmp_path / "ann.qrels").write_text("q 0 d 1\n")
    outcome = qrowd("evaluate", *arguments)
    assert outcome.status == 2
    assert outcome.err.startswith(f"qrowd: {message}")


def test_judgments_may_be_given_without_their_option(qrowd, tmp_path):
    for name in ("ann", "bob"):
        (tmp_path / f"{name}.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 0\nq2 0 d2 1\n")
    for command in ("agree", "assessors", "aggregate"):
        named = qrowd(command, "--judgments", "ann.qrels", "bob.qrels")
        assert qrowd(command, "ann.qrels", "bob.qrels") == named
        assert named.status == 0
        outcome = qrowd(command, "ann.qrels", "--judgments", "bob.qrels")
        assert outcome.status == 2
        assert outcome.err.startswith("qrowd: unexpected extra argument ann.qrels: give FILES by position, or --judg")


def test_excluded_assessors_are_left_out_before_anything_is_computed_and_named(qrowd, tmp_path):
    rows = [f"q1,d{d},{who},{(d + who) % 2}" for who in (1, 2, 12) for d in range(4)]
    (tmp_path / "all.csv").write_text("\n".join(["topic,document,annotator,label", *rows, ""]))
    (tmp_path / "good.csv").write_text("\n".join(["topic,document,annotator,label", *rows[:4], ""]))
    outcome = qrowd("aggregate", "all.csv", "--exclude", "2", "1?", "-o", "-")
    assert outcome.out == qrowd("aggregate", "good.csv", "-o", "-").out
    assert outcome.err == "note: excluded: 2, 12\n"
    assert qrowd("agree", "all.csv", "--exclude", "3").err.startswith("qrowd: --exclude: no assessor matches '3'; ")
    assert qrowd("agree", "all.csv", "--exclude", "*").err == "qrowd: --exclude *: no assessor is left\n"


def test_ids_with_blanks_are_refused_in_qrels_with_the_option_that_writes_them(qrowd, files):
    merged = ["aggregate", "--judgments", "labels.csv", *OPTIONS]
    assert "--qrels out.qrels: label 'SKU 1-A' holds a blank, so TREC's formats cannot hold it; leave it out and " in (
        qrowd(*merged, "--qrels", "out.qrels").err
    )
    assert qrowd(*merged, "-o", "merged.csv").status == 0
    assert "q1,SKU 1-A," in (files / "merged.csv").read_text()


def test_merged_grades_of_words_are_written_as_grades_and_can_be_read_again(qrowd, files):
    assert (
        qrowd("aggregate", "labels.csv", *OPTIONS, "--method", "majority(ties=lowest)", "-o", "merged.csv").status == 0
    )
    assert [line.split(",")[1:3] for line in (files / "merged.csv").read_text().splitlines()] == [
        ["document", "value"],
        ["SKU 1-A", "2.0"],
        ["SKU 2-A", "0.0"],
    ]
    assert qrowd("evaluate", "merged.csv", "runs.csv", "-m", "nDCG").status == 0


def test_check_reads_a_file_line_by_line_only_where_the_fast_reading_failed(qrowd, tmp_path, monkeypatch):
    slow = []
    plain = trec.mistakes
    monkeypatch.setattr(trec, "mistakes", lambda text, name, form: slow.append(name) or plain(text, name, form))
    (tmp_path / "good.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "bad.qrels").write_text("q1 0 d1 x\n")
    assert qrowd("check", "good.qrels", "bad.qrels").status == 2
    assert set(slow) == {"bad.qrels"}
