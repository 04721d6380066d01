"""How a function becomes a command: options from data classes, several values after one option, errors in one line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, signature
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from qrowd.cli.completion import ARGUMENTS
from qrowd.errors import ArgumentError, FileError, QrowdError

#: Mistakes on the command line that the parser finds, such as an unknown option.
UsageError: type[Exception] = typer.BadParameter.mro()[1]


class Interrupted(BaseException):
    """Ctrl-C after something was written; the message says what. Not an exception that the parser turns into text."""


#: Words of the parser for numbers, and ours.
EXPECTED = {
    "Input should be a valid number, unable to parse string as a number": "a number was expected",
    "Input should be a valid integer, unable to parse string as an integer": "a whole number was expected",
    "Input should be": "a number was expected that is",
}

#: Options of other programs, and ours.
ELSEWHERE = {"--qrels": "--judgments", "--qrel": "--judgments", "--run": "--runs"}


def usage_message(error: Any) -> str:
    """One line for a mistake that the parser found; empty where it has shown the help text instead."""
    option = getattr(error, "option_name", None)
    if (
        (ours := ELSEWHERE.get(option or ""))
        and error.ctx
        and any(ours in one.opts for one in error.ctx.command.params)
    ):
        return f"no such option: {option}; it is called {ours} here"
    text = str(error.format_message()).rstrip(".").replace("Value error, ", "")
    for words, plain in EXPECTED.items():
        text = text.replace(words, plain)
    return f"{text[0].lower()}{text[1:]}; see {error.ctx.command_path} --help" if text else ""


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """The function with one parameter for each field of its data classes, from which the data classes are made.

    A parameter `conventions: Annotated[Conventions, {"ties": typer.Option(...), ...}]` becomes the options that the
    mapping names; without a mapping, all fields become options as they are annotated. A data class that is the
    default of the parameter gives the defaults.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for name, annotation in get_type_hints(function, include_extras=True).items():
        if name == "return":
            continue
        parameter = signature(function).parameters[name]
        kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        if is_dataclass(kind) and isinstance(kind, type):
            options = list(_options(kind, marks[0] if marks else None, parameter.default))
            groups[name] = (kind, [option.name for option in options])
            parameters += options
        else:
            parameters.append(parameter.replace(annotation=annotation, kind=Parameter.KEYWORD_ONLY))

    @wraps(function)
    def command(**values: Any) -> None:
        objects = {name: kind(**{own: values.pop(own) for own in names}) for name, (kind, names) in groups.items()}
        function(**objects, **values)

    command.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _options(kind: type, options: Mapping[str, Any] | None, defaults: object) -> Iterator[Parameter]:
    """A parameter for each field of a data class."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if options is None:
            annotation = hints[field.name]
        elif field.name in options:
            annotation = Annotated[hints[field.name], options[field.name]]
        else:
            continue
        default = getattr(defaults, field.name, field.default)
        yield Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            annotation=annotation,
            default=Parameter.empty if default is MISSING else default,
        )


def loaded(name: str, package: str) -> Any:
    """The command of a name: the function, or the group, of the module of the same name in a package."""
    word = name.replace("-", "_")
    module = import_module(f"{package}.{word}")
    command = getattr(module, word, None) or getattr(module, f"{word}_")
    return command_of(command, getattr(module, "CLASS", Command))


def command_of(command: Any, cls: type[Command] | None = None) -> Any:
    """The command that a function, or a group of them, stands for."""
    if isinstance(command, typer.Typer):
        return get_command(command)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    add(app, command, cls)
    return get_command(app)


def add(app: typer.Typer, function: Callable[..., None], cls: type[Command] | None = None) -> None:
    """Add a function to the commands."""
    name = function.__name__.strip("_").replace("_", "-")
    app.command(name, cls=cls or Command)(expanded(function))


def command_group(help: str, *functions: Callable[..., None]) -> typer.Typer:
    """Commands under one name."""
    group = typer.Typer(
        cls=CommandGroup,
        help=help,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
    )
    for function in functions:
        add(group, function)
    return group


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """The arguments and the options of a command, under the names of their panels."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    for one in command.get_params(ctx):
        default = "Arguments" if one.param_type_name == "argument" else "Options"
        if record := one.get_help_record(ctx):
            panels.setdefault(getattr(one, "rich_help_panel", None) or default, []).append(record)
    for panel, records in panels.items():
        write_section(formatter, panel, records)


def write_section(formatter: Any, title: str, records: Sequence[tuple[str, str]]) -> None:
    """A heading, and below it words with what they mean."""
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


class Command(TyperCommand):
    """A command that loses no value of an option.

    An option that may be repeated takes several values at once: `--runs a b` is read as `--runs a --runs b`, which is
    also what a shell makes of an unquoted pattern. Any other option may stand once.
    """

    several_values: ClassVar[bool] = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        own = [parameter for parameter in self.params if parameter.param_type_name == "option"]
        options = {name: parameter for parameter in own for name in parameter.opts}
        takes_values = {name: one for name, one in options.items() if not getattr(one, "is_flag", False)}
        lists = {name for name, one in takes_values.items() if getattr(one, "multiple", False)}
        if ctx.resilient_parsing:  # a shell asks how a line goes on that is not complete yet
            ctx.meta[ARGUMENTS] = tuple(args)
        else:
            _check_values(args, {name: max(one.opts, key=len) for name, one in takes_values.items()}, lists)
        return super().parse_args(ctx, list(repeated(args, lists if self.several_values else set())))

    def get_params(self, ctx: Any) -> list[Any]:
        return prepared(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help text, and below it examples to copy."""
        from qrowd.cli.examples import examples_of  # reads a file

        super().format_help(ctx, formatter)
        if examples := examples_of(ctx.command_path.partition(" ")[2]):
            formatter.write(f"\n{examples}")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options by panel."""
        write_options(self, ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Options, or further values of the option that takes several and stands last."""
        option = None
        for argument in ctx.meta.get(ARGUMENTS, ()):
            if argument.startswith("-"):
                option = next((one for one in self.params if argument in one.opts), None)
        if getattr(option, "multiple", False) and not incomplete.startswith("-"):
            return list(option.shell_complete(ctx, incomplete))  # type: ignore[union-attr]
        return super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, with a bar for long work; an error of the library names options as they are written here."""
        from qrowd.cli.show import progress
        from qrowd.threads import watched

        names = {one.name: max(one.opts, key=len) for one in self.params if one.param_type_name == "option"}
        try:
            with watched(partial(progress, "computing")):
                return super().invoke(ctx)
        except ArgumentError as error:
            raise ArgumentError(argument_message(error, names)) from None
        except FileError as error:
            hint = _if_measure(error, self.params)
            raise FileError(error.path, as_options(error.problem, names) + hint, error.line) from None
        except QrowdError as error:
            raise QrowdError(as_options(str(error), names)) from None


def _if_measure(error: FileError, parameters: Sequence[Any]) -> str:
    """What to do if the file that there is not is a second measure after -m, of a command that takes one."""
    takes_one = any("-m" in one.opts and not getattr(one, "multiple", False) for one in parameters)
    if not takes_one or error.problem != "there is no such file":
        return ""
    from qrowd.evaluation import measure

    try:
        measure(str(error.path))
    except QrowdError:
        return ""
    return "; if it is a measure: -m takes one measure here, so run the command once for each"


class OneValueCommand(Command):
    """A command whose options take one value each, before arguments as well: `-m map -m P.5 qrels run`."""

    several_values = False


class CommandGroup(TyperGroup):
    """Commands under one name."""

    def get_params(self, ctx: Any) -> list[Any]:
        return prepared(super().get_params(ctx))

    def sentences(self) -> Mapping[str, Mapping[str, str]]:
        """{panel: {command: what it does}}."""
        return {"Commands": {name: " ".join(str(one.help).split()) for name, one in self.commands.items()}}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options, and the commands with what they do."""
        write_options(self, ctx, formatter)
        for panel, sentences in self.sentences().items():
            write_section(formatter, panel, list(sentences.items()))


def prepared(parameters: list[Any]) -> list[Any]:
    """The parameters as our commands have them.

    The help text names no type for an option without a value. Text and defaults, which have their type already, are
    not converted: the package that converts takes as long to load as all the rest of a help text.
    """
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
        if "process_value" not in vars(one):
            one.process_value = partial(_value, one, one.process_value)
    return parameters


def _value(one: Any, convert: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """The value of a parameter. convert : what the parser does with any value."""
    kind = getattr(one, "type_descriptor", None)
    is_text = kind is not None and kind.annotation in (str, list[str]) and kind.parameter_info.parser is None
    if value is None and not one.required:
        value = () if getattr(one, "multiple", False) or one.nargs == -1 else None
    elif not ((value and is_text) or (isinstance(value, str | int | float) and value == one.default)):
        return convert(ctx, value)
    return value if one.callback is None else one.callback(ctx, one, value)


def argument_message(error: ArgumentError, names: Mapping[str, str]) -> str:
    """The message of a wrong argument with its option and the value as it is typed. names : {argument: option}.

    >>> argument_message(ArgumentError("at least 2 were expected", "n_resamples", 0), {"n_resamples": "--n-resamples"})
    '--n-resamples 0: at least 2 were expected'
    >>> argument_message(ArgumentError("it does not fit", "factors", "{model}+{prompt}"), {"factors": "--factors"})
    "--factors '{model}+{prompt}': it does not fit"
    """
    problem = as_options(error.problem, names)
    option = names.get(error.argument or "")
    if error.argument is None:
        return problem
    if option is None:
        return f"{error.argument.replace('_', ' ')} {typed(error.value)}: {problem}"
    return f"{option}: {problem}" if error.value is True else f"{option} {typed(error.value)}: {problem}"


def typed(value: object) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, Mapping):
        return typed(",".join(f"{key}={one}" for key, one in value.items()))
    if isinstance(value, list | tuple | set | frozenset):
        return typed(",".join(map(str, value)))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return shlex.quote(text) if set(text) & set(" <>{}") else text


def as_options(message: str, names: Mapping[str, str]) -> str:
    """The message with the names of Python replaced by options. names : {name in Python: option}.

    >>> as_options("n_resamples=0: at least 2 were expected", {"n_resamples": "--n-resamples"})
    '--n-resamples 0: at least 2 were expected'
    >>> as_options(
    ...     "give rel=2 or relevant_grades={2, 3}, as in AP(rel=2)",
    ...     {"rel": "--rel", "relevant_grades": "--relevant-grades"},
    ... )
    'give --rel 2 or --relevant-grades 2,3, as in AP(rel=2)'
    >>> as_options("columns={'value': 'g'}: or labels='low<high'", {"columns": "--column", "labels": "--labels"})
    "--column value=g: or --labels 'low<high'"
    >>> as_options("factors='{model}+{prompt}': it does not fit", {"factors": "--factors"})
    "--factors '{model}+{prompt}': it does not fit"
    """
    for name, option in names.items():
        # An argument, but not a parameter of a measure or a method, which stands behind a name and a bracket.
        argument = rf"(?<![\w.-])(?<!\w\(){name}=('[^']*'|{{[^}}]*}}|[^\s,;:()]+)"
        message = re.sub(argument, partial(_as_typed, option), message)
        words = rf"(?<![\w./-]){name}\b(?!=)" if "_" in name else rf"^{name}(?=:)"
        message = re.sub(words, option, message)
    return message


def _as_typed(option: str, argument: re.Match[str]) -> str:
    pair = re.fullmatch(r"{'([^']*)': '?([^']*?)'?}", argument[1])
    text = re.fullmatch(r"'([^']*)'", argument[1])
    value = f"{pair[1]}={pair[2]}" if pair else text[1] if text else argument[1].strip("'{}")
    value = value.replace(", ", ",")
    quoted = shlex.quote(value) if re.search(r"[\s<>{}]", value) else value
    return option if value == "True" else f"{option} {quoted}"


def repeated(arguments: Sequence[str], lists: set[str]) -> Iterator[str]:
    """`--runs a b c` as `--runs a --runs b --runs c`, for the options that are lists."""
    option = None
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, equals, _ = argument.partition("=")
            option = name if name in lists else None
            if option is None or equals:
                yield argument
        elif option is None:
            yield argument
        else:
            yield from (option, argument)


def _check_values(arguments: Sequence[str], names: Mapping[str, str], lists: set[str]) -> None:
    """Refuse an option without its value, and a second value where one is expected.

    names : {as written: the option's long name} of all options that take a value.
    """
    names_so_far = set()
    for argument, following in zip(arguments, [*arguments[1:], None], strict=False):
        option, equals, _ = argument.partition("=")
        if option not in names:
            continue
        if not equals and (following is None or following.partition("=")[0] in names):
            raise ArgumentError(f"{option}: a value is expected after it")
        if option not in lists:
            if names[option] in names_so_far:
                raise ArgumentError(f"{option}: it takes one value, but stands on the command line twice")
            names_so_far.add(names[option])
