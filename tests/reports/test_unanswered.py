"""Questions to models without an answer stand beside the systems that they affect, in evaluate."""

import pytest

from qrowd.errors import ArgumentError
from qrowd.judge import ask_models
from qrowd.judge.outcome import Statuses
from qrowd.model.runs import Runs
from qrowd.reports.evaluation import evaluation_of
from qrowd.reports.unanswered import read_unanswered, unanswered

TOPICS = {str(t): f"query {t}" for t in range(1, 13)}
RUNS = Runs.from_dict(
    {
        "plain": {t: {f"p{t}": 3, f"s{t}": 2, f"q{t}": 1} for t in TOPICS},
        "shouting": {t: {f"x{t}": 3, f"s{t}": 2, f"y{t}": 1} for t in TOPICS},
    }
)
TEXTS = {document: f"{'FREE!!!' if document[0] in 'xy' else 'text'} {document}" for document in RUNS.documents}


def strict(request):
    """Answers nothing that shouts, apart from a few."""
    text = request.messages[-1].content
    return "no" if "FREE" in text and "x1" not in text else '{"grade": 2}' if "p" in text else '{"grade": 1}'


def moody(request):
    """Fails on what every system retrieves."""
    return "no" if "text s" in request.messages[-1].content else '{"grade": 2}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("records")


@pytest.fixture(scope="module")
def answers(folder):
    return ask_models(TOPICS, TEXTS, RUNS, strict, "graded", record=folder / "strict.sqlite")


def test_the_sentence_names_the_systems_where_shares_differ_by_more_than_chance(answers):
    shares = unanswered(answers.statuses, rng=1)
    assert shares.differs
    assert shares.failures.shares["shouting"] > shares.failures.shares["plain"]
    assert "systems are affected differently (p < .001)" in shares.sentence
    assert "0.0 % of the questions on documents of plain" in shares.sentence


def test_failures_that_all_systems_share_are_no_sign_of_a_difference(folder):
    moods = ask_models(TOPICS, TEXTS, RUNS, moody, "graded", record=folder / "moody.sqlite")
    shares = unanswered(moods.statuses, rng=1)
    assert shares.failures.shares["shouting"] == shares.failures.shares["plain"] > 0
    assert "no sign that systems are affected differently" in shares.sentence


def test_evaluate_shows_the_share_of_each_system_and_says_so_where_they_differ(answers, folder):
    shares = read_unanswered(folder / "strict.sqlite", RUNS, rng=1)
    summary = evaluation_of(RUNS, answers.judgments, ["nDCG@3"], rng=1)
    with_shares = summary.with_unanswered(shares)
    assert with_shares.sentence == f"{summary.sentence} {shares.sentence}"
    table = with_shares.to_document().tables[-1]
    assert table.header == ["system", "questions", "unanswered"]
    assert [row[0] for row in table.rows] == [row.system for row in summary.measures[0].rows]
    by_system = with_shares.to_frame(what="unanswered").set_index("system")["unanswered"]
    assert by_system.to_dict() == shares.failures.shares


def test_the_record_of_other_runs_is_refused(answers):
    other = Runs.from_dict({"a": {"99": {"d": 1}}, "b": {"99": {"e": 1}}})
    with pytest.raises(ArgumentError, match="the record has no question on documents of these runs"):
        unanswered(Statuses(answers.outcomes, other))
