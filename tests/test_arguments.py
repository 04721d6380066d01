"""Public functions called with the wrong kind of data: one line that names the argument."""

import inspect

import pytest

import qrowd
from qrowd.errors import QrowdError
from qrowd.model.arguments import converting, outer_names
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.model.tabular import described
from qrowd.simulation import Truth
from test_signatures import public_names

JUDGMENTS = Judgments.from_dict({"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 0, "d2": 1}}})
RUNS = Runs.from_dict({"bm25": {"q1": {"d1": 2.0, "d2": 1.0}}, "dense": {"q1": {"d1": 1.0, "d2": 2.0}}})
SCORES = Scores.from_array([[0.1, 0.2], [0.3, 0.5]])

WRONG = {
    "None": None,
    "a number": 3,
    "a path": "missing-file.txt",
    "an empty list": [],
    "an empty dictionary": {},
    "judgments": JUDGMENTS,
    "runs": RUNS,
    "scores": SCORES,
}
LISTS = {"an empty list"}
RIGHT = {  # by name of the annotation, what is of the right kind
    "Any": {"an empty dictionary"},
    "AnyJudgments": {"judgments"},
    "AnyModel": {"a path"},
    "AnyPrompt": {"a path"},
    "AnyRuns": {"runs"},
    "AnyScores": {"scores"},
    "Agreement": {"an empty dictionary"},
    "ArrayLike": LISTS,
    "Checks": {"an empty dictionary", "judgments"},
    "Floats": LISTS,
    "Frame": {"an empty dictionary"},
    "Gold": {"a path", "an empty dictionary", "judgments"},
    "Iterable": LISTS,
    "Judgments": {"judgments"},
    "Many": LISTS,
    "Mapping": {"an empty dictionary"},
    "NDArray": LISTS,
    "None": {"None"},
    "Number": {"a number", *LISTS},
    "Pool": {"an empty dictionary"},
    "PathLike": {"a path"},
    "Paths": {"a path", "an empty list", "an empty dictionary"},
    "Ranks": {"an empty dictionary", "runs"},
    "Runs": {"runs"},
    "Scores": {"scores"},
    "Sequence": LISTS,
    "TextOf": {"an empty dictionary"},
    "float": {"a number"},
    "int": {"a number"},
    "str": {"a path"},
    "tuple": LISTS,
}
ANYTHING = {  # parameters without a kind of their own: why
    "linear": "a measure: whatever prints as one",
    "measure": "a measure: whatever prints as one",
    "measures": "measures: whatever prints as one",
    "probability": "a number, an array or a function",
    "rng": "chance: what NumPy takes",
    "text": "a measure: whatever prints as one",
}
OTHERS = {  # what else a function needs before it looks at its data
    "aware": {"scores": SCORES},
    "evaluate": {"runs": RUNS},
    "from_crowdkit": {"name": "merged"},
}


def cases():
    for _, name, function in public_names():
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters.values():
                required = parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
                if required and parameter.name not in ANYTHING:
                    yield pytest.param(function, parameter, id=f"{name}({parameter.name})")


@pytest.mark.parametrize(("function", "parameter"), list(cases()))
def test_data_of_the_wrong_kind_is_refused_in_one_line_that_names_the_argument(function, parameter):
    right = set().union(*(RIGHT.get(kind, set()) for kind in outer_names(str(parameter.annotation))))
    for kind, value in WRONG.items():
        if kind not in right:
            others = OTHERS.get(function.__name__, {})
            with pytest.raises(QrowdError) as error:
                function(**{**others, parameter.name: value})
            message = str(error.value)
            assert message.startswith((f"{parameter.name}: ", f"{parameter.name}=")), (kind, message)
            assert "\n" not in message


def test_the_message_says_what_was_expected_and_where_it_comes_from():
    with pytest.raises(QrowdError, match=r"^runs: these are scores, but runs were expected; .*compare_scores"):
        qrowd.compare(SCORES)
    with pytest.raises(QrowdError, match=r"^components: expected VarianceComponents, found a Scores; see variance"):
        qrowd.comparison.d_study(SCORES)
    with pytest.raises(QrowdError, match=r"^scores: these are judgments, but scores were expected; qrowd.evaluate"):
        qrowd.comparison.difference(JUDGMENTS, "bm25", "dense")
    with pytest.raises(QrowdError, match=r"^p: expected a list or an array of numbers, found None$"):
        qrowd.comparison.holm(None)


def test_lists_are_arrays():
    assert qrowd.comparison.holm([0.01, 0.02]).tolist() == [0.02, 0.02]


def test_a_measure_is_text_of_one_line():
    with pytest.raises(QrowdError, match=r"^measure: expected text such as nDCG@10, found a Judgments$"):
        qrowd.measure(JUDGMENTS)


def test_what_an_annotation_does_not_say_is_left_to_the_function():
    def taken(data: object, anything: "Truth | unheard_of", *, option: int = 1) -> tuple:  # noqa: F821
        return data, anything, option

    assert converting(taken)("x", [], option="y") == ("x", [], "y")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        converting(taken)("x")
    assert described([]) == "a list"
