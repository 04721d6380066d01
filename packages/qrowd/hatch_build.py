"""The build of a wheel and of an editable installation compiles the kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        sys.path.insert(0, self.root)
        from build_kernels import build

        binaries = [path.relative_to(self.root) for path in build()]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        if version != "editable":
            places = {str(path): str(Path(*path.parts[1:])) for path in binaries}
            build_data["force_include"].update(places)
