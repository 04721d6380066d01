"""Zip files with given members."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any


def zipped(members: Mapping[Any, str | bytes]) -> bytes:
    """A zip of these members, in this order, by their names or as `zipfile.ZipInfo`."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return content.getvalue()
