"""Asking models from Python: judgments of the answers alone, and the same call again asks nothing."""

import json
import subprocess
import sys

import pytest

import qrowd
from qrowd.errors import ArgumentError
from qrowd.files import read_judgments
from qrowd.judge import AskOptions, ask_models, prompt
from qrowd.judge.asking import answers_in
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

TOPICS = {"1": "green tea", "2": {"title": "cake", "narrative": "Recipes only."}}
DOCUMENTS = {f"d{n}": {"title": "", "text": f"document {n} on tea"} for n in range(1, 6)} | {"empty": ""}
RUNS = Runs.from_dict(
    {"a": {"1": {"d1": 3, "d2": 2}, "2": {"d3": 1}}, "b": {"1": {"d2": 3, "empty": 2}, "2": {"d4": 1, "absent": 0.5}}}
)


def asked(path, answer, *arguments, **options):
    requests = []

    def model(request):
        requests.append(request)
        return answer(request) if callable(answer) else answer

    return ask_models(TOPICS, DOCUMENTS, RUNS, model, *arguments, record=path / "judge.sqlite", **options), requests


def test_answers_become_judgments_that_are_evaluated(tmp_path):
    answers, requests = asked(tmp_path, '{"grade": 2}')
    assert len(requests) == len(answers.judgments) == 4
    assert answers.judgments.assessors == ("model+graded",)
    assert answers.judgments.scales[0].maximum == 3
    assert qrowd.evaluate(RUNS, answers.judgments, ["P@1"]).values.shape == (1, 1, 2, 2)


def test_a_missing_text_is_never_asked_and_taxes_the_system_that_ranks_it(tmp_path):
    answers, _ = asked(tmp_path, "2")
    by_system = answers.to_frame(what="system").set_index("system")["text_missing"].to_dict()
    assert by_system == {"a": 0.0, "b": 0.5}


@pytest.mark.parametrize(
    ("topics", "documents", "noun"), [(DOCUMENTS, DOCUMENTS, "topics"), (TOPICS, TOPICS, "documents")]
)
def test_texts_of_another_collection_are_refused_before_anything_is_asked(tmp_path, topics, documents, noun):
    with pytest.raises(ArgumentError, match=f"{noun}: none of the . to be judged has a text"):
        ask_models(topics, documents, RUNS, lambda request: "2", record=tmp_path / "judge.sqlite")


@pytest.mark.parametrize("answer", ["I say 2", "10", "", "error 429"])
def test_what_is_no_answer_makes_no_judgment(tmp_path, answer):
    answers, _ = asked(tmp_path, answer)
    assert len(answers.judgments) == 0
    assert answers.statuses.n_failed == answers.statuses.n_questions == 6


def test_the_same_call_again_asks_nothing_and_a_status_may_be_asked_again(tmp_path):
    first, _ = asked(tmp_path, "no idea")
    second, requests = asked(tmp_path, "2")
    assert requests == []
    assert second.outcomes == first.outcomes
    third, requests = asked(tmp_path, "2", options=AskOptions(again=["unparsable"]))
    assert len(requests) == len(third.judgments) == 4


def test_a_record_says_by_itself_what_became_of_each_question(tmp_path):
    answers, _ = asked(tmp_path, lambda request: "2" if "document 1" in request.messages[-1].content else "no idea")
    alone = answers_in(tmp_path / "judge.sqlite")
    assert (alone.outcomes, alone.n_unasked) == (answers.outcomes, 0)
    assert alone.judgments.to_dict() == answers.judgments.to_dict()
    asked(tmp_path, "2")
    asked(tmp_path, "2", parameters={"temperature": 1})
    later = answers_in(tmp_path / "judge.sqlite").outcomes
    assert [outcome.status for outcome in later].count("ok") == 4
    assert len(later) == len(alone.outcomes)


def test_a_judgment_says_by_which_prompt_parameters_and_sample_it_came(tmp_path):
    answers, _ = asked(tmp_path, "2", parameters={"temperature": 0.5}, n_samples=2)
    frame = answers.frames()["model+graded"]
    assert set(frame["prompt_sha256"]) == {prompt("graded").sha256}
    assert {json.loads(text)["temperature"] for text in frame["parameters"]} == {0.5}
    assert sorted(set(frame["order"])) == [1, 2]
    path = tmp_path / "model+graded.csv"
    frame.to_csv(path, index=False)
    assert read_judgments(str(path)).to_dict() == answers.judgments.to_dict()


def test_samples_are_repeats_of_one_assessor(tmp_path):
    answers, requests = asked(tmp_path, lambda request: str(request.sample), n_samples=3)
    assert len({request.key for request in requests}) == 12
    assert answers.judgments.n_repeats() == 8


def test_preferences_are_asked_in_both_orders_and_keep_the_order(tmp_path):
    answers, requests = asked(tmp_path, "A", "preference", pairs=[("1", "d1", "d2")])
    assert len(requests) == 2
    assert {row[1:3] for row in answers.preferences.to_rows()} == {("d1", "d2"), ("d2", "d1")}
    assert answers.preferences.first.tolist() == [1, 1]


def test_magnitudes_are_asked_in_units_with_check_documents(tmp_path):
    def answer(request):
        keys = request.schema["required"]
        return "{" + ", ".join(f'"{key}": {n + 1}' for n, key in enumerate(keys)) + "}"

    gold = Judgments.from_rows([(t, d, "gold", g) for t, d, g in [("1", "d1", 3), ("1", "d2", 0), ("2", "d3", 2)]])
    pool = {"1": ["d1", "d2", "d3", "d4", "d5"]}
    options = {"gold": gold, "unit_size": 4, "record": tmp_path / "judge.sqlite"}
    answers = ask_models(TOPICS, DOCUMENTS, pool, answer, "magnitude", **options)
    assert answers.judgments.scales[0].kind == "magnitude"
    assert sorted(set(answers.judgments.unit)) == ["1-1-1", "1-2-1"]
    assert len(answers.judgments) == 3 + 2 * 2
    answers = ask_models(TOPICS, DOCUMENTS, {"1": [*pool["1"], "empty"]}, answer, "magnitude", **options)
    assert len(answers.judgments) == 3 + 2 * 2
    assert [outcome.status for outcome in answers.outcomes] == ["ok", "ok", "text_missing"]
    with pytest.raises(ArgumentError, match="give checks or gold"):
        ask_models(TOPICS, DOCUMENTS, pool, answer, "magnitude", record=tmp_path / "other.sqlite")


def test_prompts_of_several_forms_and_unclear_models_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="one job asks"):
        asked(tmp_path, "2", ["graded", "preference"])
    with pytest.raises(ArgumentError, match="expected URL#NAME"):
        ask_models(TOPICS, DOCUMENTS, RUNS, "gpt", record=tmp_path / "judge.sqlite")


def test_importing_the_package_loads_nothing_but_itself():
    code = "import sys, qrowd; before = set(sys.modules); import qrowd.judge; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["qrowd.judge"]


def test_every_public_name_is_there():
    import qrowd.judge

    assert all(getattr(qrowd.judge, name) is not None for name in qrowd.judge.__all__)
