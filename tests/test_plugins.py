"""What other distributions declare as entry points."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qrowd import plugins
from qrowd.errors import ArgumentError

GROUP = "qrowd.measures"


def install(folder: Path, name: str, entry: str, module: str = "") -> None:
    """A distribution of this name in `folder`, with one module and one entry point of the group."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{entry}\n")
    (folder / f"{name}.py").write_text(module)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("shop", "mall"):
        sys.modules.pop(name, None)


def test_an_object_that_a_distribution_declares_is_loaded_by_its_name(folder: Path) -> None:
    install(folder, "shop", "labels = shop:MEASURE", "MEASURE = 'a measure'")
    assert plugins.load(GROUP)["labels"] == "a measure"


def test_without_distributions_a_group_is_empty() -> None:
    assert plugins.load("qrowd.nothing") == {}


def test_an_object_that_cannot_be_imported_is_refused_with_its_distribution(folder: Path) -> None:
    install(folder, "shop", "labels = shop:MEASURE", "import a_module_that_is_missing")
    with pytest.raises(ArgumentError, match=r"'labels' of shop cannot be imported \(ModuleNotFoundError"):
        plugins.load(GROUP)


def test_a_name_that_two_distributions_declare_is_refused_with_both(folder: Path) -> None:
    install(folder, "shop", "labels = shop:MEASURE", "MEASURE = 1")
    install(folder, "mall", "labels = mall:MEASURE", "MEASURE = 2")
    with pytest.raises(ArgumentError, match=r"(shop and mall|mall and shop) both declare 'labels'; uninstall one"):
        plugins.load(GROUP)
