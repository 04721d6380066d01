"""How a function becomes a command: options from data classes, several values after one option, errors in one line."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache, partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from qrowd.cli.completion import ARGUMENTS
from qrowd.errors import ArgumentError

#: Mistakes on the command line that the parser finds, such as an unknown option.
UsageError: type[Exception] = typer.BadParameter.mro()[1]

FILES = ("judgments", "preferences", "files", "gold", "model")
TABLES = (*FILES, "runs")
#: {option: what it is for}: where a command has some of these and none of them is given, it would ignore the option.
FOR = {
    "assessor": FILES,
    "labels": FILES,
    "identical_rows": FILES,
    "columns": TABLES,
    "incomplete_rows": TABLES,
    "database": ("campaign",),
    "names": ("campaign",),
    "system": ("runs", "files"),
    "format": ("preferences", "figures"),
    "depth": ("runs",),
    "topic_cost": ("budget",),
    "judgment_cost": ("budget",),
    "units": ("arm",),
}
#: {option: another}: where the other is given as well, a command would ignore the option.
BESIDE = {"top": "systems", "pool": "runs", "processes": "dask", "topics": "preferences", "documents": "preferences",
          "assessor_weights": "across-topics", "position": "across-topics"}  # fmt: skip


def is_written(ctx: Any, name: str) -> bool:
    """Whether an option stands on the command line; a default or a variable of the environment gives others."""
    return "COMMANDLINE" in str(ctx.get_parameter_source(name))


class Interrupted(BaseException):
    """Ctrl-C after something was written; the message says what. Not an exception that the parser turns into text."""


def usage_message(error: Any) -> str:
    """One line for a mistake that the parser found; in a group of commands it says that a command comes first."""
    text = error.format_message().rstrip(".").replace("Value error, ", "")
    if getattr(error, "option_name", "") == "--preferences":
        text = "no such option: --preferences (evaluate, report and the commands of prefer have it)"
    path = error.ctx.command_path
    if commands := list(getattr(error.ctx.command, "commands", ())):
        text += f"; write a command before its options, as in {path} {commands[0]}"
    return f"{text[0].lower()}{text[1:]}; see {path} --help"


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """The function with one parameter for each field of its data classes, from which the data classes are made.

    A parameter `conventions: Annotated[Conventions, {"ties": typer.Option(...), ...}]` becomes the options that the
    mapping names; without a mapping, all fields become options as they are annotated. A data class that is the
    default of the parameter gives the defaults, and what is no option.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for name, annotation in get_type_hints(function, include_extras=True).items():
        if name == "return":
            continue
        parameter = signature(function).parameters[name]
        kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        if is_dataclass(kind) and isinstance(kind, type):
            options = list(_options(kind, marks[0] if marks else None, parameter.default))
            make = partial(replace, parameter.default) if isinstance(parameter.default, kind) else kind
            groups[name] = (make, [option.name for option in options])
            parameters += options
        else:
            parameters.append(parameter.replace(annotation=annotation, kind=Parameter.KEYWORD_ONLY))

    @wraps(function)
    def command(**values: Any) -> None:
        objects = {name: make(**{field: values.pop(field) for field in own}) for name, (make, own) in groups.items()}
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
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
    )
    for function in functions:
        add(group, function)
    return group


class Command(TyperCommand):
    """A command that loses no value of an option.

    An option that may be repeated takes several values at once: `--runs a b` is read as `--runs a --runs b`, which is
    also what a shell makes of an unquoted pattern. Any other option may stand once.
    """

    several_values: ClassVar[bool] = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = {name: one for one in self.params for name in one.opts if one.param_type_name == "option"}
        takes_values = {name: one for name, one in options.items() if not getattr(one, "is_flag", False)}
        lists = {name for name, one in takes_values.items() if getattr(one, "multiple", False)}
        if ctx.resilient_parsing:  # a shell asks how a line goes on that is not complete yet
            ctx.meta[ARGUMENTS] = tuple(args)
        else:
            _check_values(args, {name: max(one.opts, key=len) for name, one in takes_values.items()}, lists)
        with self._naming_options():
            return super().parse_args(ctx, list(repeated(args, lists if self.several_values else set())))

    def get_params(self, ctx: Any) -> list[Any]:
        return prepared(super().get_params(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples to copy."""
        if examples := examples_of(ctx.command_path.partition(" ")[2]):
            formatter.write(f"\n{examples}")

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
        from qrowd.cli.progress import progress
        from qrowd.threads import watched

        with watched(partial(progress, "computing")), self._naming_options():
            self._refuse_ignored(ctx)
            return super().invoke(ctx)

    def _refuse_ignored(self, ctx: Any) -> None:
        """Refuse an option that is for others, of which none is given, or that is ignored beside another."""
        for name in FOR.keys() & ctx.params.keys():
            others = [other for other in self.params if other.name in FOR[name]]
            if is_written(ctx, name) and others and not any(ctx.params[other.name] for other in others):
                options = " or ".join(max(other.opts, key=len) for other in others if other.opts[0].startswith("-"))
                raise ArgumentError(f"it has no effect without {options}; leave it out", name, ctx.params[name])
        for name, option in BESIDE.items():
            value = ctx.params.get(name)
            if value and ctx.params.get(option.replace("-", "_")):
                raise ArgumentError(f"it has no effect beside --{option}; leave it out", name, value)

    @contextmanager
    def _naming_options(self) -> Iterator[None]:
        """Errors of arguments are those of the options that stand for them."""
        try:
            yield
        except ArgumentError as error:
            option = next((max(one.opts, key=len) for one in self.params if one.name == error.argument), None)
            raise ArgumentError(argument_message(error, option)) from None


class OneValueCommand(Command):
    """A command whose options take one value each, before arguments as well: `-m map -m P.5 qrels run`."""

    several_values = False


class CommandGroup(TyperGroup):
    """Commands under one name."""

    def get_params(self, ctx: Any) -> list[Any]:
        return prepared(super().get_params(ctx))


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


def argument_message(error: ArgumentError, option: str | None) -> str:
    """The message of a wrong argument with its option and the value as it is typed.

    >>> argument_message(ArgumentError("at least 2 were expected", "n_resamples", 0), "--n-resamples")
    '--n-resamples 0: at least 2 were expected'
    >>> argument_message(ArgumentError("it does not fit", "factors", "{model}+{prompt}"), "--factors")
    "--factors '{model}+{prompt}': it does not fit"
    """
    if error.argument is None:
        return error.problem
    name = option or error.argument.replace("_", " ")
    return f"{name}: {error.problem}" if error.value is True else f"{name} {typed(error.value)}: {error.problem}"


def typed(value: object) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, Mapping):
        return typed(",".join(f"{key}={one}" for key, one in value.items()))
    if isinstance(value, list | tuple | set | frozenset):
        return typed(",".join(map(str, value)))
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return shlex.quote(text) if set(text) & set(" <>{}") else text


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


# ---- examples of the help texts, which work on the files that `qrowd simulate panel` writes


@cache
def examples() -> Mapping[str, Sequence[str]]:
    """{command: lines}."""
    return tomllib.loads(Path(__file__).with_name("examples.toml").read_text(encoding="utf-8"))


def examples_of(command: str) -> str:
    """The examples of a command as they stand below its help text; empty where there are none."""
    lines = examples().get(command, ())
    if not lines:
        return ""
    source = " (qrowd simulate panel writes the files)" if any("panel/" in line for line in lines) else ""
    return f"Example{'s' * (len(lines) > 1)}{source}:\n" + "".join(f"  {line}\n" for line in lines)
