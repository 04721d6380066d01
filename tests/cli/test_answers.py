"""Every command that takes runs and judgments, on one small table of answers: what it says, against loops."""

import csv
import itertools
import re

import numpy as np
import pytest

import qrowd as library
from qrowd.agreement import krippendorff_alpha
from qrowd.errors import ArgumentError
from qrowd.executors import Processes
from qrowd.sequential import next_judgments

pytestmark = pytest.mark.usefixtures("coarse")

SYSTEMS, PEOPLE, UNITS = ("long", "short", "none"), ("ann", "bob", "cem"), ("vital/n1", "vital/n2", "okay/n3")
TOPICS = tuple(f"q{i:02d}" for i in range(12))
CHANCE = dict(zip(SYSTEMS, (0.8, 0.6, 0.1), strict=True))


def values():
    """{(topic, system, unit, person): value}, where the systems differ and people do, too."""
    rng = np.random.default_rng(5)
    truth = {key: rng.random() < CHANCE[key[1]] for key in itertools.product(TOPICS, SYSTEMS, UNITS)}
    return {
        (*key, person): int(true if rng.random() < 0.85 else not true)
        for key, true in truth.items()
        for person in PEOPLE
    }


VALUES = values()
FRAME = {
    "topic": [key[0] for key in VALUES],
    "system": [key[1] for key in VALUES],
    "criterion": [key[2].split("/")[0] for key in VALUES],
    "unit": [key[2].split("/")[1] for key in VALUES],
    "assessor": [key[3] for key in VALUES],
    "value": list(VALUES.values()),
}


def mean(system, people=PEOPLE, units=UNITS):
    """The mean over topics and people of the share of the units that the answer has, by a loop."""
    total = 0.0
    for topic in TOPICS:
        for person in people:
            total += sum(VALUES[topic, system, unit, person] for unit in units) / len(units)
    return total / len(TOPICS) / len(people)


@pytest.fixture
def answers(qrowd, tmp_path):
    """The command, in a folder with the table."""
    with open(tmp_path / "answers.csv", "w", newline="") as file:
        csv.writer(file).writerows([FRAME, *zip(*FRAME.values(), strict=True)])

    def call(*arguments, status=0):
        outcome = qrowd(*arguments)
        assert outcome.status == status, outcome.err
        return outcome

    return call


def row_of(text, name):
    """The cells of the row of a table."""
    return next(line.split() for line in text.splitlines() if line.startswith(f"{name} "))


def test_evaluate_has_the_mean_of_each_system_and_criterion(answers):
    out = answers("evaluate", "answers.csv").out
    assert out.startswith("By Mean, long ")
    assert "\ncriteria: Mean joins vital and okay; of one: -m 'Mean(criterion=vital)'\n" in out
    for system in SYSTEMS:
        assert row_of(out, system)[1] == f"{mean(system):.4f}"
    vital = answers("evaluate", "answers.csv", "-m", "Mean(criterion=vital)").out
    assert row_of(vital, "long")[1] == f"{mean('long', units=UNITS[:2]):.4f}"


WIDE = "topic,system,criterion,assessor,value\n" + "".join(
    f"t{t},{system},{criterion},{person},{value + t % 2}\n"
    for t in range(6)
    for system, base in (("A", 1), ("B", 2))
    for criterion, value in (("clear", base), ("win-rate", 40 * base))
    for person in PEOPLE
)


def test_check_counts_units_and_says_each_note_once(qrowd, tmp_path):
    (tmp_path / "wide.csv").write_text(WIDE + "t0,A,clear,ann,\n")
    out = " ".join(qrowd("check", "wide.csv", "--incomplete-rows", "drop").out.split())
    assert "runs: 2 systems, 6 topics, 4 unit ids, 24 rows, from wide.csv" in out
    assert "documents" not in out
    assert out.count("wide.csv: 1 row with a missing cell") == 1


def test_criteria_of_different_ranges_are_not_averaged_silently(qrowd, tmp_path):
    (tmp_path / "wide.csv").write_text(WIDE)
    note = "the highest values of criteria are from 3 to 81, so that Mean is mostly of win-rate; name the criterion: "
    outcome = qrowd("evaluate", "wide.csv")
    assert outcome.err == f"note: wide.csv: {note}Mean(criterion=win-rate)\n"
    assert note in " ".join(qrowd("check", "wide.csv").out.split())
    (tmp_path / "zero.csv").write_text(re.sub(r"(win-rate,\w+),\d+", r"\1,0", WIDE))
    assert qrowd("evaluate", "zero.csv").err == ""  # a criterion that nobody gave anything has no range


@pytest.mark.filterwarnings("error")
def test_ranks_by_several_methods_are_drawn_of_grades_above_1_without_those_that_take_no_such_scores(qrowd, tmp_path):
    (tmp_path / "grades.csv").write_text(re.sub(r"(win-rate,\w+),\d+", r"\1,0", WIDE))
    outcome = qrowd("plot", "bump", "--judgments", "grades.csv", "-m", "Mean(criterion=clear)", "-o", "b.csv")
    assert outcome.status == 0, outcome.err
    with open(tmp_path / "b.csv", newline="") as file:
        assert {row["method"] for row in csv.DictReader(file)} == {"uniform", "majority", "dawid-skene"}


def test_compare_has_the_difference(answers):
    out = answers("compare", "answers.csv", "--systems", "long", "none").out
    assert out.startswith(f"By Mean, long beats none by {mean('long') - mean('none'):.3f} [")


def test_table_has_a_mean_for_each_assessor_and_says_mean_once(answers):
    out = answers("table", "answers.csv", "--per-assessor").out
    assert out.startswith("By Mean, long leads.\n\nMean of 3 systems by assessor (12 topics, 3 assessors)")
    assert row_of(out, "short")[1:4] == [f"{mean('short', [person]):.3f}" for person in PEOPLE]


@pytest.mark.filterwarnings("error")
def test_report_says_who_leads_and_how_few_changes_reverse_it(answers, tmp_path):
    out = answers("report", "answers.csv", "-o", "report.md").out
    assert f"ahead of short by {mean('long') - mean('short'):.3f} [" in out or "long beats short" in out
    page = (tmp_path / "report.md").read_text()
    assert "**Systems by Mean, compared with long**" in page
    assert "in 324 judgments" in page


@pytest.mark.filterwarnings("error")
def test_the_changes_that_fragility_lists_reverse_the_difference():
    """Each of them moves one judgment by one grade, and the means of loops change places after the last."""
    rows = [key for key in VALUES if key[3] != "cem" or key[0] < "q06"]  # cells without judgments weigh nothing
    chosen = set(rows)
    keep = [key in chosen for key in VALUES]
    frame = {name: list(itertools.compress(cells, keep)) for name, cells in FRAME.items()}
    runs, judgments = library.Runs.from_frame(frame), library.Judgments.from_frame(frame)
    found = library.fragility(runs, judgments, "Mean", systems=["long", "short"])
    changes = found.changes("long", "short")
    assert 1 <= found.n_changes_low[0] <= found.n_changes_high[0] == len(changes.topics)
    values = {key: VALUES[key] for key in rows}
    cells = {(key[0], key[3]) for key in rows}

    def difference():
        by_topic = {topic: [] for topic in TOPICS}
        for topic, person in cells:
            sums = [sum(values[topic, system, unit, person] for unit in UNITS) for system in ("long", "short")]
            by_topic[topic].append((sums[0] - sums[1]) / len(UNITS))
        return np.mean([np.mean(each) for each in by_topic.values()])

    assert difference() == pytest.approx(found.difference[0])
    columns = changes.topics, changes.documents, changes.assessors, changes.before, changes.after, changes.difference
    for topic, document, person, before, after, left in zip(*columns, strict=True):
        key = (topic, *document.split("/", 1), person)
        assert (values[key], abs(after - before)) == (before, 1)
        values[key] = after
        assert difference() == pytest.approx(left)
    assert difference() < 0


def test_agree_has_alpha_by_criterion_of_units(answers):
    out = answers("agree", "answers.csv").out
    assert out.splitlines()[0].endswith("from 324 judgments of 108 units.")
    for criterion, n in (("vital", 72), ("okay", 36)):
        rows = [name == criterion for name in FRAME["criterion"]]
        part = {name: list(itertools.compress(cells, rows)) for name, cells in FRAME.items()}
        alpha = krippendorff_alpha(library.Judgments.from_frame(part), n_resamples=0).item().value
        line = next(line.split() for line in out.splitlines() if line.split()[:1] == [criterion])
        assert (line[1], line[5]) == (f"{alpha:.3f}", str(n))


def test_assessors_have_their_grades(answers):
    out = answers("assessors", "answers.csv").out
    ones = sum(value for key, value in VALUES.items() if key[3] == "bob")
    assert row_of(out, "bob")[1:3] == ["108", "12"]
    assert f"{100 * ones / 108:.0f} %" in next(line for line in out.splitlines() if line.startswith("bob "))


def test_disagreements_are_of_units(answers):
    split = sum(len({VALUES[(*key, person)] for person in PEOPLE}) > 1 for key in {key[:3] for key in VALUES})
    out = answers("disagreements", "--judgments", "answers.csv").out
    assert out.startswith(f"Assessors gave {split} of 108 units different grades; ")
    assert "document" not in out


def test_replace_compares_an_assessor_with_the_others_on_answers(answers):
    out = answers("replace", "--judgments", "answers.csv", "--model", "cem").out
    assert out.startswith("Whether cem may replace ann and bob is not known: ")
    assert "By Mean of 3 systems, tau-b of its ranking" in out
    assert "document" not in out


def test_plan_has_components_and_the_difference(answers):
    out = answers("plan", "--judgments", "answers.csv").out
    assert out.startswith("By Mean, now, 12 topics with the same 3 assessors rank systems with generalizability ")
    assert f"long is ahead of short by {mean('long') - mean('short'):.3f} [" in out


def test_aggregate_writes_the_majority_of_each_unit(answers, tmp_path):
    answers("aggregate", "answers.csv", "--qrels", "merged.qrels")
    merged = {
        (topic, document): float(value)
        for topic, _, document, value in map(str.split, (tmp_path / "merged.qrels").read_text().splitlines())
    }
    for topic, system, unit in {key[:3] for key in VALUES}:
        votes = sum(VALUES[topic, system, unit, person] for person in PEOPLE)
        assert merged[topic, f"{system}/{unit}"] == float(votes >= 2)


def test_a_plot_takes_the_answers_of_the_judgments(answers, tmp_path):
    out = answers("plot", "ranks", "--judgments", "answers.csv", "-o", "ranks.svg").out
    assert out.startswith("Ranks by Mean: ")
    assert "none" in (tmp_path / "ranks.svg").read_text()
    out = answers("plot", "systems", "--judgments", "answers.csv", "-o", "systems.svg").out
    assert out.startswith("Mean of 3 systems, long first, ")


def test_check_says_what_answers_can_be_asked(answers):
    out = answers("check", "answers.csv").out
    assert "runs: 3 systems, 12 topics" in out
    assert "qrowd compare --judgments answers.csv --systems long short" in out


def test_next_draws_units_and_reads_how_they_were_judged(answers, tmp_path):
    options = ("--question", "long > short", "--scale", "0-1", "--model", "cem", "-n", "5", "--judgments")
    rows = [row for row in zip(*FRAME.values(), strict=True) if row[4] == "cem" or row[0] < "q03"]
    with open(tmp_path / "some.csv", "w", newline="") as file:
        csv.writer(file).writerows([FRAME, *rows])
    out = answers("next", *options, "some.csv", "-o", "batch.csv").out
    assert "18 of 72 units judged" in out
    assert "document" not in out.replace("n-documents", "")
    with open(tmp_path / "batch.csv") as file:
        batch = [(row["topic"], row["document"]) for row in csv.DictReader(file)]
    assert len(batch) == 5
    assert all(topic >= "q03" and document.split("/")[0] in ("long", "short") for topic, document in batch)
    judged = [(topic, document, "ann", VALUES[topic, *document.split("/", 1), "ann"]) for topic, document in batch]
    with open(tmp_path / "judged.csv", "w", newline="") as file:
        csv.writer(file).writerows([("topic", "document", "assessor", "value"), *judged])
    out = answers("next", *options, "some.csv", "judged.csv", "--runs", "some.csv").out
    assert "23 of 72 units judged" in out


def test_next_has_the_difference_of_means_once_all_units_are_judged():
    runs, judgments = library.Runs.from_frame(FRAME), library.Judgments.from_frame(FRAME)
    for measure, units in (("Mean", UNITS), ("Mean(criterion=vital)", UNITS[:2])):
        result = next_judgments(runs, judgments, question="long > short", measure=measure, scale="0-1")
        expected = mean("long", units=units) - mean("short", units=units)
        np.testing.assert_allclose(result.statement.estimate, [expected])
        assert not result.topics


def test_next_says_where_an_answer_has_no_unit(answers, tmp_path):
    rows = [row for row in zip(*FRAME.values(), strict=True) if row[:3] != ("q04", "short", "okay")]
    with open(tmp_path / "holes.csv", "w", newline="") as file:
        csv.writer(file).writerows([FRAME, *rows])
    measure = "Mean(criterion=okay)"
    call = ("next", "--judgments", "holes.csv", "--question", "long > short", "--scale", "0-1", "-m", measure)
    problem = "short has no unit in topic q04; leave that topic out of the answers"
    assert answers(*call, status=2).err == f"qrowd: Mean(criterion='okay'): {problem}\n"


COMMANDS = [
    ("evaluate",),
    ("compare",),
    ("plan",),
    ("disagreements",),
    ("replace", "--model", "cem"),
    ("next", "--question", "long > short", "--scale", "0-1"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_measure_of_rankings_that_was_asked_for_is_refused(answers, command):
    outcome = answers(*command, "--judgments", "answers.csv", "-m", "nDCG@10", status=2)
    assert outcome.err == "qrowd: nDCG@10: needs rankings, and these are answers; use Mean\n"


def test_answers_are_not_cut_into_parts(answers):
    outcome = answers("partition", "--runs", "answers.csv", "--judgments", "answers.csv", "-o", "parts", status=2)
    assert outcome.err == "qrowd: answers are not cut into parts; evaluate their files whole, without processes\n"


def test_answers_are_not_given_to_processes():
    runs, judgments = library.Runs.from_frame(FRAME), library.Judgments.from_frame(FRAME)
    with pytest.raises(ArgumentError, match=r"^answers are not cut into parts; evaluate their files whole"):
        library.evaluate(runs, judgments, "Mean", executor=Processes(2))
