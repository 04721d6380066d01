"""Codes for being paid: what an assessor who came by a link shows the owner, who can tell whose it is."""

from __future__ import annotations

import hmac
import re
from base64 import b32encode
from hashlib import sha256

CODE = 12  # letters and digits: 60 bits


def payment_code(secret: bytes, campaign: str, assessor_id: int) -> str:
    """A code that only this server can make, always the same for an assessor: what is shown to be paid for the work.

    HMAC-SHA256 under a key of its own, 60 bits in base 32, in groups of four.

    >>> payment_code(b"k", "pilot", 7)
    'GXMV-N7QA-SS5W'
    """
    key = hmac.digest(secret, b"payment", sha256)
    mac = b32encode(hmac.digest(key, f"{campaign}\n{assessor_id}".encode(), sha256)).decode()[:CODE]
    return "-".join(mac[i : i + 4] for i in range(0, CODE, 4))


def as_code(text: str) -> str:
    """What somebody typed as a code: letters and digits only, and 0 1 8, which no code has, for O I B."""
    letters = re.sub(r"[^A-Z0-9]", "", text.upper()).translate(str.maketrans("018", "OIB"))[: 2 * CODE]
    return "-".join(letters[i : i + 4] for i in range(0, len(letters), 4))
