"""What a release consists of: versions that fit, a workflow whose steps exist, an evaluator for TIRA."""

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

import qrowd

ROOT = Path(__file__).resolve().parents[1]
RELEASE = ROOT / "release"
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
JOBS = WORKFLOW["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
PROJECTS = {
    path.parent.name: tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
}
VERSION = PROJECTS["qrowd"]["version"]


def test_the_three_distributions_have_one_version_and_need_each_other_in_it():
    assert {project["version"] for project in PROJECTS.values()} == {VERSION}
    for name in ("qrowd-server", "qrowd-papers"):
        (need,) = (one for one in PROJECTS[name]["dependencies"] if one.startswith("qrowd"))
        assert need.partition("]")[2] == f"=={VERSION}"


def test_the_changelog_has_a_heading_for_the_version_and_pages_show_it():
    assert f"\n## [{VERSION}] - " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))):
        shown = re.findall(r"\bqrowd (\d+\.\d+\.\d+\w*) \|", page.read_text(encoding="utf-8"))
        assert set(shown) <= {VERSION}, page


def test_what_the_workflow_runs_is_in_the_repository():
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for _, step in STEPS:
        command = step.get("run", "") + step.get("env", {}).get("CIBW_TEST_COMMAND", "")
        assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= set(targets)
        for path in re.findall(r"(?:\{project\}/|^)([\w./-]+/[\w.-]+)", command):
            assert (ROOT / path).is_file(), path
        if folder := step.get("with", {}).get("package-dir"):
            assert (ROOT / folder / "pyproject.toml").is_file()


def test_the_wheels_are_tested_with_every_extra_that_is_for_users():
    (command,) = (step["env"]["CIBW_TEST_COMMAND"] for _, step in STEPS if "env" in step)
    extras = set(PROJECTS["qrowd"]["optional-dependencies"]) - {"bench", "dev", "release", "site", "test"}
    assert set(re.search(r"qrowd\[(.*?)\]", command)[1].split(",")) == extras
    assert set(command.rpartition("probe.py ")[2].split()) == extras


def test_a_job_waits_for_the_jobs_whose_files_it_takes():
    made = {name: step["with"]["name"] for name, step in STEPS if "upload-artifact" in step.get("uses", "")}
    for name, step in STEPS:
        if "download-artifact" in step.get("uses", ""):
            wanted = step["with"].get("name") or step["with"]["pattern"]
            assert [job for job in JOBS[name]["needs"] if fnmatch(made.get(job, ""), wanted)]
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"publish"}


def test_only_the_job_that_publishes_may_sign_and_only_tags_reach_the_index():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [name for name, job in JOBS.items() if "permissions" in job] == ["publish"]
    assert JOBS["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    *_, attest, publish = JOBS["publish"]["steps"]
    assert attest["with"]["subject-path"].startswith(publish["with"]["packages-dir"])
    for choice in (JOBS["publish"]["environment"], publish["with"]["repository-url"]):
        test, index = re.search(r"== 'workflow_dispatch' && '(.*?)' \|\| '(.*?)' }}", choice).groups()
        assert "test" in test
        assert "test" not in index
    assert not re.search("secrets|password", str(WORKFLOW))


def test_every_action_has_a_version():
    uses = [step["uses"] for _, step in STEPS if "uses" in step]
    assert len(uses) >= 10
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@(v\d[\d.]*|release/v1)", one) for one in uses)


def test_the_entry_for_inspect_has_the_fields_of_its_list():
    (entry,) = yaml.safe_load((RELEASE / "inspect_extension.yml").read_text(encoding="utf-8"))
    assert list(entry) == ["name", "description", "author", "categories"]
    assert entry["name"].startswith("[qrowd](https://")


# ---- TIRA


@pytest.fixture
def truth(tmp_path):
    """A run, and the judgments of two assessors, as TIRA mounts them."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.txt").write_text(
        "".join(f"{t} Q0 {d} 1 {s} x\n" for t in "uvw" for d, s in (("a", 2), ("b", 1)))
    )
    (tmp_path / "truth" / "qrels").mkdir(parents=True)
    (tmp_path / "truth" / "qrels" / "ann.txt").write_text("u 0 a 1\nu 0 b 0\nv 0 b 1\nv 0 a 0\nw 0 a 1\nw 0 b 0\n")
    (tmp_path / "truth" / "qrels" / 'b"ob.txt').write_text("u 0 a 1\nu 0 b 0\nv 0 a 1\nv 0 b 0\nw 0 b 0\nw 0 a 1\n")
    (tmp_path / "truth" / "baseline.txt").write_text("u Q0 b 1 2 x\nu Q0 a 2 1 x\nv Q0 b 1 1 x\nw Q0 a 1 1 x\n")
    return tmp_path


def evaluated(folder, *options):
    """The outcome of the evaluator, run as TIRA does: from a shell, with three variables."""
    variables = {"inputRun": folder / "run", "inputDataset": folder / "truth", "outputDir": folder / "out"}
    command = f"'{sys.executable}' '{RELEASE / 'tira' / 'evaluate.py'}' --run $inputRun/run.txt"
    command += " --judgments $inputDataset/qrels --output $outputDir " + " ".join(options)
    environment = os.environ | {name: str(path) for name, path in variables.items()}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, check=False)
    path = folder / "out" / "evaluation.prototext"
    return done, path.read_text(encoding="utf-8") if path.exists() else ""


def measures_of(text):
    """{key: value} of a prototext of measures, of which every line is understood."""
    entry = r'measure \{\n  key: "((?:[^"\\]|\\.)*)"\n  value: "(-?[\d.e-]+)"\n\}\n'
    assert re.fullmatch(f"(?:{entry})+", text)
    return {key: float(value) for key, value in re.findall(entry, text)}


def test_the_evaluator_for_tira_writes_what_qrowd_computes(truth):
    done, text = evaluated(truth, "-m", "P@1", "RR", "--baseline", "$inputDataset/baseline.txt")
    assert (done.returncode, done.stderr) == (0, "")
    values = measures_of(text)
    assert values["P@1"] == pytest.approx(5 / 6)
    assert (values["P@1 by ann"], values[r"P@1 by b\"ob"]) == (pytest.approx(2 / 3), 1)
    assert values["RR"] == pytest.approx((2.5 / 3 + 1) / 2)
    runs = qrowd.read_runs([f"run={truth / 'run' / 'run.txt'}", f"baseline={truth / 'truth' / 'baseline.txt'}"])
    comparison = qrowd.compare(
        runs, qrowd.read_judgments(truth / "truth" / "qrels"), "P@1", systems=("run", "baseline")
    )
    interval = comparison.measures[0].intervals[0]
    assert values["P@1 minus baseline"] == pytest.approx(interval.difference)
    assert values["P@1 minus baseline, low"] == pytest.approx(interval.low)
    assert values["P@1 minus baseline, high"] == pytest.approx(interval.high)
    assert comparison.sentence in done.stdout


@pytest.mark.nightly
def test_the_evaluator_takes_one_assessor_and_no_baseline(truth):
    (truth / "truth" / "qrels" / 'b"ob.txt').unlink()
    _, text = evaluated(truth, "-m", "P@1")
    assert measures_of(text).keys() == {"P@1", "P@1 standard error"}


@pytest.mark.parametrize("broken", ["u a 1\n", ""])
def test_a_participant_reads_what_is_wrong_with_a_run(truth, broken):
    (truth / "run" / "run.txt").write_text(broken)
    done, text = evaluated(truth)
    assert (done.returncode, done.stderr, text) == (2, "", "")
    assert done.stdout.startswith("The run was not evaluated. ")
    assert "run.txt" in done.stdout
    assert done.stdout.count("\n") == 1


def test_the_image_for_tira_installs_the_version_and_holds_the_evaluator():
    lines = (RELEASE / "tira" / "Containerfile").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("FROM python:3.13") for line in lines)
    assert any(f"qrowd=={VERSION}" in line for line in lines)
    (copied,) = (line.split()[-2] for line in lines if line.startswith("COPY"))
    assert os.access(RELEASE / "tira" / copied, os.X_OK)
