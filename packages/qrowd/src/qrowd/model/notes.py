"""Notes about data that were read: text, of two kinds."""

from __future__ import annotations


class HowRead(str):
    """How something was read of which nothing is left out; other notes name rows or files that are.

    Commands print only the others, `qrowd check` prints both.
    """

    __slots__ = ()
