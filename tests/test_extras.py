"""Optional packages are optional: without any of them qrowd works, and names what to install where one is needed."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "packages" / "qrowd" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = (
    "openpyxl", "ir_datasets", "matplotlib", "jinja2", "pyarrow", "fastparquet", "alembic", "argon2", "httpx", "httpx2",
    "authlib", "confusable_homoglyphs", "joserfc", "nh3", "dask", "distributed",
    "psycopg", "multipart", "snowballstemmer", "sqlalchemy", "starlette", "uvicorn", "polars", "ir_measures",
)  # fmt: skip
WITHOUT = """
import runpy, sys
from importlib.machinery import PathFinder

class Absent(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.split(".")[0] in {names} else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Absent
sys.argv = ["probe.py"]
runpy.run_path({probe!r}, run_name="__main__")
"""


def test_without_any_optional_package_commands_work_or_name_the_extra_in_one_line(tmp_path):
    script = WITHOUT.format(names=set(OPTIONAL), probe=str(ROOT / "release" / "probe.py"))
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "works with: no extra\n"


def test_every_extra_for_users_is_probed():
    sys.path.insert(0, str(ROOT / "release"))
    from probe import FEATURES

    assert set(FEATURES) == set(PROJECT["optional-dependencies"]) - {"bench", "dev", "release", "site", "test"}


def test_the_recipe_for_conda_names_the_dependencies_and_the_version_of_the_project():
    recipe = (ROOT / "release" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\ntests:")[0]
    names = {line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()}
    # conda-forge calls zlib-ng python-zlib-ng, and compiles it for every machine.
    dependencies = {one.partition(";")[0].replace("zlib-ng>=", "python-zlib-ng>=") for one in PROJECT["dependencies"]}
    assert names == {"python", *dependencies}
    assert f'version: "{PROJECT["version"]}"' in recipe
    assert f'version: "{PROJECT["version"]}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_workflow_tests_the_pythons_that_the_project_names():
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    prefix = "Programming Language :: Python :: 3."
    versions = [f"cp3{c.removeprefix(prefix)}-*" for c in PROJECT["classifiers"] if c.startswith(prefix)]
    assert f'CIBW_BUILD: "{" ".join(versions)}"' in workflow
