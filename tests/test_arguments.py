"""Public functions that take data of any shape: what is no such data is refused in one line that names the argument."""

import inspect

import pytest

import qrowd
from qrowd.errors import QrowdError
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from test_signatures import public_names

JUDGMENTS = Judgments.from_dict({"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 0, "d2": 1}}})
RUNS = Runs.from_dict({"bm25": {"q1": {"d1": 2.0, "d2": 1.0}}, "dense": {"q1": {"d1": 1.0, "d2": 2.0}}})
SCORES = Scores.from_array([[0.1, 0.2], [0.3, 0.5]])
RIGHT = {"AnyJudgments": JUDGMENTS, "AnyRuns": RUNS, "AnyScores": SCORES}
NOTHING = {"None": None, "a number": 3, "a path": "missing-file.txt", "an empty list": [], "an empty dictionary": {}}


def cases():
    """The data of functions that need nothing else."""
    for _, name, function in public_names():
        if inspect.isfunction(function):
            takes = inspect.signature(function).parameters.values()
            needed = [parameter for parameter in takes if parameter.default is parameter.empty]
            needed = [parameter for parameter in needed if parameter.kind is not parameter.VAR_KEYWORD]
            data = {parameter.name: kind for parameter in needed for kind in RIGHT if kind in str(parameter.annotation)}
            if len(data) == len(needed) and data.keys() <= {"runs", "judgments", "scores"}:
                for argument in data:
                    yield pytest.param(function, argument, data, id=f"{name}({argument})")


@pytest.mark.parametrize(("function", "argument", "data"), list(cases()))
def test_data_of_the_wrong_kind_is_refused_in_one_line_that_names_the_argument(function, argument, data):
    wrong = NOTHING | {kind: value for kind, value in RIGHT.items() if kind != data[argument]}
    for kind, value in wrong.items():
        if value is None and "None" in str(inspect.signature(function).parameters[argument].annotation):
            continue
        arguments = {name: RIGHT[kind_of_data] for name, kind_of_data in data.items()} | {argument: value}
        with pytest.raises(QrowdError) as error:
            function(**arguments)
        message = str(error.value)
        assert message.startswith(f"{argument}: "), (kind, message)
        assert "\n" not in message


def test_the_message_says_what_was_expected_and_where_it_comes_from():
    with pytest.raises(QrowdError, match=r"^runs: these are scores, but runs were expected"):
        qrowd.compare(SCORES, JUDGMENTS)
    with pytest.raises(QrowdError, match=r"^scores: Judgments were given, but scores were expected; qrowd.evaluate"):
        qrowd.comparison.difference(JUDGMENTS, "bm25", "dense")


def test_a_measure_is_text_of_one_line():
    with pytest.raises(QrowdError, match=r"^measure: expected text such as nDCG@10, found a Judgments$"):
        qrowd.measure(JUDGMENTS)
