"""`make release-check`: build the release, and use it in empty environments. Everything it makes stands in dist/.

All is built from one copy of the working tree. Two sdists from two folders, and two wheels of the oldest Python, are
equal byte by byte. Each Python from 3.11 to 3.14 that is on this machine builds its wheel from the sdist and installs
it alone, the oldest also with each extra, with all, and with the lowest versions of what they need.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PROBE = ROOT / "release" / "probe.py"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("dask", "excel", "irds", "judge", "plots", "report", "tables")
BIN = Path(sys.executable).parent
LICENCES = """
import importlib.metadata as m, json
print(json.dumps({d.metadata["Name"]: [d.version, d.metadata.get("License-Expression") or "; ".join(
    c.removeprefix("License :: ") for c in d.metadata.get_all("Classifier", []) if c.startswith("License ::"))
    or (d.metadata.get("License") or "not stated").splitlines()[0][:80]] for d in m.distributions()}))
"""
QUICK = ("tests/kernels", "tests/test_tables.py", "tests/test_files.py", "--ignore=tests/kernels/test_compiled.py")
IGNORED = (".git", ".venv", ".*_cache", ".hypothesis", "dist", "build", "native", "__pycache__")


def call(*words: object, folder: Path = ROOT, **variables: str) -> str:
    """Standard output of a program; one that fails ends the check."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
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


def check_equal(first: Path, second: Path) -> None:
    """Two builds are equal byte by byte."""
    if first.read_bytes() != second.read_bytes():
        sys.exit(f"failed: two builds of {first.name} differ")
    print(f"{first.name}: two builds are equal", flush=True)


def check_contents(wheel: Path) -> None:
    """The wheel holds the package, its compiled kernels and nothing else."""
    if wheel.name.endswith("-any.whl"):
        sys.exit(f"failed: {wheel.name} claims to be pure Python")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    strange = [
        n for n in names if not re.match(r"qrowd(-[\d.]+\.dist-info)?/", n) or re.search(r"__pycache__|\.key$", n)
    ]
    kernels = [n for n in names if n.startswith("qrowd/kernels/native/")]
    if strange or not kernels or "qrowd/py.typed" not in names:
        sys.exit(f"failed: {wheel.name} holds {strange} and {len(kernels)} compiled modules")


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


def try_installed(wheel: Path, version: str, python: Path, extras: tuple[str, ...], work: Path) -> None:
    """Install the wheel with these extras in an empty environment and use all that it promises there."""
    folder = work / "environment"
    inside, seconds = environment(folder, python, f"{wheel}[{','.join(extras)}]" if extras else wheel)
    text = "all" if extras == EXTRAS else ", ".join(extras) or "none"
    print(f"{version:7} {text:9} {size(folder):5} {seconds:8.1f}", flush=True)
    call(inside, "-P", PROBE, *extras, folder=work)
    if extras == EXTRAS:
        write_dependencies(inside)
    shutil.rmtree(folder)


def write_dependencies(inside: Path) -> None:
    """Licences and bill of materials of what an environment holds."""
    licences = json.loads(call(inside, "-c", LICENCES))
    lines = [f"{name}\t{version}\t{licence}" for name, (version, licence) in sorted(licences.items())]
    (DIST / "licences.tsv").write_text("package\tversion\tlicence\n" + "\n".join(lines) + "\n")
    call(BIN / "cyclonedx-py", "environment", inside, "--pyproject", ROOT / "pyproject.toml",
         "--of", "JSON", "-o", DIST / "sbom.cdx.json")  # fmt: skip


def try_lowest(wheel: Path, python: Path, sdist: Path, work: Path) -> None:
    """Use the wheel, and run quick tests of the sdist, with the lowest versions of what it needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = [one for extra in EXTRAS for one in project["optional-dependencies"][extra]]
    # What the wheel needs is named anew, since only what is named is taken at its lowest version.
    needs = [*project["dependencies"], *optional]
    inside, _ = environment(work / "low", python, "--resolution", "lowest-direct", wheel, *needs)
    call(inside, "-P", PROBE, *EXTRAS, folder=work)
    call(BIN / "uv", "pip", "install", "--quiet", "--python", inside, "pytest", "hypothesis", "polars")
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "unpacked", filter="data")
    (source,) = (work / "unpacked").iterdir()
    shutil.rmtree(source / "packages" / "qrowd" / "src")  # the tests import what is installed
    lines = call(inside, "-m", "pytest", "-q", "--quick", "-o", "filterwarnings=", *QUICK, folder=source).splitlines()
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
        sdist = build("sdist", work / "source", python, DIST, when)
        check_equal(sdist, build("sdist", work / "copy" / "elsewhere", python, work / "sdist", when))
        wheels = {version: build("wheel", sdist, one, work / version, when) for version, one in by_version.items()}
        check_equal(wheels[oldest], build("wheel", sdist, python, work / "again", when))
        for wheel in wheels.values():
            check_contents(wheel)
            shutil.copy(wheel, DIST)
        for path in sorted(DIST.iterdir()):
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}  {path.stat().st_size / 1e6:.1f} MB")
        print(call(BIN / "twine", "check", "--strict", *DIST.iterdir()).strip())
        print("python  extras      MB  seconds")
        for version, one in by_version.items():
            try_installed(wheels[version], version, one, (), work)
        for extras in (*((extra,) for extra in EXTRAS), EXTRAS):
            try_installed(wheels[oldest], oldest, python, extras, work)
        text = call(BIN / "uvx", "--python", python, "--from", wheels[oldest], "qrowd", "demo", folder=work)
        print("uvx qrowd demo:", next(line for line in text.splitlines() if line.startswith("By "))[:80])
        try_lowest(wheels[oldest], python, sdist, work)
    print("release", tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"], "is ready in dist/")


if __name__ == "__main__":
    main()
