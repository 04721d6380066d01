"""Entry points: what other distributions add to qrowd, imported only when somebody asks for it.

A distribution declares them in its `pyproject.toml`, as in `[project.entry-points."qrowd.measures"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qrowd.errors import ArgumentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def load(group: str) -> dict[str, object]:
    """Everything that installed distributions declare in a group: {name: object}.

    Raises
    ------
    ArgumentError
        An object that cannot be imported, or a name that two distributions declare; it names the distributions.
    """
    from importlib.metadata import entry_points  # slow to import

    owners: dict[str, EntryPoint] = {}
    objects: dict[str, object] = {}
    for point in entry_points(group=group):
        other = owners.setdefault(point.name, point)
        if other.value != point.value:
            raise ArgumentError(
                f"{group}: {_owner(other)} and {_owner(point)} both declare {point.name!r}; uninstall one of them"
            )
        if point.name not in objects:
            try:
                objects[point.name] = point.load()
            except Exception as error:
                raise ArgumentError(
                    f"{group}: {point.name!r} of {_owner(point)} cannot be imported ({type(error).__name__}: {error}); "
                    "update or uninstall that distribution"
                ) from None
    return objects


def instances(group: str, kind: type[Any]) -> tuple[Any, ...]:
    """The objects of a group, all of one class.

    Raises
    ------
    ArgumentError
        What `load` refuses, and an object of another class.
    """
    objects = load(group)
    for name, each in objects.items():
        if not isinstance(each, kind):
            expected = f"an instance of {kind.__module__}.{kind.__name__} was expected"
            raise ArgumentError(f"{group}: {name!r} is {type(each).__name__}; {expected}")
    return tuple(objects.values())


def _owner(point: EntryPoint) -> str:
    return "an unknown distribution" if point.dist is None else point.dist.name
