"""One system, one topic, one assessor, one document: the texts speak of one."""

import re

import pytest

PLURAL = re.compile(r"(?<![\d.,/-])\b1 (?:more |other )?(?:\([\w, ]+\) )?(?!was\b|is\b|has\b|as\b)([a-z]+s)\b")
NOT_PLURAL = {"repeats", "follows", "sees", "ranks", "differs", "axis", "bias", "this", "less"}
COMMANDS = [
    "evaluate --runs s.run --judgments ann.qrels",
    "evaluate --runs s.run r.run --judgments ann.qrels",
    "evaluate --runs s.run r.run --judgments ann.qrels bob.qrels -m nDCG@10 --method mean",
    "compare --runs s.run r.run --judgments ann.qrels",
    "compare --runs s.run r.run --judgments ann.qrels bob.qrels --reference bob",
    "report --runs s.run r.run --judgments ann.qrels bob.qrels -o page.md",
    "agree --judgments ann.qrels bob.qrels",
    "assessors --judgments ann.qrels",
    "aggregate --judgments ann.qrels bob.qrels",
    "predict --judgments ann.qrels bob.qrels",
    "check s.run ann.qrels",
    "evaluate --runs s.run --preferences p.csv",
    "prefer agree --preferences p.csv",
    "prefer bradley-terry --preferences p.csv",
    "magnitude summary --judgments m.csv",
    "magnitude normalise --judgments m.csv",
    "replace --judgments ann.qrels --model bob.qrels",
    "plan --runs s.run r.run --judgments ann.qrels bob.qrels",
]


@pytest.fixture
def ones(tmp_path):
    (tmp_path / "ann.qrels").write_text("t 0 d1 1\n")
    (tmp_path / "bob.qrels").write_text("t 0 d1 1\n")
    (tmp_path / "s.run").write_text("t Q0 d1 1 2 s\n")
    (tmp_path / "r.run").write_text("t Q0 d2 1 2 r\n")
    (tmp_path / "p.csv").write_text("topic,preferred,other,assessor\nt,d1,d2,ann\n")
    (tmp_path / "m.csv").write_text("topic,document,assessor,value,unit,order\nt,d1,ann,5,u,1\nt,d2,ann,50,u,2\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_one_of_something_is_singular(qrowd, ones, tmp_path, command):
    outcome = qrowd(*command.split())
    written = "".join(path.read_text() for path in tmp_path.glob("page.*"))
    text = "\n".join(line for line in (outcome.out + outcome.err + written).splitlines() if "  " not in line.strip())
    assert text
    assert [word for word in PLURAL.findall(text) if word not in NOT_PLURAL] == []
    assert not re.search(r"\ball 2\b|\b[Nn]one of 1\b|\bof 0 assessors\b", text)


def test_the_test_of_two_systems_is_of_the_two(qrowd, tmp_path):
    (tmp_path / "ann.qrels").write_text("t 0 d1 1\nu 0 d2 1\n")
    (tmp_path / "s.run").write_text("t Q0 d1 1 2 s\nu Q0 d2 1 2 s\n")
    (tmp_path / "r.run").write_text("t Q0 d2 1 2 r\nu Q0 d1 2 1 r\nu Q0 d2 1 2 r\n")
    outcome = qrowd("evaluate", "--runs", "s.run", "r.run", "--judgments", "ann.qrels")
    assert "come from one test of the two systems by the largest |t|" in outcome.out
    outcome = qrowd("compare", "--runs", "s.run", "r.run", "--judgments", "ann.qrels", "--systems", "s", "r")
    assert "over 2 topics and 1 assessor (" in outcome.out


def test_a_report_with_one_difference_does_not_speak_of_all_of_them(qrowd, tmp_path):
    for name, grades in (("ann", "10"), ("bob", "11")):
        rows = (f"q{q} 0 d{d} {grades[(q + d) % 2]}\n" for q in range(4) for d in range(2))
        (tmp_path / f"{name}.qrels").write_text("".join(rows))
    for name, scores in (("s", "12"), ("r", "21")):
        rows = (f"q{q} Q0 d{d} 1 {scores[d]} {name}\n" for q in range(4) for d in range(2))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    command = "report --runs s.run r.run --judgments ann.qrels bob.qrels -o page.html"
    assert qrowd(*command.split()).status == 0
    page = (tmp_path / "page.html").read_text()
    assert "All 1 " not in page
