"""`make release-check`: build the release, and use it in empty environments. Everything it makes stands in dist/.

Two builds, the second in another folder, are equal byte by byte. Each Python from 3.11 to 3.14 that is on this machine
builds and installs its wheel alone, the oldest also each extra alone and the lowest versions of what the package needs.
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
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = ("excel", "irds", "plots", "report", "server", "tables")
BIN = Path(sys.executable).parent
LICENCES = """
import importlib.metadata as m, json
print(json.dumps({d.metadata["Name"]: [d.version, d.metadata.get("License-Expression") or "; ".join(
    c.removeprefix("License :: ") for c in d.metadata.get_all("Classifier", []) if c.startswith("License ::"))
    or (d.metadata.get("License") or "not stated").splitlines()[0][:80]] for d in m.distributions()}))
"""
QUICK = ("tests/kernels", "tests/test_tables.py", "tests/test_files.py")


def call(*words: object, folder: Path = ROOT, **variables: str) -> str:
    """Standard output of a program; one that fails ends the check."""
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(source: Path, folder: Path, when: str) -> dict[str, bytes]:
    """{file name: content} of sdist and wheel."""
    call(BIN / "python", "-m", "build", "--outdir", folder, source, SOURCE_DATE_EPOCH=when)
    return {path.name: path.read_bytes() for path in sorted(folder.glob("qrowd-*"))}


def check_contents(files: dict[str, bytes], folder: Path) -> None:
    """The wheel holds the package, its compiled kernels and nothing else."""
    (wheel,) = (name for name in files if name.endswith(".whl"))
    if wheel.endswith("-any.whl"):
        sys.exit(f"failed: {wheel} claims to be pure Python")
    with zipfile.ZipFile(folder / wheel) as archive:
        names = archive.namelist()
    strange = [
        n for n in names if not re.match(r"qrowd(-[\d.]+\.dist-info)?/", n) or re.search(r"__pycache__|\.key$", n)
    ]
    kernels = [n for n in names if n.startswith("qrowd/kernels/native/baseline/")]
    if strange or not kernels or "qrowd/py.typed" not in names:
        sys.exit(f"failed: {wheel} holds {strange} and {len(kernels)} compiled modules")


def python_of(version: str) -> Path | None:
    """An interpreter of this version on this machine."""
    programs = [shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    for program in filter(None, programs):
        done = subprocess.run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True)
        if done.returncode == 0 and done.stdout.decode().strip() == version:
            return Path(program)
    return None


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


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        when = call("git", "log", "-1", "--format=%ct").strip()
        files = build(ROOT, DIST, when)
        (sdist,) = DIST.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(work / "unpacked", filter="data")
        shutil.copytree(
            ROOT, work / "copy", ignore=shutil.ignore_patterns(".git", ".venv", "dist", "build", "__pycache__")
        )
        again = build(work / "copy", work / "again", when)
        if files != again:
            sys.exit(f"failed: two builds differ: {[name for name in files if files[name] != again.get(name)]}")
        for file, content in files.items():
            print(f"{hashlib.sha256(content).hexdigest()}  {file}  {len(content) / 1e6:.1f} MB, two builds equal")
        check_contents(files, DIST)
        print(call(BIN / "twine", "check", "--strict", *DIST.glob("qrowd-*")).strip())
        found: Sequence[tuple[str, Path]] = [(v, p) for v in PYTHONS if (p := python_of(v))]
        print("not on this machine:", ", ".join(v for v in PYTHONS if v not in dict(found)) or "none")
        oldest = found[0][1]
        wheels = {}
        for version, python in found:
            start = time.perf_counter()
            call(BIN / "uv", "build", "--quiet", "--wheel", "--python", python, "--out-dir", work / version, sdist)
            (wheels[version],) = (work / version).glob("*.whl")
            print(f"wheel for Python {version}: built in {time.perf_counter() - start:.0f} s from the sdist")
        wheel = wheels[found[0][0]]
        print("python  extras      MB  seconds")
        cases = (
            [(v, p, ()) for v, p in found]
            + [(found[0][0], oldest, (e,)) for e in EXTRAS]
            + [(found[0][0], oldest, EXTRAS)]
        )
        for version, python, extras in cases:
            folder = work / f"{version}{'-'.join(extras)}"
            wanted = f"{wheels[version]}[{','.join(extras)}]" if extras else wheels[version]
            inside, seconds = environment(folder, python, wanted)
            text = "all" if extras == EXTRAS else ", ".join(extras) or "none"
            print(f"{version:7} {text:9} {size(folder):5} {seconds:8.1f}", flush=True)
            call(inside, "-P", ROOT / "release" / "probe.py", *extras, folder=work)
            if extras == EXTRAS:
                licences = json.loads(call(inside, "-c", LICENCES))
                lines = [f"{one}\t{version}\t{licence}" for one, (version, licence) in sorted(licences.items())]
                (DIST / "licences.tsv").write_text("package\tversion\tlicence\n" + "\n".join(lines) + "\n")
                call(BIN / "cyclonedx-py", "environment", inside, "--pyproject", ROOT / "pyproject.toml",
                     "--of", "JSON", "-o", DIST / "sbom.cdx.json")  # fmt: skip
            shutil.rmtree(folder)
        text = call(BIN / "uvx", "--python", oldest, "--from", wheel, "qrowd", "demo", folder=work)
        print("uvx qrowd demo:", next(line for line in text.splitlines() if line.startswith("By "))[:80])
        low = work / "low"
        wanted = f"{wheel}[{','.join(EXTRAS)}]"
        inside, _ = environment(low, oldest, "--resolution", "lowest-direct", wanted)
        call(inside, "-P", ROOT / "release" / "probe.py", *EXTRAS, folder=work)
        call(BIN / "uv", "pip", "install", "--quiet", "--python", inside, "pytest", "hypothesis", "polars")
        tests = next((work / "unpacked").iterdir())
        shutil.rmtree(tests / "src")  # the tests import what is installed
        warn = ("-o", "filterwarnings=")
        print(
            "lowest versions:",
            call(inside, "-m", "pytest", "-q", "--quick", *warn, *QUICK, folder=tests).splitlines()[-1],
        )
    print("release", tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"], "is ready in dist/")


if __name__ == "__main__":
    main()
