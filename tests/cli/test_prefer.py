"""`qrowd prefer` and `qrowd study preferences`."""

import json
from math import nan

import pandas as pd
import pytest

import qrowd as library
import qrowd_papers.preferences.study as study
from qrowd.comparison import rank_intervals
from qrowd.preferences import pairwise_preferences, system_worths


def _battles():
    """Three systems of rising worth, and one that loses everything, by two judges who see first what they like less."""
    lines = ["topic,model_a,model_b,winner,judge"]
    for t in range(12):
        for who in ("ann", "gpt"):
            for a, b in (("low", "high"), ("mid", "low"), ("high", "mid")):
                better, worse = sorted((a, b), key=("low", "mid", "high").index, reverse=True)
                won = (better, better, better, worse, "tie", "both bad")[(t + len(who + a)) % 6]
                lines.append(f"t{t},{a},{b},{won},{who}")
    return "\n".join([*lines, "t1,low,last,low,ann", ""])


BATTLES = _battles()


@pytest.fixture
def said(folder):
    return ["--preferences", folder / "preferences.csv"]


@pytest.fixture
def runs(folder):
    return ["--runs", folder / "runs"]


def test_systems_are_scored_by_preferences_as_they_are_by_grades(qrowd, said, runs, tmp_path):
    outcome = qrowd("evaluate", *runs, *said, "-m", "ppref@10", "--baseline", "bm25", "--output", "s.csv")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("By ppref@10, rerank-large leads for all 3 assessors")
    assert "wins/ties/losses" in outcome.out
    assert "of the first 10 retrieved documents were compared by nobody" in outcome.out
    assert "scale" not in outcome.out
    frame = pd.read_csv(tmp_path / "s.csv")
    assert len(frame) == 3 * 25 * 12
    assert frame["score"].between(0, 1).all()


def test_agreement_says_how_consistent_assessors_are_and_where_preferences_meet_grades(qrowd, said, folder):
    outcome = qrowd("prefer", "agree", *said, "--judgments", folder / "gold.qrels")
    assert outcome.status == 0, outcome.err
    first = outcome.out.splitlines()[0]
    assert first.startswith("11,700 preferences by 3 assessors on 25 topics; 98.")
    assert "of the pairs that both ordered alike" in first
    assert "probability that another assessor answers the column where one assessor answers the row" in outcome.out
    assert "assessor-1, gold" in outcome.out
    assert "cycles: " in outcome.out
    assert "tested chains: not known, since no order of judging is recorded" in outcome.out
    assert "by chance" not in outcome.out


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((1, 2, 3), "in 1 of 1 i over k was judged last, and the answer could break the chain; 1 of these were kept"),
        ((1, 3, 2), "0 of 1; no pair was judged whose answer earlier ones implied"),
    ],
)
def test_chains_that_no_answer_could_break_are_said_to_show_nothing(qrowd, tmp_path, order, words):
    rows = zip(("a,b", "b,c", "a,c"), order, strict=True)
    lines = ["topic,preferred,other,assessor,order", *(f"q,{pair},ann,{place}" for pair, place in rows)]
    (tmp_path / "p.csv").write_text("\n".join(lines) + "\n")
    assert words in qrowd("prefer", "agree", "--preferences", tmp_path / "p.csv").out


@pytest.mark.parametrize(
    ("pairs", "ordered", "words"),
    [
        ("ab bc ac", True, "100.0 % of chains are kept;"),
        ("ab ac bc", True, "no answer could break a chain, because pairs that earlier answers imply were not asked"),
        ("ab bc ca", True, "0.0 % of chains are kept"),
        ("ab bc ac cd de", True, "100.0 % of the 1 chain that an answer could break are kept"),
        ("ab bc ac cd", False, "100.0 % of chains are kept, which may be so by construction"),
        ("ab bc ac", False, "100.0 % of chains are kept;"),
    ],
)
def test_only_chains_that_an_answer_could_break_show_consistency(qrowd, tmp_path, pairs, ordered, words):
    rows = [f"q,{first},{second},ann{f',{place}' * ordered}" for place, (first, second) in enumerate(pairs.split())]
    rows = [*rows, f"q,y,z,bob{',99' * ordered}"]
    header = "topic,preferred,other,assessor" + ",order" * ordered
    (tmp_path / "p.csv").write_text("\n".join([header, *rows]) + "\n")
    outcome = qrowd("prefer", "agree", "--preferences", tmp_path / "p.csv")
    assert words in outcome.out.splitlines()[0] + ";"
    assert f"pairs: {len(rows)} were asked and ordered" in outcome.out


def test_log_worths_come_with_intervals_and_assessor_weights(qrowd, said, tmp_path):
    outcome = qrowd(
        "prefer",
        "bradley-terry",
        *said,
        "--assessor-weights",
        "--n-resamples",
        5,
        "--seed",
        3,
        "--output",
        "strength.json",
    )
    assert outcome.status == 0, outcome.err
    assert "Bradley-Terry log-worths of 1,000 documents on 25 topics" in outcome.out
    assert "converged in" in outcome.out
    assert "5 resamples of pairs; seed: 3" in outcome.out
    rows = json.loads((tmp_path / "strength.json").read_text())["rows"]
    assert len(rows) == 1000
    again = qrowd("prefer", "bradley-terry", *said, "--assessor-weights", "--n-resamples", 5, "--seed", 3)
    assert again.out == outcome.out


def test_an_excluded_assessor_has_no_say_in_scores_by_preferences(qrowd, said, runs, tmp_path):
    outcome = qrowd("evaluate", *runs, *said, "--exclude", "assessor-[12]", "--output", "s.json")
    assert outcome.status == 0, outcome.err
    assert outcome.err.startswith("note: excluded: assessor-1, assessor-2\n")
    assert json.loads((tmp_path / "s.json").read_text())["assessor"] == ["assessor-3"]


def test_options_for_tables_hold_for_the_grades_too_that_preferences_are_compared_with(qrowd, tmp_path):
    (tmp_path / "p.csv").write_text("topic,preferred,other,assessor\nt,d1,d2,ann\nt,d3,d2,ann\n")
    (tmp_path / "g.csv").write_text("topic,document,x\nt,d1,1\nt,d2,0\nt,,2\n")
    options = ("--column", "value=x", "--incomplete-rows", "drop")
    outcome = qrowd("prefer", "agree", "--preferences", "p.csv", "--judgments", "g.csv", *options)
    assert outcome.status == 0, outcome.err
    assert "ann, g                          1      1.000                     0" in outcome.out


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize(
    "option",
    [
        "--slots 1",
        "--recode r.toml",
        "--scale *=0-3",
        "--labels 'low<high'",
        "--normalise median",
        "--clusters ^(.)",
        "--identical-rows drop",
        "--judgments j.qrels",
    ],
)
def test_options_of_judgments_are_refused_where_preferences_are_scored(qrowd, said, runs, command, option):
    outcome = qrowd(command, *runs, *said, *option.replace("'", "").split())
    assert (outcome.status, outcome.err) == (
        2,
        f"qrowd: {option}: it is for judgments, and these are preferences; leave it out\n",
    )


def test_a_choice_of_repeats_is_refused_in_the_words_of_the_command_line(qrowd, said, runs):
    for command in ("evaluate", "report"):
        outcome = qrowd(command, *runs, *said, "--repeats", "last")
        assert outcome.status == 2
        assert outcome.err == "qrowd: --repeats last: every preference counts, also a repeated one; leave it out\n"


def test_methods_that_combine_judgments_are_refused_where_preferences_are_scored(qrowd, said, runs):
    outcome = qrowd("evaluate", *runs, *said, "--method", "majority")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith("qrowd: --method majority")
    assert outcome.err.endswith(": it is for judgments, and these are preferences; leave it out\n")


def test_preferences_are_not_cautioned_as_grades_are(tmp_path, qrowd, runs):
    rows = [f"q01,q01-{d:05},q01-{d + 1:05},{name}" for name, d in [("ann", 22), ("bob", 40), ("cat", 28), ("dan", 10)]]
    (tmp_path / "p.csv").write_text("\n".join(["topic,preferred,other,assessor", *rows, ""]))
    outcome = qrowd("evaluate", *runs, "--preferences", "p.csv")
    assert outcome.status == 0, outcome.err
    assert "cover the whole pool" in outcome.out
    assert "Caution" not in outcome.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "--runs", "RUNS", "--preferences", "PREFERENCES", "-m", "AP"), "AP: needs grades"),
        (("evaluate", "--runs", "RUNS", "--preferences", "GOLD"), "gold.qrels, line "),
        (
            ("evaluate", "--runs", "RUNS", "--preferences", "PREFERENCES", "--combine-scales", "rescaled"),
            "--combine-scales rescaled: it is for --method; leave it out",
        ),
        (
            ("evaluate", "--runs", "RUNS", "--judgments", "GOLD", "--combine-scales", "rescaled"),
            "--combine-scales rescaled: it is for --method; leave it out",
        ),
        (
            ("evaluate", "--runs", "RUNS", "--judgments", "GOLD", "--format", "pairs"),
            "--format pairs: it has no effect without --preferences; leave it out",
        ),
        (
            ("report", "--runs", "RUNS", "--judgments", "GOLD", "--format", "pairs"),
            "--format pairs: it has no effect without --preferences; leave it out",
        ),
        (("evaluate", "--runs", "RUNS", "--preferences", "nowhere.csv"), "nowhere.csv: there is no such file"),
        (("prefer", "agree", "--preferences", "PREFERENCES", "--judgments", "nowhere.qrels"), "nowhere.qrels"),
        (
            ("prefer", "bradley-terry", "--preferences", "PREFERENCES", "--resample", "topics"),
            "--resample topics: documents are ranked within a topic; rank systems by --across-topics",
        ),
        (("prefer", "bradley-terry", "--preferences", "PREFERENCES", "--resample", "all"), "'--resample': 'all'"),
        (
            ("prefer", "bradley-terry", "--preferences", "BATTLES", "--across-topics", "--position"),
            "--position: it has no effect beside --across-topics; leave it out",
        ),
        (("prefer", "bradley-terry", "--preferences", "WRONG", "--across-topics"), "wrong.csv, line 3: the preferred"),
        (("prefer", "bradley-terry", "--preferences", "EMPTY", "--across-topics"), "empty.csv, line 2: preferred is"),
        (("prefer", "bradley-terry", "--preferences", "ONE_WAY", "--across-topics"), "no two of the 2 systems beat"),
        (
            ("prefer", "bradley-terry", "--preferences", "ONE_TOPIC", "--across-topics"),
            "2 topics in which all",
        ),
        (("prefer", "bradley-terry", "--preferences", "PREFERENCES", "--position"), "--position: the preferences"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(qrowd, folder, tmp_path, arguments, message):
    known = {"RUNS": folder / "runs", "PREFERENCES": folder / "preferences.csv", "GOLD": folder / "gold.qrels"}
    tables = {"BATTLES": BATTLES, "WRONG": "x,y,tie\nx,y,maybe\n", "EMPTY": "x,y,\n", "ONE_WAY": "x,y,model_a\n"}
    known["ONE_TOPIC"] = tmp_path / "one_topic.csv"
    known["ONE_TOPIC"].write_text("topic,winner,loser\nt,x,y\nt,y,x\nt,x,y\n")
    for name, rows in tables.items():
        known[name] = tmp_path / f"{name.lower()}.csv"
        known[name].write_text(rows if name == "BATTLES" else f"model_a,model_b,winner\n{rows}")
    outcome = qrowd(*(known.get(argument, argument) for argument in arguments))
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q a a\n", "line 1: "),
        ("q a b c\n", "the preferred document 'c' is neither 'a' nor 'b'"),
        ("", "empty"),
        ("q a b\nq a\n", "line 2: "),
    ],
)
def test_a_faulty_file_of_preferences_is_refused_with_its_line(qrowd, runs, tmp_path, rows, message):
    (tmp_path / "faulty.txt").write_text(rows)
    outcome = qrowd("evaluate", *runs, "--preferences", "faulty.txt")
    assert outcome.status == 2
    assert "faulty.txt" in outcome.err
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.nightly
def test_the_quick_study_of_preferences_writes_its_page(qrowd, tmp_path, monkeypatch):
    monkeypatch.setitem(study.QUICK, "n_topics", 6)
    for name in ("judgments_needed", "grades_needed"):  # of 1 topic instead of 20
        whole = getattr(study, name)
        monkeypatch.setattr(study, name, lambda topics, *rest, whole=whole, **seed: whole(topics[:1], *rest, **seed))
    outcome = qrowd("study", "recompute", "preferences", "--quick", "--output", "preferences.md")
    assert outcome.status == 0, outcome.err
    text = (tmp_path / "preferences.md").read_text()
    assert "The paper reports about n." in text
    assert "| utility, Bad, stop |" in text


def test_battles_rank_systems_over_topics_and_judges(qrowd, tmp_path):
    (tmp_path / "battles.csv").write_text(BATTLES)
    command = ("prefer", "bradley-terry", "--preferences", "battles.csv", "--across-topics", "--n-resamples", 500)
    outcome = qrowd(*command, "-o", "x.csv")
    assert outcome.status == 0, outcome.err
    lines = outcome.out.splitlines()
    tied, both_bad = (sum(word in line for line in BATTLES.splitlines()) for word in ("tie", "both bad"))
    assert lines[0].startswith(f"73 battles ({tied + both_bad} ties, {both_bad} of them both bad) of 4 systems by 2 ")
    assert "simultaneous confidence set over topics and assessors" in lines[0]
    assert [line.split()[0] for line in lines[4:8]] == ["high", "mid", "low", "last"]
    assert lines[7].split() == ["last", *["-"] * 5, "0/0/1"]
    assert "no log-worth: for systems that won, or lost, all battles against the others" in outcome.out
    assert "ties: a third outcome (Davidson), nu " in outcome.out
    note = next(line for line in lines if line.startswith("shown first: preferred in "))
    assert note.endswith("] by itself")
    assert "preferences by all, [" in note
    assert "log-worths: do not allow for which of two answers was shown first" in outcome.out
    judges = [line.split() for line in lines if line.startswith(("ann ", "gpt "))]
    assert [row[0] for row in judges] == ["ann", "gpt", "ann", "gpt"]  # their rankings, and what order does to them
    assert judges[0][1] == "37"
    assert judges[0][-5:] == ["high", ">", "mid", ">", "low"]
    frame = pd.read_csv(tmp_path / "x.csv")
    battles = library.read_preferences(tmp_path / "battles.csv")
    worths = system_worths(battles)
    assert frame["log_worth"].tolist() == pytest.approx(
        [*sorted(worths.log_worth[:3])[::-1], nan], nan_ok=True, abs=1e-9
    )
    pairs = pairwise_preferences(battles)
    assert f"ann, gpt {pairs.n[0, 1]} {pairs.agreement[0, 1]:.3f}" in [" ".join(line.split()) for line in lines]
    ranks = rank_intervals(worths.scores, n_resamples=500)
    assert frame["rank_low"].tolist()[:3] == ranks.to_frame()["rank_low"].tolist()
    signature = "bradley-terry | runs 3 | topics 12 | assessors 2 | ties davidson | both 500 | seed 1"
    assert lines[-1].endswith(signature)
    alone = qrowd(*command, "--resample", "topics", "--ties", "half").out
    assert "simultaneous confidence set over topics)" in alone
    assert "Davidson" not in alone
    assert f"({tied + both_bad} ties, {both_bad} of them both bad)" in alone
    assert alone.splitlines()[-1].endswith("assessors 2 | ties half | over topics 500 | seed 1")


def test_a_tie_counts_as_one_preference_though_it_is_half_of_one_each_way(qrowd, tmp_path):
    rows = ["q1,x,y,model_a,ann", "q2,x,y,tie,ann", "q1,x,y,model_b,bob", "q2,y,x,tie,bob", "q3,x,y,tie,bob"]
    (tmp_path / "battles.csv").write_text("\n".join(["topic,model_a,model_b,winner,assessor", *rows, ""]))
    out = qrowd("prefer", "agree", "--preferences", "battles.csv").out
    assert out.startswith("5 preferences by 2 assessors on 3 topics")
    counts = [line.split()[:2] for line in out.splitlines() if line.startswith(("ann", "bob"))]
    assert counts[:2] == [["bob", "3"], ["ann", "2"]]


@pytest.mark.parametrize("command", [("evaluate",), ("compare",), ("agree",)])
def test_battles_given_as_judgments_are_sent_to_the_command_that_says_what_can_be_asked(qrowd, tmp_path, command):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "battles.csv").write_text("topic,model_a,model_b,winner\nq1,x,y,model_a\nq2,x,y,tie\n")
    outcome = qrowd(*command, "games")
    assert outcome.status == 2
    assert "qrowd check" in outcome.err
    assert outcome.err.count("\n") == 1
    if command != ("agree",):
        assert "; qrowd check games says what needs none\n" in outcome.err
    checked = qrowd("check", "games").out
    assert "qrowd prefer bradley-terry --preferences games/battles.csv --across-topics" in " ".join(checked.split())


def test_battles_without_times_order_or_ties_say_less(qrowd, tmp_path):
    rows = [f"{t},{won},{lost}" for t in "pqrs" for won, lost in (("x", "y"), ("y", "x"), ("x", "y"))]
    (tmp_path / "battles.csv").write_text("\n".join(["topic,winner,loser", *rows, ""]))
    outcome = qrowd("prefer", "bradley-terry", "--preferences", "battles.csv", "--across-topics")
    assert outcome.out.startswith("12 battles (0 ties, 0 of them both bad) of 2 systems by 1 assessor on 4 topics: ")
    assert [line.split()[:2] for line in outcome.out.splitlines()[4:6]] == [["x", "0.347"], ["y", "-0.347"]]
    assert "shown first" not in outcome.out
    assert "assessors 1 | ties davidson | over topics 10000 | seed 1" in outcome.out


@pytest.mark.parametrize(
    ("line", "problem", "first"),
    [
        ("prefer --campaign pilot", "no such option: --campaign", "qrowd prefer agree"),
        ("prefer", "missing command", "qrowd prefer agree"),
        ("judge batch", "missing command", "qrowd judge batch write"),
        ("--campaign pilot", "no such option: --campaign", "qrowd demo"),
    ],
)
def test_a_group_without_a_command_says_in_a_line_what_to_type(qrowd, line, problem, first):
    outcome = qrowd(*line.split())
    group = first.rpartition(" ")[0]
    assert outcome.status == 2
    assert outcome.err == f"qrowd: {problem}; write a command before its options, as in {first}; see {group} --help\n"
