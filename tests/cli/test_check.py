"""`qrowd check`: files of every kind, the questions that can be asked of them, and commands that can be pasted."""

import gzip
import io
import json
import re
import shlex
import sys
from glob import glob
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from command_line import status_of
from damaged_files import DAMAGES, EXPORTS
from qrowd.comparison import power
from qrowd.sequential.design import FORMAT

GOLDEN = Path(__file__).with_name("check_of_the_panel.txt")
ANSWERS = "what was judged is nested or has other names: write a table with the header topic,system,assessor,value"
DOCUMENTS = "give qrels, or a table with the header topic,document,assessor,value"


def lines_of(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


# Minimal files in the documented formats of other tools: name, content, what is said of it.
OTHERS = {
    "promptfoo.json": (
        json.dumps({"evalId": "e", "results": {"version": 3, "results": []}, "config": {}}),
        f"looks like results of promptfoo; not read, since {ANSWERS}",
    ),
    "rank_eval.json": (
        json.dumps({"requests": [{"id": "q", "ratings": [{"_index": "i", "_id": "d", "rating": 1}]}], "metric": {}}),
        f"looks like a request of Elasticsearch's _rank_eval; not read, since ratings are nested: {DOCUMENTS}",
    ),
    "judgment_list.json": (
        json.dumps({"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "1"}]}]}),
        f"looks like a list of judgments of OpenSearch; not read, since ratings are nested: {DOCUMENTS}",
    ),
    "ltr.txt": (
        "4 qid:1 1:0.2 2:3.4 # 7555\n2 qid:1 1:0.1 2:3.0 # 7556\n",
        f"looks like a list for learning to rank; not read, since it names no document: {DOCUMENTS}",
    ),
    "short_ltr.txt": (
        "4 qid:1 # 7555\n2 qid:1 # 7556\n",
        f"looks like a list for learning to rank; not read, since it names no document: {DOCUMENTS}",
    ),
    "batch.csv": ("topic,document,order,probability,query,title,text\nq,d,1,0.2,bees,,\n",
                  "looks like a batch of qrowd next that nobody has judged: add the columns assessor and value, and "
                  "give it as --judgments"),
    "empty.csv": ("topic,document,order,probability,query\n",
                  "looks like a batch of qrowd next that is empty, since nothing was left to judge: leave it out"),
    "samples.csv": ("sample_id,epoch,score\ns,1,1\n", f"looks like samples of Inspect; not read, since {ANSWERS}"),
    "grades.tsv": (
        "conv_id\tturn_id\trun_id\tgpt4-label\n1\t2\ta\t3\n",
        f"looks like grades of answers in conversations; not read, since {ANSWERS}",
    ),
    "ratings.csv": (
        "topic,system,assessor,faithfulness\n1,a,ann,3\n",
        "looks like ratings of answers by assessors; not read, since no column is called value: name it",
    ),
    "next.json": (
        json.dumps({"format": FORMAT, "question": "a > b", "documents": [["t", "d"]]}),
        "looks like the design of a question; no judgments: give it to qrowd next as --design, beside --judgments",
    ),
}  # fmt: skip


def words_of(out):
    return " ".join(out.split())


def commands_of(out):
    """The commands in what is printed, as a shell reads them."""
    joined = re.sub(r" \\\n\s+", " ", out)
    return [shlex.split(found) for found in re.findall(r"^ .*?(qrowd [a-z].*)$", joined, re.MULTILINE)]


@pytest.fixture(scope="module")
def done():
    """(words, digest of the files that they name) of every command that was offered and done."""
    return set()


def digest_of(words):
    """Of the names and contents of all files that the words of a command name."""
    named = [Path(path) for word in words for path in glob(word.rpartition("=")[2])]
    files = sorted(file for path in named for file in (path, *path.rglob("*")) if file.is_file())
    return sha256(b"".join(f"{file} ".encode() + file.read_bytes() for file in files)).hexdigest()


@pytest.fixture
def asked(qrowd, done, tmp_path):
    """Check files, run all commands that are offered, and give what was printed and the names of the commands.

    A command that was done for another test with the same files is not run again, and of the simulated preferences the
    first 600 are enough for what it does, as rough chances are for plans.
    """

    def call(*paths, status=0):
        outcome = qrowd("check", *paths)
        assert outcome.status == status, outcome.err
        assert outcome.err == ""
        lines = outcome.out.splitlines()
        assert len(lines) <= 40, outcome.out
        assert max(map(len, lines)) <= 120, outcome.out
        commands = commands_of(outcome.out)
        for preferences in tmp_path.glob("panel/preferences.csv"):
            preferences.write_text("".join(preferences.read_text().splitlines(keepends=True)[:601]))
        for command in commands:
            key = (*command, digest_of(command[2:]))
            if key not in done:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(power, "NODES", (3, 3, 2))
                    patch.setattr("qrowd.sequential.expectation.N_PATHS", 5)
                    answer = qrowd(*command[1:])
                assert answer.status == 0, (command, answer.err)
                done.add(key)
        return outcome.out, [
            " ".join(command[1 : 3 if command[1] in ("prefer", "judge") else 2]) for command in commands
        ]

    return call


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_of_another_tool_is_named_with_the_reason_and_what_to_do(qrowd, tmp_path, name):
    content, words = OTHERS[name]
    (tmp_path / name).write_text(content)
    outcome = qrowd("check", name)
    assert outcome.status == 2
    assert words_of(outcome.out).startswith(f"What is wrong {name}: {words}")
    assert "What can be asked" not in outcome.out


def test_the_screen_of_the_simulated_panel(asked, folder):
    out, commands = asked("panel")
    assert out == GOLDEN.read_text()
    assert len(commands) == 13


def test_runs_and_judgments_answer_all_usual_questions(qrowd, asked, folder):
    out, commands = asked("panel/runs", "panel/judges")
    plan = qrowd("plan", "--runs", "panel/runs", "--judgments", "panel/judges").out
    (size,) = re.findall(r"detect a difference of ([\d.]+) between two systems with probability 0.8", plan)
    assert f"a difference of {size} by nDCG@10 would be detected with probability 0.8" in words_of(out)
    assert commands == ["compare", "agree", "assessors", "disagreements", "plan", "next", "replace", "aggregate"]
    assert "not:" not in out


def test_battles_can_be_ranked_over_topics(asked, tmp_path):
    rows = [f"{t},{a},{b},{won},ann" for t, a, b, won in (
        (1, "x", "y", "model_a"), (1, "y", "x", "tie"), (2, "x", "y", "model_b"), (2, "y", "x", "model_a"),
    )]  # fmt: skip
    (tmp_path / "arena.csv").write_text("\n".join(["question_id,model_a,model_b,winner,judge", *rows, ""]))
    out, commands = asked("arena.csv")
    assert "preferences: 1 assessor, 2 topics, 2 document ids, 5 rows, from arena.csv" in words_of(out)
    assert commands == ["prefer agree", "prefer bradley-terry"]
    line = "qrowd prefer bradley-terry --preferences arena.csv --across-topics"
    assert f"Which system wins, whoever judges? {line}" in words_of(out)
    answers = [f"{t},{s},{a},{len(a + s) % 2}" for t in (1, 2) for s in ("x", "yy") for a in ("ann", "eve")]
    (tmp_path / "answers.csv").write_text("\n".join(["topic,system,assessor,value", *answers, ""]))
    out, commands = asked("answers.csv", "arena.csv")
    assert "compare" in commands
    assert "Which system do preferences favour?" not in out


def test_judgments_alone_say_what_needs_runs(asked, folder):
    out, commands = asked("panel/judges/ann.qrels", "panel/judges/bob.qrels")
    assert commands == ["agree", "assessors", "aggregate"]
    assert "  not: compare, plan, next, since there are no runs\n" in out
    assert "  not: replace, since no assessor is called like a model; say who is with --model\n" in out


def test_a_file_that_judge_ask_wrote_is_of_a_model_whatever_its_name(asked, folder, tmp_path):
    copy = tmp_path / "judges" / "phi-4+graded.qrels"
    copy.parent.mkdir()
    copy.write_bytes((folder / "judges" / "bob.qrels").read_bytes())
    out, commands = asked("panel/judges/ann.qrels", "judges")
    assert commands == ["agree", "assessors", "replace", "aggregate"]
    assert "--model phi-4+graded" in words_of(out)


def test_runs_alone_can_be_judged_next(asked, folder):
    out, commands = asked("panel/runs")
    assert commands == ["next"]
    assert "--question best --scale 0-3" in out
    assert "  not: compare, agree, plan, replace, since there are no judgments\n" in out


def test_what_is_offered_leaves_the_design_of_another_question_alone(qrowd, folder, tmp_path):
    assert "--design" not in qrowd("check", "panel/runs").out
    written = qrowd("next", "--runs", "panel/runs", "--question", "bm25 > hybrid", "--scale", "0-3", "-o", "batch.csv")
    assert written.status == 0, written.err
    offered = "next --runs panel/runs --question best --design 2.json --scale 0-3"
    assert f"What should I label next? qrowd {offered}" in words_of(qrowd("check", "panel/runs").out)
    assert qrowd(*offered.split()).status == 0
    other = qrowd("next", "--runs", "panel/runs", "--question", "best", "--scale", "0-9")
    assert other.err.startswith("qrowd: design: that of next.json or of --design is for the question 'bm25 > hybrid', ")


def test_runs_whose_columns_are_named_are_read_by_what_is_offered(qrowd, tmp_path):
    rows = [f"q{q},a{n},{system},{n}" for q in (1, 2) for system in "xy" for n in (1, 2, 3)]
    (tmp_path / "ranked.csv").write_text("\n".join(["query,article,system,rank", *rows, ""]))
    out = words_of(qrowd("check", "ranked.csv", "--column", "document=article").out)
    offered = "next --runs ranked.csv --column document=article --question best --scale 0-3"
    assert f"What should I label next? qrowd {offered}" in out
    assert qrowd(*offered.split()).status == 0


def test_what_preferences_cannot_say_is_for_want_of_judgments(qrowd, asked, tmp_path):
    (tmp_path / "prefs.txt").write_text("q x y\nq y z\nq x z\n")
    out, _ = asked("prefs.txt")
    assert (
        "  not: compare, agree, plan, replace, since there are no judgments\n  not: next, since there are no runs\n"
        in out
    )
    outcome = qrowd("compare", "--runs", "panel/runs", "--preferences", "prefs.txt")
    assert outcome.status == 2
    assert outcome.err == (
        "qrowd: no such option: --preferences (evaluate, report and the commands of prefer have it); see qrowd compare "
        "--help\n"
    )


def test_judgments_that_could_not_be_read_are_not_said_to_be_missing(qrowd, folder, tmp_path):
    (tmp_path / "holes.csv").write_text("topic,document,worker,label\nq,d,ann,\n")
    outcome = qrowd("check", "panel/runs", "holes.csv", "--labels", "no<yes")
    assert outcome.status == 2
    assert "  qrowd next --runs panel/runs --question best --scale 0-3\n" in outcome.out  # --labels has no effect there
    assert "  not: compare, agree, plan, replace, since there are no judgments that could be read\n" in outcome.out
    (tmp_path / "bad.run").write_text("q Q0 d 1 x a\n")
    assert (
        "  not: compare, plan, next, since there are no runs that could be read\n"
        in qrowd("check", "bad.run", "panel/judges/ann.qrels").out
    )


def test_one_assessor_cannot_be_compared_with_others(asked, folder):
    out, commands = asked("panel/runs", "panel/judges/ann.qrels")
    assert commands == ["compare", "plan", "next"]
    assert "  not: agree, replace, since only ann judged\n" in out
    assert re.search(
        r"a difference of 0\.\d+ by nDCG@10 would be detected with probability 0.8 on other topics$", words_of(out)
    )


def test_one_system_is_evaluated_only(asked, folder):
    out, commands = asked("panel/runs/bm25.run", "panel/judges/ann.qrels")
    assert commands == ["evaluate"]
    assert "  not: compare, plan, next, since bm25 is the only system\n" in out


def test_runs_and_judgments_of_other_topics_are_not_compared(asked, folder, tmp_path):
    lines = (folder / "judges" / "ann.qrels").read_text().splitlines()
    (tmp_path / "x.qrels").write_text("".join(f"x{line}\n" for line in lines))
    out, commands = asked("panel/runs", "x.qrels")
    assert commands == ["next"]
    assert "not: compare, plan, since runs and judgments share no topic with a judgment" in out


def test_preferences(asked, folder):
    assert asked("panel/preferences.csv")[1] == ["prefer agree", "prefer bradley-terry"]
    assert asked("panel/preferences.csv", "panel/runs")[1] == [
        "next", "evaluate", "prefer agree", "prefer bradley-terry",
    ]  # fmt: skip


def test_magnitudes_of_a_crowd_are_compared_in_slots(asked, folder):
    """Of the first 200 units."""
    magnitudes = folder / "magnitudes.csv"
    magnitudes.write_text("".join(magnitudes.read_text().splitlines(keepends=True)[:1601]))
    out, commands = asked("panel/magnitudes.csv", "panel/runs")
    (slots,) = re.findall(r"qrowd compare .* --slots (\d+)\n", out)
    assert re.search(rf"would be detected with probability 0\.8, by --slots {slots}$", words_of(out))
    assert {"compare", "plan", "agree", "magnitude"} <= set(commands)
    assert "  not: next, since people judge on different scales, or magnitudes, which have no highest value\n" in out


@pytest.fixture
def crowd(folder, tmp_path):
    """A table in which each of 8 people judged a quarter of what ann judged, two of them each document."""
    rows = ["topic,document,worker,grade"]
    for number, line in enumerate((folder / "judges" / "ann.qrels").read_text().splitlines()):
        topic, _, document, grade = line.split()
        rows += [f"{topic},{document},w{(number + shift) % 8},{grade}" for shift in (0, 3)]
    (tmp_path / "crowd.csv").write_text("\n".join([*rows, ""]))


def test_assessors_of_magnitudes_are_not_compared_with_gold_grades(asked, folder):
    magnitudes = folder / "magnitudes.csv"
    magnitudes.write_text("".join(magnitudes.read_text().splitlines(keepends=True)[:1601]))
    out, _ = asked("panel/magnitudes.csv", "panel/gold.qrels")
    assert "  qrowd assessors --judgments panel/magnitudes.csv\n" in out
    assert "  qrowd magnitude --judgments panel/magnitudes.csv --gold panel/gold.qrels\n" in out


def test_check_and_evaluate_name_the_same_number_of_slots(asked, qrowd, crowd, tmp_path):
    path = tmp_path / "crowd.csv"
    rows = path.read_text().splitlines(keepends=True)
    extra = [f"{row.rpartition(',w')[0]},x{i % 8},1\n" for i, row in enumerate(rows[1:]) if i % 8 < 5]
    path.write_text("".join([*rows, *extra]))  # 2 of each document, and one or two more of many
    assert " --slots 3\n" in asked("panel/runs", "crowd.csv")[0]
    assert "Remedy: --slots 3 " in qrowd("evaluate", "--runs", "panel/runs", "--judgments", "crowd.csv").out


def test_models_stay_out_of_the_slots_of_people(asked, crowd):
    assert re.search(r"qrowd compare .* --slots 2\n", asked("panel/runs", "crowd.csv")[0])
    out, commands = asked("panel/runs", "crowd.csv", "panel/judges/llm-a.qrels")
    assert "replace" in commands
    assert "--slots" not in out


def test_slots_say_of_whom_they_leave_out_nearly_all(qrowd, crowd, folder):
    n = len((folder / "judges" / "bob.qrels").read_text().splitlines())
    compare = ("compare", "--runs", "panel/runs", "--slots", "2", "--judgments", "crowd.csv")
    assert qrowd(*compare).err == ""
    assert qrowd(*compare, "panel/judges/bob.qrels").err == (f"note: slots leave out {n:,} judgments of bob\n")
    replace = ("replace", "--judgments", "crowd.csv", "--slots", "2", "--model", "panel/judges/bob.qrels")
    assert qrowd(*replace).err == ""


@pytest.mark.parametrize(("name", "form"), [
    ("board.jsonl", '{{"run_id": "{s}", "topic_id": "{t}", "measure": "AVG", "value": {v}}}'),
    ("x.tot", "{s} AVG {t} {v}"),
    ("scores.txt", "{s} {t} nDCG@10 {v}"),
    ("ranking.txt", "{t} Q0 {s} 1 {v} nDCG"),
])  # fmt: skip
def test_leaderboards(asked, tmp_path, name, form):
    values = zip("abab", "1122", (0.3, 0.4, 0.1, 0.2), strict=True)
    (tmp_path / name).write_text("".join(f"{form.format(s=s, t=t, v=v)}\n" for s, t, v in values))
    out, commands = asked(name)
    assert "scores: 2 systems, 1 assessor, 2 topics, 1 measure" in out
    assert commands == ["leaderboards"]
    assert f"qrowd leaderboards {name}\n" in out


def test_a_run_whose_tag_is_no_measure_and_qrels_of_fractions_are_no_leaderboards(asked, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 AP880212 1 0.5 ndcg-tuned\n")
    (tmp_path / "b.qrels").write_text("q1 0 AP880212 0.5\n")
    out, _ = asked("a.run", "b.qrels")
    assert "runs: 1 system" in out
    assert "judgments: 1 assessor" in out


def test_columns_that_have_other_names_are_guessed_and_the_proposal_reads_the_file(qrowd, asked, tmp_path):
    rows = [f"q{q},d{d},{who},{d}" for q in (1, 2) for d in (0, 1, 2) for who in ("ann", "bob")]
    (tmp_path / "a table.csv").write_text("\n".join(["Question,ItemURL,rater_name,stars", *rows, ""]))
    outcome = qrowd("check", "a table.csv")
    assert outcome.status == 2
    (proposal,) = commands_of(outcome.out)
    named = ["topic=Question", "document=ItemURL", "assessor=rater_name", "value=stars"]
    assert proposal == ["qrowd", "check", "a table.csv", *(part for name in named for part in ("--column", name))]
    out, commands = asked(*proposal[2:])
    assert "assessor: rater_name" in out
    assert commands == ["agree", "assessors", "aggregate"]


def test_a_table_without_the_columns_of_judgments_is_told_which_header_it_needs(qrowd, tmp_path):
    (tmp_path / "sales.csv").write_text("shop,item,price\na,b,1\n")
    outcome = qrowd("check", "sales.csv")
    assert outcome.status == 2
    assert words_of(outcome.out) == (
        "What is wrong sales.csv: no columns for topic and value among shop, item and price; a header is "
        "topic,document,assessor,value, for example, or name the columns: --column topic=HEADER"
    )


def test_what_does_not_fit_together_is_said_first_and_then_something_of_each_file(qrowd, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ann.qrels").write_text("q1 0 d1 0\nq1 0 d2 0\n")
    (tmp_path / "1.qrels").write_text("q1 0 d1 x\n" * 50)
    (tmp_path / "2.qrels").write_text("q1 0 d1 y\n")
    outcome = qrowd("check", "1.qrels", "2.qrels", "a", "b")
    assert outcome.status == 2
    lines = outcome.out[outcome.out.index("What is wrong") :].splitlines()
    assert lines[1].startswith("  b/ann.qrels: is assessor 'ann', as is a/ann.qrels; rename one")
    assert lines[2].startswith("  1.qrels:1: ")
    assert lines[7].startswith("  2.qrels:1: ")
    assert "  and 42 more" in lines


def test_options_and_names_are_passed_on(asked, folder):
    out, _ = asked("panel/runs", "A B=panel/judges/lena.qrels", "panel/judges/bob.qrels", "--identical-rows", "drop")
    assert "'A B=panel/judges/lena.qrels'" in out
    assert "--identical-rows drop" in out
    lines = (folder / "judges" / "ann.qrels").read_text().splitlines()
    (folder / "two.qrels").write_text(
        "".join(re.sub(" 0 ", f" {who} ", f"{line}\n", count=1) for who in "ab" for line in lines)
    )
    out, commands = asked("panel/two.qrels", "--assessor", "column")
    assert "--judgments panel/two.qrels --assessor column" in out
    assert "agree" in commands


def test_a_folder_that_holds_other_files_too_is_not_named_for_one_kind(asked, folder):
    for file in (folder / "judges").iterdir():
        file.rename(folder / "runs" / file.name)
    out, _ = asked("panel/runs")
    assert "qrowd agree --judgments 'panel/runs/*.qrels'\n" in out
    assert "--runs 'panel/runs/*.run'" in out


def test_texts_are_told_from_data(asked, folder, tmp_path):
    (tmp_path / "topics.xml").write_text("<topics><topic number='1'><title>one topic</title></topic></topics>\n")
    (tmp_path / "queries.csv").write_text("query_id,query\n1,which one\n")
    (tmp_path / "docs.trec").write_text("<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>hello you</TEXT></DOC>\n")
    out, _ = asked("topics.xml", "queries.csv", "docs.trec", "panel/topics.tsv", "panel/documents.jsonl")
    assert "  topics: from topics.xml, queries.csv and panel/topics.tsv (texts)\n" in out
    assert "  documents: from docs.trec and panel/documents.jsonl (texts)\n" in out


def test_what_is_not_there_and_what_is_empty_is_said_in_one_line(qrowd, tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "mark.csv").write_bytes(b"\xef\xbb\xbf")
    (tmp_path / "nothing").mkdir()
    assert qrowd("check", "missing").err == "qrowd: missing: there is no such file\n"
    assert qrowd("check", "nothing").err == "qrowd: nothing: no file is there\n"
    outcome = qrowd("check", "empty.csv", "mark.csv")
    assert outcome.status == 2
    assert outcome.out.splitlines() == [
        "What is wrong", "  empty.csv: is empty", "  mark.csv: names columns but holds no row",
    ]  # fmt: skip


def test_what_is_no_mistake_stands_apart_from_what_is_wrong(qrowd, tmp_path):
    (tmp_path / "bad.qrels").write_text("q1 0 d1 x\n")
    (tmp_path / "runs.csv").write_text("system,topic,document,rank\na,q1,d1,1\n")
    lines = qrowd("check", "bad.qrels", "runs.csv").out.splitlines()
    wrong = lines.index("What is wrong")
    assert lines[wrong + 1].startswith("  bad.qrels")
    assert lines[wrong + 2 : wrong + 4] == [
        "Notes, which are no mistakes", "  runs.csv: there is no score column, so the rank gives the order",
    ]  # fmt: skip


def test_judged_topics_that_no_run_has_are_counted(qrowd, tmp_path):
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\nq2 0 d1 1\nq3 0 d1 0\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 a\nq9 Q0 d1 1 2 a\n")
    assert "  missing: 2 judged topics are in no run\n" in qrowd("check", "a.qrels", "a.run").out


def test_standard_input_is_checked(qrowd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"topic,document,worker,label\nq,d,a,1\nq,d,b,0\n")))
    assert "  Can I trust my judges?  qrowd agree --judgments -\n" in qrowd("check", "-").out


def test_ten_places_are_shown_and_the_number_of_the_others(qrowd, tmp_path):
    (tmp_path / "bad.qrels").write_text("q1 0 d1 1\n" + "q1 0 d2 x\n" * 1234)
    outcome = qrowd("check", "bad.qrels")
    assert outcome.status == 2
    places = re.findall(r"^  (bad.qrels:\d+): expected a finite number as grade, found 'x'$", outcome.out, re.MULTILINE)
    assert places == [f"bad.qrels:{line}" for line in range(2, 12)]
    assert "\n  and 1,224 more\n" in outcome.out


def test_a_packed_file_is_read_as_what_is_in_it(asked, folder):
    for file in (folder / "judges").iterdir():
        file.with_suffix(".qrels.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    assert asked("panel/judges")[1] == ["agree", "assessors", "replace", "aggregate"]


def judged(value, n_topics=3):
    return "".join(f"q{t} 0 d{d} {value(t, d)}\n" for t in range(n_topics) for d in range(6))


SMALL = {
    "A.run": "".join(f"q{t} Q0 d{d} {d + 1} {9 - d} A\n" for t in range(3) for d in range(6)),
    "B.run": "".join(f"q{t} Q0 d{(d + 2 + t) % 6} {d + 1} {9 - d} B\n" for t in range(3) for d in range(6)),
    "ann.qrels": judged(lambda t, d: (t + d) % 4),
    "bob.qrels": judged(lambda t, d: d % 2),
    "nobody.qrels": judged(lambda t, d: -1),
    "share.qrels": judged(lambda t, d: d / 7),
    "llm.qrels": judged(lambda t, d: t * d % 4),
    "gpt.qrels": judged(lambda t, d: t * d % 3),
    "free.qrels": judged(lambda t, d: 20.5 * (d + 1) + t),
    "topic.qrels": judged(lambda t, d: d % 3, n_topics=1),
    "one.qrels": "q0 0 d0 1\n",
    "elsewhere.qrels": "q1 0 d1 1\n",
    "words.csv": "topic,document,worker,label\n"
    + "".join(f"q{t},d{d},{who},{word}\n" for t in range(3) for d in range(3)
              for who, word in (("it's", "bad"), ("b c", "good"))),
    "mixed.csv": "topic,document,worker,label\n"
    + "".join(f"q{t},d{d},ann,{d}\nq{t},d{d},bob,{7.5 + d}\n" for t in range(3) for d in range(3)),
}  # fmt: skip


@pytest.mark.parametrize(("paths", "commands", "reasons"), [
    ("nobody.qrels", "next", ["share no topic with a judgment", "only nobody judged"]),
    ("nobody.qrels ann.qrels", "compare plan next", ["no document was judged by two assessors"]),
    ("topic.qrels", "compare next", ["the two systems that lead share fewer than two topics"]),
    ("share.qrels ann.qrels", "compare agree assessors disagreements plan aggregate", ["different scales", "like a"]),
    ("free.qrels ann.qrels", "compare plan next magnitude", ["only ann judged"]),
    ("topic.qrels bob.qrels", "compare agree assessors disagreements plan next aggregate", ["called like a model"]),
    ("one.qrels elsewhere.qrels", "compare plan next", ["no document was judged by two"]),
    ("llm.qrels gpt.qrels", "compare agree assessors disagreements plan next aggregate", ["only models judged"]),
    ("llm.qrels ann.qrels", "compare agree assessors disagreements plan next replace aggregate", []),
    ("words.csv --labels bad<good", "compare agree assessors disagreements plan next aggregate", ["like a model"]),
    ("mixed.csv", "compare plan", ["some judged magnitudes", "on different scales"]),
])  # fmt: skip
def test_what_is_offered_can_be_done_and_what_cannot_has_its_reason(asked, tmp_path, paths, commands, reasons):
    for name, content in SMALL.items():
        (tmp_path / name).write_text(content)
    out, names = asked("A.run", "B.run", *paths.split())
    assert names == commands.split()
    refusals = words_of("".join(line for line in out.splitlines(keepends=True) if line.startswith(("  not:", "    "))))
    assert all(reason in refusals for reason in reasons)
    assert bool(reasons) == ("not:" in refusals)


OF_THE_PANEL = ("runs/bm25.run", "judges/ann.qrels", "judges/llm-a.qrels", "magnitudes.csv", "preferences.csv",
                "topics.tsv", "documents.jsonl")  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [pytest.param(one, marks=[pytest.mark.nightly] * (i % 3 > 0), id=one.__name__) for i, one in enumerate(DAMAGES)],
)
def test_no_damaged_file_ends_in_anything_but_a_sentence(damage, simulated, tmp_path, monkeypatch):
    """In all 275 files, each beside a run or a file of judgments that is read, or alone."""
    monkeypatch.chdir(tmp_path)
    good = EXPORTS | {name: content.encode() for name, (content, _) in OTHERS.items()}
    for name in OF_THE_PANEL:
        good[name.replace("/", "-")] = b"".join((simulated / name).read_bytes().splitlines(keepends=True)[:60])
    assert len(good) * len(DAMAGES) >= 200
    rng = np.random.default_rng(35)
    beside = ([], [simulated / "runs" / "splade.run"], [simulated / "judges" / "bob.qrels"])
    for number, (name, content) in enumerate(good.items()):
        (tmp_path / name).write_bytes(damage(content, rng))
        for stream in ("stdout", "stderr"):  # as strict as a pipe
            monkeypatch.setattr(sys, stream, io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        sys.stderr.reconfigure(errors="backslashreplace")
        assert status_of("check", name, *beside[number % 3]) in (0, 2), name
        sys.stdout.seek(0)
        assert sys.stdout.read() or sys.stderr.buffer.getvalue(), name


def test_document_ids_are_counted_as_such_where_a_document_belongs_to_two_topics(asked, tmp_path):
    (tmp_path / "one.qrels").write_text("q1 0 d1 1\nq2 0 d1 0\nq2 0 d2 1\n")
    assert "judgments: 1 assessor, 2 topics, 2 document ids, 3 rows, from one.qrels" in words_of(asked("one.qrels")[0])


def test_an_export_of_another_tool_is_read_and_asked(asked, tmp_path):
    for name, content in EXPORTS.items():
        (tmp_path / name).write_bytes(content)
        out = asked(name)[0]
        assert "What can be asked" in out
        assert "(export of another tool, columns " in words_of(out)


def test_judgments_with_texts_and_unusual_names_are_no_texts(qrowd, tmp_path):
    (tmp_path / "table.csv").write_text("query,docid,text,stars\nq1,d1,some words,2\n")
    assert "--column value=stars\n" in qrowd("check", "table.csv").out


def test_preferences_with_texts_are_no_texts(asked, tmp_path):
    (tmp_path / "pairs.csv").write_text("topic,winner,loser,text\nq1,d1,d2,some words\nq1,d2,d3,more words\n")
    assert asked("pairs.csv")[1] == ["prefer agree", "prefer bradley-terry"]


def test_qrels_of_several_assessors_are_not_taken_for_repeats_without_a_word(qrowd, tmp_path):
    rows = [f"t {who} d{i} {i % 2}\n" for who in ("ann", "bob") for i in range(4)]
    (tmp_path / "both.qrels").write_text("".join(rows))
    out = qrowd("check", "both.qrels").out
    assert "repeats: 4 judgments repeat an earlier one\n" in out
    assert "assessors: where column 2 says who judged, add --assessor column\n" in out
    out = qrowd("check", "both.qrels", "--assessor", "column").out
    assert "2 assessors" in out
    assert "repeats" not in out
