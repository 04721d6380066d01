"""A command from a function of the library: its parameters become options, its docstring their help texts.

An option is declared once, where the function is: its type is the annotation, its default the default, and its help
text what the docstring says of it. What several commands read or write is declared in groups: where the data come from,
the conventions of scoring, and the file for the result (`qrowd.cli.options`, `inputs` and `output`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from inspect import Parameter, cleandoc, signature, unwrap
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from qrowd.cli.options import CONVENTIONS, FROM_FUNCTION, SHARED, measure_for, measures_by_default, option
from qrowd.cli.processes import Workers
from qrowd.model.conventions import Conventions

PARAMETER = re.compile(r"(\w+(?:, \w+)*) : (.*)")
BY_COMMAND = {"progress", "executor"}  # parameters that a command supplies by itself


def command(
    function: Callable[..., Any],
    inputs: type,
    output: type,
    *,
    name: str,
    work: str = "computing",
    conventions: tuple[str, ...] | None = None,
) -> Callable[..., None]:
    """The command that calls a function of the library.

    Parameters
    ----------
    inputs : options for the data; the method `arguments` reads the files and returns what the function takes.
    output : options for the result; the method `deliver` shows and writes it.
    name : of the command.
    work : what the progress bar calls the work.
    conventions : the conventions of scoring that the function heeds; default: all.
    """
    texts = help_texts(function.__doc__ or "")
    taken = signature(function).parameters
    parameters = [_parameter("inputs", inputs)]
    for option_name, parameter in taken.items():
        if option_name in inputs.SUPPLIES | BY_COMMAND:  # type: ignore[attr-defined]
            continue
        if option_name == "conventions":
            marks = {field: CONVENTIONS[field] for field in CONVENTIONS if conventions is None or field in conventions}
            parameters.append(_parameter(option_name, Annotated[Conventions, marks], parameter.default))
        elif option_name == "measures":
            parameters.append(_parameter(option_name, measures_by_default(parameter.default), None))
        elif option_name in SHARED:
            shared = SHARED[option_name]
            default = _default(parameter) if shared.default is FROM_FUNCTION else shared.default
            parameters.append(_parameter(option_name, shared.option, default))
        else:
            hint = _annotation(function, parameter)
            flag = [f"--{option_name.replace('_', '-')}"] if hint is bool else []  # without --no-...
            kind: Any = _on_command_line(hint)
            annotation = Annotated[kind, option(*flag, help=_sentence(texts[option_name]))]
            parameters.append(_parameter(option_name, annotation, _default(parameter)))
    if "executor" in taken:
        parameters.append(_parameter("workers", Workers))
    parameters.append(_parameter("output", output))

    def run(inputs: Any, output: Any, workers: Workers | None = None, **values: Any) -> None:
        from qrowd.cli.progress import progress

        arguments = {key: _converted(key, value) for key, value in values.items() if value not in (None, [])}
        arguments = inputs.arguments(arguments)
        for key in {"measure", "measures"} & taken.keys() - arguments.keys():
            relevant = {scale.rel for scale in getattr(arguments["judgments"], "scales", ())}
            if measure := measure_for(arguments.get("runs"), None, "nDCG@10" if None in relevant else None):
                arguments[key] = measure if key == "measure" else [measure]
        with ExitStack() as stack:
            if workers is not None:
                arguments["executor"] = stack.enter_context(workers.executor())
            if "progress" in taken:
                arguments["progress"] = stack.enter_context(progress(work))
            result = function(**arguments)
        output.deliver(result, arguments)

    run.__name__ = name
    run.__doc__ = cleandoc(function.__doc__ or "").partition("\n")[0]
    run.__signature__ = signature(run).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameter(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
    """A parameter that is an option, or a group of them."""
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _annotation(function: Callable[..., Any], parameter: Parameter) -> Any:
    """The type of a parameter; those of others may be imported for type checkers alone."""
    annotation = parameter.annotation
    return eval(annotation, unwrap(function).__globals__) if isinstance(annotation, str) else annotation


def _converted(name: str, value: Any) -> Any:
    convert = SHARED[name].convert if name in SHARED else None
    return value if convert is None else convert(value)


def help_texts(docstring: str) -> Mapping[str, str]:
    """{parameter: what a docstring says of it}.

    >>> help_texts('''Add numbers.
    ...
    ... first, second : numbers that are
    ...     added.
    ... ''')
    {'first': 'numbers that are added.', 'second': 'numbers that are added.'}
    """
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in cleandoc(docstring).splitlines():
        start = PARAMETER.fullmatch(line)
        if start:
            names = start[1].split(", ")
            texts |= dict.fromkeys(names, start[2])
        elif line.startswith(" ") and names:
            texts |= {name: f"{texts[name]} {line.strip()}" for name in names}
        else:
            names = []
    return texts


def _sentence(text: str) -> str:
    text = text.replace("`", "").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def _default(parameter: Parameter) -> Any:
    """The default on the command line; what is no text, number or bool is left to the function."""
    value = parameter.default
    return value if value is Parameter.empty or isinstance(value, str | int | float) else None


def _on_command_line(annotation: Any) -> Any:
    """The type of an option: texts and numbers as they are, a list for a sequence."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin in (Union, UnionType) and NoneType in arguments:
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return _on_command_line(inner) | None
    if annotation in (str, int, float, bool) or origin is Literal or origin is tuple:
        return annotation
    if len(arguments) == 1:
        return list[arguments[0]]  # type: ignore[valid-type]
    raise TypeError(f"{annotation}: an option cannot have this type; declare it in qrowd.cli.options.SHARED")
