"""Signatures: one line that says how a result was computed, to be put into a paper.

    qrowd 0.3.0 | nDCG@10 | runs 63 | topics 53 | assessors 18 | ties document | missing zero | both 10000 | seed 1

The fields stand in this order: the version; measures and statistics; what was evaluated; how judgments were prepared;
conventions that differ from the default or changed a number; other options that do; what was resampled and how often;
the seed. So two results of one function with the same signature, of the same data, are equal.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from numbers import Number
from typing import Any, TypeVar

from qrowd.model.chance import seed_of
from qrowd.model.conventions import Conventions

Facts = Mapping[str, Any]
COUNTS = {"runs": "systems", "topics": "topics", "assessors": "assessors"}
OTHERS = {
    *("measures", "measure", "conventions", "rng", "n_resamples", "resample", "confidence"),  # fields of their own
    *("runs", "judgments", "preferences", "scores", "topics", "documents"),  # data
    *("progress", "executor", "threads", "results", "top", "also"),  # change no number
}
F = TypeVar("F", bound=Callable[..., Any])


def with_signature(*statistics: str) -> Callable[[F], F]:
    """A decorator: the signature of what the function returns has the options of the call.

    statistics : what the function computes besides measures, as `qrowd cite` knows them; or the option that says it.
    """

    def decorate(function: F) -> F:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if "rng" in kwargs:
                kwargs["rng"] = seed_of(kwargs["rng"])
            result = function(*args, **kwargs)
            bound = inspect.signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            object.__setattr__(result, "signature", signature_of(result, statistics, bound))
            return result

        return call  # type: ignore[return-value]

    return decorate


def signature_of(
    result: object, statistics: Sequence[str] = (), call: inspect.BoundArguments | None = None, **options: Any
) -> str:
    """The signature of a result, from what it holds. call : the function's; options : without a default."""
    asked = options if call is None else call.arguments
    of_data = _facts(*filter(is_dataclass, asked.values()))
    facts = {**of_data, **_facts(result)}
    measures = facts.get("measures", facts.get("measure", ()))
    names = [measures] if isinstance(measures, str) else [*measures]
    names += [asked.get(name, name) for name in statistics if name not in facts.get("not_computed", ())]
    evaluated = {**facts, **of_data, "topics": facts.get("topics")}  # methods are no assessors; `top` shows fewer runs
    counts = {
        noun: len(set(n)) if isinstance(n, tuple) else n for noun, name in COUNTS.items() if (n := evaluated.get(name))
    }
    if of_topics := facts.get("clusters"):
        counts |= {"topics": len(of_topics), "clusters": len(set(of_topics.values()))}
    conventions = facts.get("conventions") or getattr(asked.get("conventions"), "as_dict", dict)()
    others = {
        name: value
        for name, value in {**Conventions().as_dict(), **conventions}.items()
        if value != getattr(Conventions, name, None) or name in evaluated.get("in_force", ())
    }
    others |= {"models": facts["models"]} if facts.get("models") else {}
    for name, value in asked.items():
        default = None if call is None else call.signature.parameters[name].default
        if name not in OTHERS and name not in statistics and _is_option(value) and value != default:
            others[name] = value
    first = [f"qrowd {version()}", *filter(None, [" ".join(names)])]
    return " | ".join([*first, *written(counts), *facts.get("prepared", ()), *written(others), *_chance(facts, asked)])


@cache
def version(package: str = "qrowd") -> str:
    """The installed version of a package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:  # run from a folder that nobody installed
        return "unknown"


def written(options: Facts) -> Iterator[str]:
    """Options as fields of a signature: the name and the value; a word with a blank or a bar stands in quotes."""
    for name, value in options.items():
        if isinstance(value, Mapping):  # {"qwen*": ["dual*"]} as on the command line: qwen*=dual*
            pairs = [(key, one if isinstance(one, list | tuple) else [one]) for key, one in value.items()]
            value = [f"{key}={getattr(one, '__name__', one)}" for key, several in pairs for one in several]
        values = value if isinstance(value, list | tuple) else [] if value is True else [value]
        words = [str(int(one) if isinstance(one, float) and one.is_integer() else one) for one in values]
        quoted = [json.dumps(word, ensure_ascii=False) if set(word) & set(' "|\n') else word for word in words]
        yield " ".join([name.replace("_", "-"), *quoted]).replace("|", r"\u007c")


def _is_option(value: Any) -> bool:
    """Whether a value is of words and numbers; judgments and tables, also as dictionaries, are data."""
    is_plain = isinstance(value, Sequence | Number | Mapping | None)
    return is_plain and not any(isinstance(part, Mapping) for part in getattr(value, "values", list)())


def _facts(*objects: Any) -> dict[str, Any]:
    """Names, numbers and mappings that objects hold, and those of the objects in them; the outermost counts."""
    facts: dict[str, Any] = {}
    for one in objects:
        values = {field.name: getattr(one, field.name) for field in fields(one)}
        values |= {"in_force": one.in_force, **one.attributes} if hasattr(one, "in_force") else {}
        plain, parts = {}, []
        for name, value in values.items():
            first = value[0] if isinstance(value, tuple) and value else value
            if is_dataclass(first):
                parts.append(first)
            elif isinstance(first, str | int | float | Mapping):
                plain[name.removeprefix("n_") if isinstance(value, int) else name] = value
        facts = {**_facts(*parts), **plain, **facts}
    return facts


def _chance(facts: Facts, asked: Facts) -> Iterator[str]:
    """The confidence, what was resampled and how often, and the seed; nothing of them where nothing is resampled."""
    level = facts.get("confidence", asked.get("confidence", 0.95))
    if level != 0.95:
        yield f"confidence {level}"
    n = facts.get("resamples", asked.get("n_resamples"))
    over, resample = facts.get("over"), facts.get("resample") or asked.get("resample")
    if n and over:  # the test of all pairs of systems
        yield f"both {n}" if over == "both" else f"over {over} {n}"
    elif n:
        yield f"resample {resample} {n}" if resample else f"resamples {n}"
    if n != 0 and (seed := facts.get("seed", asked.get("rng"))) is not None:
        yield from written({"seed": seed})
