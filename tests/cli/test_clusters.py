"""`--clusters` on the commands that give intervals over topics."""

import csv
import json

import pytest

ROWS = [
    {
        "topic": f"{talk}-{turn}",
        "talk": talk,
        "system": system,
        "assessor": who,
        "value": 1 + (3 * number + 2 * turn + 5 * len(system) + len(who) * (turn + number)) % 4,
    }
    for number, talk in enumerate(("trip", "visa", "food", "rent"))
    for turn in range(1, 4 + number)
    for system in ("bm25", "dense", "hybrid")
    for who in ("ann", "robert")
]
CLUSTERS = ("talk", "^(.*)-", "talks.csv")


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """A table of answers of four conversations, and a table of these."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "answers.csv", ROWS)
    talks = {row["topic"]: row["talk"] for row in ROWS}
    write(tmp_path / "talks.csv", [{"topic": topic, "cluster": talk} for topic, talk in talks.items()])
    return tmp_path


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize(
    "command",
    ["compare", "evaluate", "plan", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("table", "agree"))],
)
def test_a_column_a_pattern_and_a_file_say_the_same_clusters(qrowd, answers, command):
    outcomes = [qrowd(command, "answers.csv", "--clusters", clusters) for clusters in CLUSTERS]
    assert [outcome.status for outcome in outcomes] == [0, 0, 0], outcomes[0].err
    assert len({outcome.out for outcome in outcomes}) == 1
    assert "4 clusters of 18 topics" in outcomes[0].out
    assert " | clusters 4 " in outcomes[0].out
    plain = qrowd(command, "answers.csv").out
    assert "cluster" not in plain
    assert plain != outcomes[0].out


def test_a_report_names_the_clusters(qrowd, answers):
    outcome = qrowd("report", "answers.csv", "--clusters", "talk", "-o", "report.html")
    assert outcome.status == 0, outcome.err
    assert "4 clusters of 18 topics" in (answers / "report.html").read_text()


def test_leaderboards_take_a_pattern_or_a_file(qrowd, answers):
    for judge in ("ann", "robert"):
        rows = [
            {"run_id": row["system"], "topic_id": row["topic"], "measure": "GRADE", "value": row["value"]}
            for row in ROWS
            if row["assessor"] == judge
        ]
        (answers / f"{judge}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second = (qrowd("leaderboards", "ann.jsonl", "robert.jsonl", "--clusters", one) for one in CLUSTERS[1:])
    assert first.status == 0, first.err
    assert "4 clusters of 18 topics" in first.out
    assert first.out == second.out
    column = qrowd("leaderboards", "ann.jsonl", "robert.jsonl", "--clusters", "talk")
    assert (column.status, "--clusters talk: neither a file" in column.err) == (2, True)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ("speech", "answers.csv: column cluster=speech: the columns are topic"),
        ("^(tr.*)-", "topics in no cluster, such as 'visa-1'"),
        ("(", "--clusters (: a pattern with a group was expected"),
        ("twice.csv", "twice.csv: topic trip-1 is in the clusters trip and visa"),
        ("answers.csv", "there is no column 'cluster' among topic"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_place(qrowd, answers, clusters, message):
    write(answers / "twice.csv", [{"topic": "trip-1", "cluster": talk} for talk in ("trip", "visa")])
    outcome = qrowd("compare", "answers.csv", "--clusters", clusters)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_topic_in_two_clusters_of_a_column_is_named_with_its_line(qrowd, answers):
    write(answers / "answers.csv", [*ROWS, {**ROWS[0], "talk": "food", "assessor": "eve"}])
    outcome = qrowd("compare", "answers.csv", "--clusters", "talk")
    assert outcome.status == 2
    assert f"answers.csv, line {len(ROWS) + 2}: topic trip-1 is in cluster food here and in trip" in outcome.err


def test_qrels_have_no_column_of_clusters(qrowd, answers):
    (answers / "ann.qrels").write_text("a-1 0 d1 1\na-2 0 d1 0\n")
    (answers / "x.run").write_text("a-1 Q0 d1 1 2 x\na-2 Q0 d1 1 2 x\n")
    outcome = qrowd("evaluate", "ann.qrels", "x.run", "--clusters", "talk")
    assert (outcome.status, "--clusters talk: neither a file" in outcome.err) == (2, True)
