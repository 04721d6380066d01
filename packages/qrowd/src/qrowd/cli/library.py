"""A command from a function of the library: its parameters become options, its docstring their help texts.

An option is declared once, where the function is: its type is the annotation, its default the default, and its help
text what the docstring says of it. What several commands read or write is declared in groups: where the data come from,
the conventions of scoring, and the file for the result (`qrowd.cli.options`, `inputs` and `output`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import MISSING, fields, replace
from inspect import Parameter, cleandoc, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from qrowd.cli.options import FROM_FUNCTION, GROUPS, SHARED, option
from qrowd.cli.processes import Workers

PARAMETER = re.compile(r"(\w+(?:, \w+)*) : (.*)")
BY_COMMAND = {"progress", "executor"}  # parameters that a command supplies by itself


def command(
    function: Callable[..., Any],
    inputs: type,
    output: type,
    *,
    work: str = "computing",
    conventions: tuple[str, ...] | None = None,
) -> Callable[..., None]:
    """The command that calls a function of the library.

    Parameters
    ----------
    inputs : options for the data; the method `arguments` reads the files and returns what the function takes.
    output : options for the result; the method `deliver` shows and writes it.
    work : what the progress bar calls the work.
    conventions : the conventions of scoring that the function heeds; default: all.
    """
    texts = help_texts(function.__doc__ or "")
    taken = signature(function).parameters
    groups: dict[str, type] = {"inputs": inputs}
    usual: dict[str, Any] = {}  # {group: the default of the function, for fields that are no options}
    parameters = fields_as_options(inputs)
    for name, parameter in taken.items():
        if name in inputs.SUPPLIES or name in BY_COMMAND:  # type: ignore[attr-defined]
            continue
        if name in GROUPS:
            groups[name], marks = GROUPS[name]
            usual[name] = parameter.default
            chosen = [field for field in marks if conventions is None or field in conventions]
            parameters += fields_as_options(groups[name], {field: marks[field] for field in chosen}, parameter.default)
        elif name in SHARED:
            shared = SHARED[name]
            default = _default(parameter) if shared.default is FROM_FUNCTION else shared.default
            parameters.append(_parameter(name, shared.option(parameter.default), default))
        else:
            hint = _annotation(function, parameter)
            flag = [f"--{name.replace('_', '-')}"] if hint is bool else []  # without --no-...
            kind: Any = _on_command_line(hint)
            annotation = Annotated[kind, option(*flag, help=_sentence(texts[name]))]
            parameters.append(_parameter(name, annotation, _default(parameter)))
    if "executor" in taken:
        groups["workers"] = Workers
        parameters += fields_as_options(Workers)
    groups["output"] = output
    parameters += fields_as_options(output)

    def run(**values: Any) -> None:
        from qrowd.cli.show import progress

        made = {name: _made(kind, values, usual.get(name)) for name, kind in groups.items()}
        source, target, workers = made.pop("inputs"), made.pop("output"), made.pop("workers", None)
        arguments = {name: _converted(name, value) for name, value in values.items() if value not in (None, [])}
        arguments = source.arguments(arguments | made)
        with ExitStack() as stack:
            if workers is not None:
                arguments["executor"] = stack.enter_context(workers.executor())
            if "progress" in taken:
                arguments["progress"] = stack.enter_context(progress(work))
            result = function(**arguments)
        target.deliver(result, arguments)

    run.__name__ = function.__name__
    run.__doc__ = cleandoc(function.__doc__ or "").partition("\n")[0]
    run.__signature__ = signature(run).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _annotation(function: Callable[..., Any], parameter: Parameter) -> Any:
    """The type of a parameter; those of others may be imported for type checkers alone."""
    annotation = parameter.annotation
    return eval(annotation, function.__globals__) if isinstance(annotation, str) else annotation


def _converted(name: str, value: Any) -> Any:
    convert = SHARED[name].convert if name in SHARED else None
    return value if convert is None else convert(value)


def _made(kind: type, values: dict[str, Any], usual: Any) -> Any:
    """A group from its options, which are taken out of the values; what is no option is as usual."""
    own = {field.name: values.pop(field.name) for field in fields(kind) if field.name in values}
    return kind(**own) if usual is None else replace(usual, **own)


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


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _default(parameter: Parameter) -> Any:
    """The default on the command line; what is no text, number or bool is left to the function."""
    value = parameter.default
    return value if value is Parameter.empty or isinstance(value, str | int | float) else None


def _on_command_line(annotation: Any) -> Any:
    """The type of an option: texts and numbers as they are, a list for a sequence."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType) and NoneType in arguments:
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return _on_command_line(inner) | None
    if annotation in (str, int, float, bool) or origin is Literal or origin is tuple:
        return annotation
    if len(arguments) == 1:
        return list[arguments[0]]  # type: ignore[valid-type]
    raise TypeError(f"{annotation}: an option cannot have this type; declare it in qrowd.cli.options.SHARED")


def fields_as_options(kind: type, marks: Mapping[str, Any] | None = None, usual: Any = None) -> list[Parameter]:
    """An option for each field of a group.

    marks : {field: its option}; default: as the fields are annotated. usual : an instance that has the defaults.
    """
    hints = get_type_hints(kind, include_extras=True)
    parameters = []
    for field in fields(kind):
        if marks is None or field.name in marks:
            annotation = hints[field.name] if marks is None else Annotated[hints[field.name], marks[field.name]]
            default = _empty_if_missing(field.default) if usual is None else getattr(usual, field.name)
            parameters.append(_parameter(field.name, annotation, default))
    return parameters


def _empty_if_missing(default: Any) -> Any:
    return Parameter.empty if default is MISSING else default
