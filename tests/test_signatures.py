"""Public signatures agree: data positional, options keyword-only, one spelling and one default for each option."""

import dataclasses
import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import qrowd

ROOMS = (
    "agreement",
    "aggregation",
    "aware",
    "comparison",
    "gain_distributions",
    "influence",
    "judge",
    "magnitude",
    "predicted_relevance",
    "preferences",
    "sequential",
    "simulation",
    "replacement",
)

SPELLINGS = {  # the one spelling of a matter, and those that it replaces
    "conventions": ("ties", "score_dtype", "unjudged", "missing", "empty", "min_coverage", "grades"),
    "n_resamples": ("n", "replicates", "bootstrap", "repetitions", "rounds", "draws", "permutations", "n_boot"),
    "confidence": ("alpha", "level_of_confidence", "share"),
    "standard_error": ("se", "error", "stderr"),
    "sd": ("spread", "sd_of_mean", "std"),
    "gold": ("truth", "true"),
    "rel": ("theta", "lowest_relevant", "relevant", "threshold"),
    "cutoff": ("cut", "k"),
    "rng": ("seed", "random_state", "random"),
    "assessors": ("humans", "people", "workers", "judges", "annotators"),
    "assessor": ("judge", "human", "worker", "person", "annotator"),
    "method": ("approach", "merging"),
    "methods": ("approaches",),
    "format": ("form",),
}
REPLACED = {old: new for new, spellings in SPELLINGS.items() for old in spellings}

OPTIONS = {  # keyword-only, also where a function has no default for them
    "ties", "conventions", "n_resamples", "confidence", "rng", "level", "correction", "repeats", "executor", "threads",
    "progress", "combine_scales", "smoothing", "backend", "format", "by",
}  # fmt: skip

OTHER_SENSE = {  # (name, where): why this spelling stands here
    ("truth", "*"): "the simulated truth, a Truth, which is no assessor's",
    ("score_dtype", "Runs.ranked"): "the only convention that orders a list",
    ("grades", "pairs_of_grades"): "the grades themselves",
    ("ties", "dawid_skene"): "ties between grades, not between scores",
    ("ties", "majority_vote"): "ties between grades, not between scores",
    ("ties", "bradley_terry"): "preferences for neither document",
    ("ties", "system_worths"): "battles that neither system won",
    ("n", "Judgments.slots"): "the number of slots",
    ("threshold", "assessor_profiles"): "the z from which an assessor is marked, no grade",
}
POSITIONAL = {  # (name, where): why it may be given without its name
    ("measures", "*"): "data, with a usual choice",
    ("measure", "*"): "data, with a usual choice",
    ("n_topics", "*"): "a design is two numbers: generalizability(50, 5)",
    ("n_assessors", "*"): "a design is two numbers: generalizability(50, 5)",
    ("topics", "d_study"): "data, with a usual choice",
    ("assessors", "d_study"): "data, with a usual choice",
    ("confidence", "Question.confidence_of_each"): "what the method divides",
    ("prompts", "*"): "data, with a usual choice",
    ("backend", "*"): "the only option that all frames have: to_frame('polars')",
}
DEFAULTS = {  # name: why its default differs from function to function
    "depth": "of the lists that are simulated, or of a pool",
    "top": "all where a table or plot has room for all",
    "assessor": "whether to choose an assessor, or how a file names its own",
    "system": "whether to choose a system, or how a file names its own",
    "documents": "which of them, all by default; a cost is per document",
    "measure": "which one to select, or what scores without a name are called",
    "conventions": "AWARE leaves out topics without a relevant document",
    "n_grades": "yes or no for an accuracy, 0-3 for a pool",
    "n_resamples": "0 where an interval is extra; else as many as the number needs to be stable, or the paper's",
    "rng": "simulate_demo makes the same collection for everybody, next_judgments the same answer",
    "by": "what groups there are differs",
    "method": "methods of different things",
    "target": "of a design, or of an estimate",
    "design": "estimated from the scores, or that of the components",
    "resample": "units of different data",
    "ties": "ties of different things",
    "smoothing": "none for a likelihood, one count for a posterior",
    "min_documents": "of a profile, or the alternative annotator test's",
    "assessor_weights": "whether to estimate them, or the ones to simulate",
    "correction": "top sets are as published; p-values against a baseline are adjusted",
    "name": "of everybody's preferences, or of the truth as an assessor",
    "per": "what is fitted together, or what mean squares are divided by",
    "judgment_cost": "extra in a plan, the unit of cost elsewhere",
}
NO_ROWS = {  # a class that functions return: why it has no to_frame
    "Measure": "a name with parameters",
    "Scale": "one line of text",
    "Panel": "the array that measures read; Judgments have the frame",
    "Rankings": "the array that measures read; Runs have the frame",
    "TopicPreferences": "the array that measures read; Preferences have the frame",
    "PairView": "the array that measures read; Preferences have the frame",
    "Truth": "`Truth.judgments()` has the frame",
    "Confused": "a behaviour, not a result",
    "Estimator": "a name with parameters",
    "Cycle": "one path of documents",
    "Job": "what will be asked; its answers have the frame",
    "Question": "one line of text",
    "Prompt": "a text with a name",
    "Message": "a text with a role",
    "Reply": "what came back; the record holds all of them",
    "Attempt": "a request and its reply in the record",
    "Reading": "a status and a few values; `Statuses` has the frame",
}

UNTIL: dict[str, set[str]] = {}  # known offences, by room; the list must stay empty


@dataclass(frozen=True)
class Signature:
    """A public function, or a public method of a public class."""

    room: str
    name: str
    function: object

    @property
    def parameters(self) -> list[inspect.Parameter]:
        return [p for p in inspect.signature(self.function).parameters.values() if p.name not in ("self", "cls")]

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


def public_names() -> Iterator[tuple[str, str, object]]:
    """(room, name, object) of everything that qrowd and its rooms offer."""
    seen: set[int] = set()
    modules = [("qrowd", qrowd), *((room, importlib.import_module(f"qrowd.{room}")) for room in ROOMS)]
    for room, module in modules:
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and id(thing) not in seen:
                seen.add(id(thing))
                yield room, name, thing


def signatures() -> Iterator[Signature]:
    for room, name, thing in public_names():
        if inspect.isfunction(thing):
            yield Signature(room, name, thing)
        elif inspect.isclass(thing):
            for method, attribute in vars(thing).items():
                function = attribute.__func__ if isinstance(attribute, classmethod | staticmethod) else attribute
                if not method.startswith("_") and inspect.isfunction(function):
                    yield Signature(room, f"{name}.{method}", function)


SIGNATURES = list(signatures())


def spelled_twice(signature: Signature) -> Iterator[str]:
    for parameter in signature.parameters:
        if parameter.name in REPLACED and not excused(OTHER_SENSE, parameter.name, signature):
            yield f"{signature.name}({parameter.name}): spelled {REPLACED[parameter.name]}"


def positional(signature: Signature) -> Iterator[str]:
    for parameter in signature.parameters:
        by_place = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.POSITIONAL_ONLY)
        option = parameter.default is not parameter.empty or parameter.name in OPTIONS
        if by_place and option and not excused(POSITIONAL, parameter.name, signature):
            yield f"{signature.name}({parameter.name}): an option without keyword"


def excused(table: dict[tuple[str, str], str], name: str, signature: Signature) -> bool:
    return any((name, where) in table for where in (signature.name, signature.last, "*"))


def without_rows() -> Iterator[tuple[str, str]]:
    """(room, class) of dataclasses that public functions return and that have no data frame."""
    for signature in SIGNATURES:
        returned = str(signature.function.__annotations__.get("return", ""))
        for word in re.findall(r"[A-Z]\w+", returned):
            thing = inspect.unwrap(signature.function).__globals__.get(word)
            if (
                inspect.isclass(thing)
                and dataclasses.is_dataclass(thing)
                and thing.__module__.startswith("qrowd.")
                and not hasattr(thing, "to_frame")
            ):
                yield signature.room, word


def offences() -> dict[str, set[str]]:
    by_room = defaultdict(set)
    for signature in SIGNATURES:
        by_room[signature.room] |= {*spelled_twice(signature), *positional(signature)}
    for room, name in without_rows():
        if name not in NO_ROWS:
            by_room[room].add(f"{name}: no to_frame")
    return {room: found for room, found in by_room.items() if found}


def other_defaults() -> dict[str, dict[str, list[str]]]:
    """{name: {default: where}} of options with more than one default."""
    defaults = defaultdict(lambda: defaultdict(list))
    for signature in SIGNATURES:
        for parameter in signature.parameters:
            if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is not parameter.empty:
                defaults[parameter.name][repr(parameter.default)].append(signature.name)
    return {name: dict(where) for name, where in defaults.items() if len(where) > 1}


@pytest.mark.parametrize("room", ["qrowd", *ROOMS])
def test_a_room_spells_each_option_once_takes_it_by_keyword_and_frames_its_results(room):
    assert sorted(offences().get(room, set())) == sorted(UNTIL.get(room, set()))


def test_an_option_has_the_same_default_everywhere():
    assert {name: where for name, where in other_defaults().items() if name not in DEFAULTS} == {}


def test_no_exception_outlives_its_reason():
    names = {(p.name, where) for s in SIGNATURES for p in s.parameters for where in (s.name, s.last, "*")}
    assert not (set(OTHER_SENSE) | set(POSITIONAL)) - names
    assert not set(DEFAULTS) - set(other_defaults())
    assert not set(NO_ROWS) - {name for _, name in without_rows()}
