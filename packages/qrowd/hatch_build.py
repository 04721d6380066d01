"""The build of a wheel and of an editable installation compiles the kernels; without a compiler it goes on without."""

from __future__ import annotations

import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from build_kernels import build

        try:
            library = build()
        except (OSError, RuntimeError) as error:
            self.app.display_warning(f"qrowd's kernels were not compiled, so that qrowd is slower: {error}")
            return
        # One wheel serves every Python of the platform: the library knows nothing of Python.
        system = f"macosx_11_0_{platform.machine()}" if sys.platform == "darwin" else sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system.replace('-', '_').replace('.', '_')}"
        if version != "editable":
            place = library.relative_to(self.root)
            build_data["force_include"][str(place)] = str(Path(*place.parts[1:]))
