"""Models judge answers of systems: units of an answer become judgments of units, pairs of answers become battles."""

import json
from itertools import permutations

import pytest

import qrowd
from judge.model_server import CONTENT_FILTER, CUT_OFF, HTML, NULL, REFUSAL, TRUNCATED, ModelServer, completion, problem
from qrowd.errors import ArgumentError, FileError
from qrowd.files import read_judgments, read_runs
from qrowd.judge import AskOptions, ask_models, prompt
from qrowd.judge.asking import answers_in
from qrowd.judge.outcome import preferences_of
from qrowd.judge.questions import answer_pool
from qrowd.model.runs import Runs

TOPICS = {"1": "green tea", "2": "cake"}
TEXTS = {
    ("1", "a"): "80 degrees",
    ("1", "b"): "a plant",
    ("2", "a"): "an oven",
    ("2", "b"): "180 degrees",
    ("2", "c"): "",
}
ANSWERS = [(topic, system, text, "", "", "", "") for (topic, system), text in TEXTS.items()]
NUGGETS = {
    "1": [("80 degrees", "", "vital", "1"), ("a plant", "n2", "okay", "0.5")],
    "2": [("180 degrees", "", "vital", "")],
}
CRITERIA = {"": [("Is it complete?", "", "completeness", ""), ("Is it fluent?", "", "fluency", "")]}


def stated(request):
    """1 for a fact whose words stand in the answer, else 0."""
    text = request.messages[-1].content.partition("Facts:")
    facts = [line.partition(". ")[2] for line in text[2].splitlines() if line[:1].isdigit()]
    return json.dumps({str(n): float(text[0].count(fact) > 0) for n, fact in enumerate(facts, 1)})


def saying(text):
    def model(request):
        return text

    return model


def asked(path, model, name, items=None, answers=ANSWERS, **options):
    pool, texts, units = answer_pool(answers, items or {}, prompt(name).form)
    return ask_models(TOPICS, texts, pool, model, name, record=path / "judge.sqlite", answers=units, **options)


def written(path, answers):
    """The file of the only assessor, as `qrowd judge ask -o` writes it."""
    ((assessor, frame),) = answers.frames().items()
    file = path / f"{assessor}.csv"
    frame.to_csv(file, index=False)
    return str(file)


def test_each_nugget_of_each_answer_is_a_judgment_that_is_evaluated(tmp_path):
    answers = asked(tmp_path, stated, "answer_nuggets", NUGGETS)
    frame = answers.frames()["stated+answer_nuggets"]
    columns = ["topic", "system", "criterion", "unit", "weight", "value"]
    assert sorted(map(tuple, frame[columns].to_numpy().tolist())) == [
        ("1", "a", "okay", "n2", 0.5, 0),
        ("1", "a", "vital", "80 degrees", 1, 1),
        ("1", "b", "okay", "n2", 0.5, 1),
        ("1", "b", "vital", "80 degrees", 1, 0),
        ("2", "a", "vital", "180 degrees", 1, 0),
        ("2", "b", "vital", "180 degrees", 1, 1),
    ]
    file = written(tmp_path, answers)
    scores = qrowd.evaluate(read_runs([file]), read_judgments(file), ["Mean", "Mean(criterion=vital)"])
    table = {
        (m, s, t): v for m, s, t, v in scores.to_frame()[["measure", "system", "topic", "score"]].to_numpy().tolist()
    }
    assert table["Mean", "a", "1"] == pytest.approx(1 / 1.5)
    assert table["Mean", "b", "1"] == pytest.approx(0.5 / 1.5)
    assert (table["Mean(criterion='vital')", "b", "1"], table["Mean", "b", "2"]) == (0, 1)
    assert answers.judgments.to_dict() == read_judgments(file).to_dict()


def test_an_answer_without_text_is_never_asked_and_counts_for_its_system(tmp_path):
    requests = []
    answers = asked(tmp_path, lambda request: requests.append(request) or stated(request), "answer_nuggets", NUGGETS)
    assert len(requests) == 4
    by_system = answers.to_frame(what="system").set_index("system")["text_missing"].to_dict()
    assert by_system == {"a": 0, "b": 0, "c": 1}
    assert "c" not in set(next(iter(answers.frames().values()))["system"])


def test_a_topic_without_items_is_never_asked(tmp_path):
    answers = asked(tmp_path, stated, "answer_nuggets", {"1": NUGGETS["1"]})
    assert [one.status for one in answers.outcomes] == ["ok", "ok"] + 3 * ["text_missing"]


def test_criteria_are_of_all_topics(tmp_path):
    answers = asked(tmp_path, saying('{"1": 4, "2": 1}'), "rating", CRITERIA)
    frame = answers.frames()["model+rating"]
    assert set(map(tuple, frame[["criterion", "value"]].to_numpy().tolist())) == {("completeness", 4), ("fluency", 1)}
    assert len(frame) == 8
    file = written(tmp_path, answers)
    scores = qrowd.evaluate(read_runs([file]), read_judgments(file), ["Mean(criterion=fluency)"])
    assert set(scores.values.ravel().tolist()) == {1.0}


def test_a_citation_is_a_unit_whose_text_is_its_own(tmp_path):
    rows = [
        ("1", "a", "Tea is a plant.", "Tea is a plant.", "1/d1", "", "1"),
        ("1", "a", "Coffee is roasted.", "Tea is a plant.", "1/d2", "", "0.5"),
        ("1", "b", "", "Tea is blue.", "", "", ""),
    ]
    seen = []

    def model(request):
        seen.append(request.messages[-1].content)
        return '{"1": 0.5}'

    answers = asked(tmp_path, model, "support", answers=rows)
    assert ["Coffee is roasted." in text for text in seen].count(True) == 1
    frame = answers.frames()["model+support"]
    assert frame[["system", "unit", "weight", "value"]].to_numpy().tolist() == [
        ["a", "1/d1", 1, 0.5],
        ["a", "1/d2", 0.5, 0.5],
    ]
    assert answers.statuses.n_failed == 1


def test_a_grade_of_the_whole_answer_has_no_unit(tmp_path):
    answers = asked(tmp_path, saying("2"), "graded")
    frame = answers.frames()["model+graded"]
    assert "unit" not in frame
    assert len(frame) == 4
    assert read_judgments(written(tmp_path, answers)).to_dict() == answers.judgments.to_dict()


@pytest.mark.parametrize(
    ("said", "winner"), [("A", "model_a"), ("b", "model_b"), ("Tie", "tie"), ("both bad", "both bad")]
)
def test_battles_are_asked_in_both_orders_and_ties_are_data(tmp_path, said, winner):
    answers = asked(tmp_path, saying(json.dumps({"winner": said})), "battle")
    frame = answers.frames()["model+battle"]
    assert set(frame["winner"]) == {winner}
    assert set(map(tuple, frame[["topic", "model_a", "model_b"]].to_numpy().tolist())) == {
        (topic, *pair) for topic in "12" for pair in permutations("ab")
    }
    assert set(frame["judge"]) == {"model+battle"}
    preferences = preferences_of(answers.outcomes)
    assert set(preferences.assessors) == {"model+battle"}
    assert len(preferences) == (4 if winner.startswith("model") else 8)  # a tie is half a preference each way
    assert answers.statuses.n_failed == 4  # both orders of a and b against c, which said nothing


def test_battles_of_named_pairs(tmp_path):
    answers = asked(tmp_path, saying("A"), "battle", pairs=[("1", "1/a", "1/b"), ("1", "1/a", "1/z")])
    assert [one.status for one in answers.outcomes] == ["ok", "ok", "text_missing", "text_missing"]


RUBBISH = {
    **{name: completion(text) for name, text in {
        "empty": "", "prose": "It states fact 1.", "one too few": '{"1": 1}', "too many": '{"1": 1, "2": 0, "3": 0}',
        "out of scale": '{"1": 1, "2": 0.7}', "words": '{"1": 1, "2": "half"}', "twice": '{"1": 1, "1": 0, "2": 0}',
        "null": '{"1": 1, "2": null}', "list": "[1, 0]", "text behind": '{"1": 1, "2": 0} or so', "one value": "1",
        "sorry": "I'm sorry, but I cannot grade this.", "nan": '{"1": NaN, "2": 1}', "bool": '{"1": true, "2": false}',
    }.items()},
    "refusal": REFUSAL, "filter": CONTENT_FILTER, "cut off": CUT_OFF, "no text": NULL, "html": HTML,
    "truncated": TRUNCATED, "bad request": problem(400),
}  # fmt: skip


USUAL = (
    "empty",
    "prose",
    "one too few",
    "too many",
    "out of scale",
    "null",
    "refusal",
    "cut off",
    "bad request",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] * (name not in USUAL)) for name in RUBBISH]
)
def test_no_rubbish_is_a_judgment_of_any_unit_and_the_counts_are_right(tmp_path, name):
    """Of an answer of which a unit cannot be read, no unit is judged."""
    rows = [row for row in ANSWERS if row[:2] in {("1", "a"), ("1", "b")}]

    def script(n, body):
        is_b = "a plant\n</document" in body["messages"][-1]["content"]
        return RUBBISH[name] if is_b else completion('{"1": 1, "2": 0.5}')

    with ModelServer(script) as server:
        answers = asked(tmp_path, f"{server.url}#small", "answer_nuggets", NUGGETS, rows)
    assert sorted(map(str, answers.frames()["small-1+answer_nuggets"]["system"])) == ["a", "a"]
    assert [one.status == "ok" for one in answers.outcomes] == [True, False]
    shares = answers.to_frame(what="system").set_index("system")["ok"].to_dict()
    assert shares == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    "text",
    [
        "C",
        '{"winner": "A or B"}',
        '{"winner": 1}',
        '{"winner": ""}',
        "neither",
        "tie, or A",
        '{"winner": "A", "loser": "B"}',
    ],
)
def test_no_rubbish_is_a_battle(tmp_path, text):
    answers = asked(tmp_path, saying(text), "battle")
    assert answers.frames() == {}
    assert answers.statuses.n_failed == answers.statuses.n_questions == 8


def test_after_an_interruption_the_same_command_asks_the_rest_and_the_record_says_all_alone(tmp_path):
    """A model that fails from the second question on; then one that answers."""
    failing, n = [], 0

    def model(request):
        nonlocal n
        n += 1
        if n > 1 and failing:
            raise KeyboardInterrupt
        return stated(request)

    failing.append(True)
    with pytest.raises(KeyboardInterrupt):
        asked(tmp_path, model, "answer_nuggets", NUGGETS, options=AskOptions(1))
    kept = answers_in(tmp_path / "judge.sqlite")
    assert len(kept.frames()["model+answer_nuggets"]) == 2  # the nuggets of one answer
    assert kept.n_unasked == 3
    failing.clear()
    whole = asked(tmp_path, model, "answer_nuggets", NUGGETS)
    assert n == 2 + 3  # the interrupted one again, and two more
    alone = answers_in(tmp_path / "judge.sqlite")
    assert alone.outcomes == whole.outcomes
    assert alone.frames()["model+answer_nuggets"].equals(whole.frames()["model+answer_nuggets"])
    asked(tmp_path, model, "answer_nuggets", NUGGETS)
    assert n == 5


def test_samples_are_repeats_of_one_assessor(tmp_path):
    answers = asked(tmp_path, stated, "answer_nuggets", NUGGETS, n_samples=2)
    assert answers.judgments.n_repeats() == 6
    assert read_judgments(written(tmp_path, answers)).n_repeats() == 6


def test_a_record_is_of_documents_or_of_answers(tmp_path):
    asked(tmp_path, stated, "answer_nuggets", NUGGETS)
    with pytest.raises(FileError, match="on documents or on answers, not on both"):
        ask_models(TOPICS, {"d": "text"}, {"1": ["d"]}, stated, record=tmp_path / "judge.sqlite")
    assert len(answers_in(tmp_path / "judge.sqlite").outcomes) == 5


@pytest.mark.parametrize(
    ("rows", "items", "message"),
    [
        (
            [*ANSWERS, ("1", "a", "other", "", "", "", "")],
            NUGGETS,
            "answers: 1/a: 80 degrees is there twice; name units apart",
        ),
        (ANSWERS, {"1": [NUGGETS["1"][0]] * 2}, "answers: 1/a: 80 degrees is there twice; name units apart"),
        (ANSWERS, {"1": [("fact", "", "", "much")]}, "answers: 1/a: the weight 'much' is no number"),
    ],
)
def test_what_is_there_twice_or_no_weight_is_refused_before_anything_is_asked(rows, items, message):
    with pytest.raises(ArgumentError, match=message):
        answer_pool(rows, items, "nuggets")


def test_runs_of_the_units_are_those_of_the_answers(tmp_path):
    file = written(tmp_path, asked(tmp_path, stated, "answer_nuggets", NUGGETS))
    runs = read_runs([file])
    assert isinstance(runs, Runs)
    assert (runs.systems, runs.criteria) == (("a", "b"), ("vital", "okay"))
