"""`make release-check`: build the release, and use it in empty environments. Everything it makes stands in dist/.

All three distributions are built from one copy of the working tree, the wheels from the sdists. Two sdists from two
folders, and two wheels, are equal byte by byte. Each Python from 3.11 to 3.14 that is on this machine installs qrowd
alone, the oldest also with each extra, with all, with the other distributions, and with the lowest versions of what it
needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGES = ROOT / "packages"
DISTRIBUTIONS = ("qrowd", "qrowd-server", "qrowd-papers")
PROBE = ROOT / "release" / "probe.py"
PROJECT = tomllib.loads((PACKAGES / "qrowd" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("dask", "excel", "irds", "judge", "plots", "report", "tables")
BIN = Path(sys.executable).parent
Words: TypeAlias = tuple[object, ...]  # of a command
LICENCES = """
import importlib.metadata as m, json
print(json.dumps({d.metadata["Name"]: [d.version, d.metadata.get("License-Expression") or "; ".join(
    c.removeprefix("License :: ") for c in d.metadata.get_all("Classifier", []) if c.startswith("License ::"))
    or (d.metadata.get("License") or "not stated").splitlines()[0][:80]] for d in m.distributions()}))
"""
QUICK = ("tests/kernels", "tests/test_tables.py", "tests/test_files.py", "--ignore=tests/kernels/test_compiled.py")
SOURCES = ("-k", "not beside_its_module")  # C sources are in no wheel
IGNORED = (".git", ".venv", ".*_cache", ".hypothesis", "dist", "build", "native", "__pycache__")


def call(*words: object, folder: Path = ROOT, **variables: str) -> str:
    """Standard output of a program; one that fails ends the check."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}  # of no other sources
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env={**around, **variables}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> dict[str, Path]:
    """The interpreters on this machine by version, oldest first."""
    by_version = {version: python_of(version) for version in PYTHONS}
    absent = [version for version, python in by_version.items() if python is None]
    print("not on this machine:", ", ".join(absent) or "none")
    return {version: python for version, python in by_version.items() if python}


def python_of(version: str) -> Path | None:
    """An interpreter of this version on this machine."""
    programs = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for program in filter(None, programs):
        done = subprocess.run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True)
        if done.returncode == 0 and done.stdout.decode().strip() == version:
            return Path(program)
    return None


def build(kind: str, source: Path, python: Path, folder: Path, when: str) -> Path:
    """The sdist or wheel of a source tree or sdist, built in an environment of its own."""
    start = time.perf_counter()
    words = ("build", "--quiet", f"--{kind}", "--python", python, "--out-dir", folder, source)
    call(BIN / "uv", *words, SOURCE_DATE_EPOCH=when)
    (made,) = (*folder.glob("*.whl"), *folder.glob("*.tar.gz"))
    print(f"{made.name}: built in {time.perf_counter() - start:.0f} s", flush=True)
    return made


def build_twice(name: str, python: Path, work: Path, when: str) -> tuple[Path, Path]:
    """The sdist and the wheel of a distribution in dist/; each was built twice, and the two are equal byte by byte."""
    sdist = build("sdist", work / "source" / "packages" / name, python, work / name / "sdist", when)
    again = build("sdist", work / "copy" / "elsewhere" / "packages" / name, python, work / name / "sdist 2", when)
    wheel = build("wheel", sdist, python, work / name / "wheel", when)
    for first, second in ((sdist, again), (wheel, build("wheel", sdist, python, work / name / "wheel 2", when))):
        if first.read_bytes() != second.read_bytes():
            sys.exit(f"failed: two builds of {first.name} differ")
    check_contents(name, wheel)
    return Path(shutil.copy(sdist, DIST)), Path(shutil.copy(wheel, DIST))


def check_contents(name: str, wheel: Path) -> None:
    """The wheel holds the package and nothing else; that of qrowd a library for all Pythons of a platform."""
    if not re.search("-py3-none-(?!any)" if name == "qrowd" else "-py3-none-any", wheel.name):
        sys.exit(f"failed: {wheel.name} is of another kind")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    package = name.replace("-", "_")
    strange = [
        n
        for n in names
        if not re.match(rf"{package}(-[\d.]+\w*\.dist-info)?/", n) or re.search(r"__pycache__|\.[ch]$", n)
    ]
    kernels = [n for n in names if n.startswith("qrowd/kernels/native/")]
    if strange or len(kernels) != (name == "qrowd"):
        sys.exit(f"failed: {wheel.name} holds {strange} and {len(kernels)} compiled libraries")


def environment(folder: Path, python: Path, *words: object) -> tuple[Path, float]:
    """The interpreter of a new environment with these packages, and the seconds it took."""
    call(BIN / "uv", "venv", "--quiet", "--python", python, folder)
    inside = folder / "bin" / "python"
    start = time.perf_counter()
    call(BIN / "uv", "pip", "install", "--quiet", "--python", inside, *words)
    return inside, time.perf_counter() - start


def size(folder: Path) -> int:
    """Megabytes of a folder's files."""
    return round(sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()) / 1e6)


def try_installed(what: str, version: str, python: Path, packages: Sequence[object], work: Path, *uses: Words) -> None:
    """Install the packages in an empty environment, show megabytes and seconds, and use what they promise there."""
    folder = work / "environment"
    inside, seconds = environment(folder, python, *packages)
    print(f"{version:7} {what:12} {size(folder):5} {seconds:8.1f}", flush=True)
    for words in uses:
        call(inside, "-P", *words, folder=work)
    if what == "all":
        write_dependencies(inside)
    shutil.rmtree(folder)


def write_dependencies(inside: Path) -> None:
    """Licences and bill of materials of what an environment holds."""
    licences = json.loads(call(inside, "-c", LICENCES))
    lines = [f"{name}\t{version}\t{licence}" for name, (version, licence) in sorted(licences.items())]
    (DIST / "licences.tsv").write_text("package\tversion\tlicence\n" + "\n".join(lines) + "\n")
    call(BIN / "cyclonedx-py", "environment", inside, "--pyproject", PACKAGES / "qrowd" / "pyproject.toml",
         "--of", "JSON", "-o", DIST / "sbom.cdx.json")  # fmt: skip


def try_lowest(wheels: Sequence[Path], python: Path, work: Path) -> None:
    """Use the wheel, and run quick tests, with the lowest versions of what it needs."""
    optional = [one for extra in EXTRAS for one in PROJECT["optional-dependencies"][extra]]
    # What the wheel needs is named anew, since only what is named is taken at its lowest version.
    needs = [*PROJECT["dependencies"], *optional]
    inside, _ = environment(work / "low", python, "--resolution", "lowest-direct", *wheels, *needs)
    call(inside, "-P", PROBE, *EXTRAS, folder=work)
    call(BIN / "uv", "pip", "install", "--quiet", "--python", inside, "pytest", "hypothesis", "polars")
    for name in DISTRIBUTIONS:  # the tests import what is installed
        shutil.rmtree(work / "source" / "packages" / name / "src")
    words = ("-P", "-m", "pytest", "-q", "--quick", "-o", "filterwarnings=", *QUICK, *SOURCES)
    lines = call(inside, *words, folder=work / "source").splitlines()
    print("lowest versions:", lines[-1])


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        when = call("git", "log", "-1", "--format=%ct").strip()
        by_version = pythons()
        (oldest, python), *_ = by_version.items()
        shutil.copytree(ROOT, work / "source", ignore=shutil.ignore_patterns(*IGNORED))
        shutil.copytree(work / "source", work / "copy" / "elsewhere")
        built = {name: build_twice(name, python, work, when) for name in DISTRIBUTIONS}
        for path in sorted(DIST.iterdir()):
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}  {path.stat().st_size / 1e6:.1f} MB")
        print(call(BIN / "twine", "check", "--strict", *DIST.iterdir()).strip())
        core, server, papers = (wheel for _, wheel in built.values())
        print("python  installed       MB  seconds")
        for version, one in by_version.items():
            try_installed("qrowd", version, one, [core], work, (PROBE,))
        for extra in EXTRAS:
            try_installed(extra, oldest, python, [f"{core}[{extra}]"], work, (PROBE, extra))
        try_installed("all", oldest, python, [f"{core}[{','.join(EXTRAS)}]"], work, (PROBE, *EXTRAS))
        campaign = [
            ("-m", "qrowd", "campaign", *words) for words in (("init", "pilot"), ("create", "pilot", "--check"))
        ]
        try_installed("server", oldest, python, [core, server], work, *campaign)
        try_installed("papers", oldest, python, [core, papers], work, ("-m", "qrowd", "study", "recompute"))
        text = call(BIN / "uvx", "--python", python, "--from", core, "qrowd", "demo", folder=work)
        print("uvx qrowd demo:", next(line for line in text.splitlines() if line.startswith("By "))[:80])
        try_lowest([core, server], python, work)
    print("release", PROJECT["version"], "is ready in dist/")


if __name__ == "__main__":
    main()
