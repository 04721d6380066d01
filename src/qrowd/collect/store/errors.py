"""What can go wrong with a store.

StoreError               nothing of this work is in the store
|-- StoreFullError       the disk is full or does not answer; works again once it does
|-- StoreBusyError       too much at once, or no connection; try again later
|-- StoreUnknownError    the connection was lost during the commit: look the form's key up, or send it again
"""

from __future__ import annotations

from qrowd.errors import QrowdError


class StoreError(QrowdError):
    """The store cannot do it."""


class StoreFullError(StoreError):
    """The disk is full or failed: nothing was acknowledged. The store goes on once there is space."""


class StoreBusyError(StoreError):
    """Somebody else was in the way, several times in a row; nothing was stored, and later it may be."""


class StoreUnknownError(StoreError):
    """The connection was lost while committing: either all of it is stored or nothing.

    Whoever wrote an event with an `idem_key` looks that key up; or does it again, since a key is stored only once.
    """
