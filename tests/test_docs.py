"""The documentation is true: its code runs, its output is what is printed, its names exist, and nothing is left out."""

import ast
import contextlib
import doctest
import importlib
import importlib.util
import inspect
import io
import os
import pkgutil
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import commands
import qrowd
import qrowd_server
from conftest import INSTALLED, data
from qrowd.cli.main import app
from qrowd.comparison import difference
from qrowd.evaluation import definitions
from qrowd.model.conventions import Conventions
from qrowd.model.headers import JUDGMENT_COLUMNS, PREFERENCE_COLUMNS, RUN_COLUMNS
from real_runs import runs_of
from test_architecture import LAYER_OF, package_of

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [ROOT / "packages" / name / "src" for name in ("qrowd", "qrowd-server", "qrowd-papers")]
GENERATED = ("cli.md", "measures.md")
PAGES = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
]}  # fmt: skip
CURRENT = [page for page in PAGES if page != "CHANGELOG.md"]  # which names what is gone, too
DOCS = "\n".join(PAGES.values())
MODULES = [
    found.name
    for package in (qrowd, qrowd_server)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]


def source_of(module):
    path = Path(import_module(module.split(".")[0]).__path__[0]).joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8") if path.exists() else ""  # kernels are compiled


PACKAGES = {package_of(module) for module in MODULES}


def commands_of(group, before=""):
    """{name: command}; one of a group is named after both."""
    by_name = {}
    for name, command in group.commands.items():
        full = f"{before}{name}"
        by_name |= commands_of(command, f"{full} ") if hasattr(command, "commands") else {full: command}
    return by_name


COMMANDS = commands_of(get_command(app))

# ---- pages, taken apart


@dataclass(frozen=True)
class Block:
    """A fenced block; `mark` is the comment above it.

    <!-- prints -->            what the block before printed
    <!-- qrowd demo prints --> what the command prints
    <!-- exit status 2 -->     a shell block that ends so
    """

    mark: str
    language: str
    body: str


BLOCK = re.compile(r"(?:^<!-- (?P<mark>.*?) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


def blocks(page):
    return [Block(found["mark"] or "", found["language"], found["body"]) for found in BLOCK.finditer(PAGES[page])]


def prose(page):
    return BLOCK.sub("", PAGES[page])


def in_code(page):
    """What the page shows as code within its prose, and the lines of its indented blocks without their comments."""
    text = prose(page)
    return [*CODE.findall(text), *re.findall(r"^    ([^#\n]*)", text, re.MULTILINE)]


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


# ---- code that runs


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """Variables under which `qrowd` is this source tree's command, whether it is installed or not."""
    folder = tmp_path_factory.mktemp("bin")
    path = os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)])
    variables = {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": os.pathsep.join([INSTALLED, *map(str, SOURCES)]),
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
    program, address = [sys.executable, commands.__file__], str(folder / "socket")
    command = folder / "qrowd"
    command.write_text(f'#!/bin/sh\nexec {program[0]} -I -S {program[1]} ask {address} "$@"\n')
    command.chmod(0o755)
    with subprocess.Popen(
        [*program, "serve", address], cwd=folder, env=variables, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout.readline() == "ready\n"
        yield variables
        server.kill()


def shell(script, folder, environment, status=0):
    """Standard output of a script; with an exit status to expect, its standard error too."""
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout + (done.stderr if status else "")


def assert_shown(shown, printed):
    """`shown` is `printed`, but for what its dots leave out: whole lines ("...") or the end of one ("scales: ...")."""
    parts = [[]]
    for line in shown.rstrip("\n").split("\n"):
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    lines = [line.rstrip() for line in printed.strip("\n").split("\n")]
    at = 0
    for i, part in enumerate(parts):
        first = range(at, at + 1) if i == 0 else range(at, len(lines) - len(part) + 1)
        start = next((n for n in first if alike(part, lines[n : n + len(part)])), None)
        assert start is not None, "\n".join(["the page shows", *part, "where this was printed:", *lines[at:]])
        at = start + len(part)
    assert at == len(lines) or not parts[-1], "\n".join(["the page ends before this:", *lines[at:]])


VERSION = re.compile(r"^qrowd \d+\.\d+\.\d+ \|")  # of a signature; a release changes it, and no page


def alike(shown, printed):
    shown, printed = ([VERSION.sub("qrowd |", line) for line in lines] for lines in (shown, printed))
    return len(shown) == len(printed) and all(
        have.startswith(want.removesuffix("...")) if want.endswith("...") else have == want
        for want, have in zip(shown, printed, strict=True)
    )


RUNNING = [
    page
    for page in PAGES
    if page != "docs/notebook.md"  # which test_notebook.py runs
    and any(block.language in ("bash", "python") for block in blocks(page))
]


LONG = {  # pages that take long, by how many of their blocks `make test` runs; `make nightly` runs all
    "docs/campaigns.md": 3, "docs/other_tools.md": 3, "docs/plots.md": 1, "docs/preferences.md": 7,
    "docs/replacement.md": 4, "docs/reports.md": 3,
    "docs/howto/collect_judgments.md": 4, "docs/howto/how_many_judgments.md": 2, "docs/howto/large_collections.md": 0,
    "docs/howto/my_assessors_disagree.md": 4, "docs/howto/one_afternoon.md": 5, "docs/howto/several_models.md": 5,
    "docs/howto/three_labels_per_document.md": 5, "docs/howto/trec_rag.md": 4,
}  # fmt: skip


@pytest.mark.parametrize(
    ("page", "n"),
    [
        *((page, LONG.get(page)) for page in RUNNING if LONG.get(page) != 0),
        *(pytest.param(page, None, marks=pytest.mark.nightly) for page in LONG),
    ],
)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, n, tmp_path, environment, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if page == "docs/howto/one_afternoon.md":  # whose Python looks 17 times and shows no expectation
        monkeypatch.setattr("qrowd.sequential.expectation.N_PATHS", 5)
    namespace = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page)[:n]:
        if block.language == "bash":
            status = int(block.mark.removeprefix("exit status ") or 0)
            printed = shell(block.body, tmp_path, environment, status)
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.body, page, "exec"), namespace)
            printed = out.getvalue()
        elif block.mark.endswith("prints"):
            command = block.mark.removesuffix("prints").strip()
            assert_shown(block.body, shell(command, tmp_path, environment) if command else printed)


def test_the_page_on_trec_rag_shows_what_is_printed_of_mtrag(tmp_path, environment):
    mtrag = data("answers") / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
    (tmp_path / "mtrag.json.gz").write_bytes(mtrag.read_bytes())
    script, shown = (block.body for block in blocks("docs/howto/trec_rag.md") if block.mark == "MTRAG")
    assert_shown(shown, shell(script, tmp_path, environment))


def test_shown_output_is_compared_line_by_line_but_for_what_dots_leave_out():
    printed = "one\ntwo\nthree and more\nfour\n"
    for shown in ("one\ntwo\nthree and more\nfour", "...\nfour", "one\n...", "one\n...\nthree ...\nfour"):
        assert_shown(shown, printed)
    for shown in ("one", "two\n...", "one\n...\ntwo\nfour", "...\nfive", "one\n...\nthree"):
        with pytest.raises(AssertionError):
            assert_shown(shown, printed)


WITH_EXAMPLES = [module for module in MODULES if ">>>" in source_of(module)]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_true(module):
    found = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0


@pytest.mark.nightly
def test_the_real_result_of_the_readme_is_what_qrowd_says_of_dl21(dl21):
    scores = qrowd.evaluate(
        runs_of(dl21),
        qrowd.read_judgments(str(dl21 / "judges" / "*.qrels.gz")),
        ["nDCG@10", "AP"],
    ).to_xarray()
    readme = PAGES["README.md"]
    measures = qrowd.summarise(scores).measures
    for part in measures:
        place = part.ranking
        leads = dict(zip(part.systems, place.leads().tolist(), strict=True))
        span = np.median(place.rank_by_assessor.max(axis=0) - place.rank_by_assessor.min(axis=0))
        low, high = (f"{value:.2f}".removeprefix("0") for value in (part.agreement.min(), part.agreement.max()))
        row = next(line for line in readme.splitlines() if line.startswith(f"| {part.measure} |"))
        assert row.endswith(f"| {span:.0f} | {low} to {high} |")
        for system, n in leads.items():
            assert (f"{system} {n}" in row) or (system in row and f" {n}," in row) if n else system not in row
    sentences = " ".join(readme.split())
    for part, sentence in zip(measures, (
        "By nDCG@10 pash_f3 is {} [{}, {}] better than NLE_P_v1, and {n} of 18 assessors agree on the sign",
        "By AP it is {} [{}, {}] better, and another panel of assessors would see the same winner with probability {p}",
    ), strict=True):  # fmt: skip
        one = difference(scores.sel(measure=part.measure), "pash_f3", "NLE_P_v1")
        numbers = [f"{value:.3f}".replace("0.", ".", 1) for value in (one.difference, one.low, one.high)]
        p = f"{one.p_panel_agrees():.2f}".removeprefix("0")
        assert sentence.format(*numbers, n=part.ranking.n_above(one.first, one.second), p=p) in sentences


# ---- generated pages


@pytest.fixture(scope="session")
def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_make_docs_writes(name, generator):
    assert generator.pages()[name] == PAGES[f"docs/{name}"], "run `make docs`"


def test_every_command_and_option_is_on_the_page_of_the_command_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    group = get_command(app)
    page = PAGES["docs/cli.md"]
    shared = page.split("\n## Shared options\n")[1].split("\n## ")[0]
    for command in ("", *COMMANDS):
        with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit, match=r"^0$"):
            group.main([*command.split(), "--help"], prog_name="qrowd")
        help_text = out.getvalue()
        section = page.split(f"## {f'qrowd {command}'.strip()}\n")[1].split("\n## ")[0]
        options = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", help_text)) - {"--help"}
        assert options or command == "demo" or "[OPTIONS]" in help_text
        for option in options:
            entry = rf"^- `(-\w, |--[a-z-]+, )?{option}(, --[a-z-]+)?`"
            assert re.search(entry, section, re.MULTILINE) or re.search(entry, shared, re.MULTILINE), (command, option)


@pytest.mark.parametrize("definition", definitions(), ids=lambda definition: definition.name)
def test_a_measure_states_its_sentence_formula_parameters_and_source(definition):
    def section(heading):
        return PAGES["docs/measures.md"].split(f"\n## {heading}\n")[1].split("\n## ")[0]

    page = section(definition.name)
    for text in (definition.sentence, definition.formula, definition.source):
        assert text.strip()
        assert text in page
    assert definition.sentence[0].isupper()
    assert definition.sentence.endswith(".")
    assert "=" in definition.formula
    for parameter in definition.parameters:
        line = f"- `{parameter.name}` (default `{parameter.default!r}`): {parameter.meaning}."
        assert line in page or (f"`{parameter.name}`" in page and line in section("Shared parameters"))


# ---- nothing is left out


@pytest.mark.parametrize("name", [name for name in qrowd.__all__ if name != "__version__"])
def test_a_public_name_has_a_docstring_and_stands_in_the_docs(name):
    assert inspect.getdoc(getattr(qrowd, name))
    assert re.search(rf"`(qrowd\.)?{name}\b", DOCS)


DESCRIBED = (
    "model", "measures", "agreement", "aggregation", "magnitude", "comparison", "simulation", "evaluation", "files",
    "trec", "tables", "reports", "aware", "methods", "predicted_relevance", "gain_distributions",
    "preferences", "replacement", "texts", "judge", "influence", "server.protocols", "server.store", "server.campaigns",
    "server.web",
)  # fmt: skip


@pytest.mark.parametrize("package", DESCRIBED)
def test_the_first_line_of_every_docstring_is_a_sentence(package):
    modules = [module for module in MODULES if package_of(module) == package]
    assert modules
    for module in modules:
        loaded = importlib.import_module(module)
        own = [
            (name, member)
            for name, member in vars(loaded).items()
            if not name.startswith("_") and inspect.getmodule(member) is loaded and callable(member)
        ]
        for name, member in [(module, loaded), *own]:
            first = (inspect.getdoc(member) or "").split("\n")[0]
            assert first.endswith((".", "?")), f"{module}: {name}: {first!r}"
            assert " " in first, f"{module}: {name}: {first!r}"


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_package_has_a_page_or_stands_on_one(package):
    name = package.removeprefix("server.")
    assert f"docs/{name}.md" in PAGES or f"`{name}`" in DOCS


def test_every_page_of_the_docs_is_linked_from_their_index():
    index = PAGES["docs/pages.md"]
    for page in PAGES:
        targets = {page.removeprefix("docs/"), f"../{page}"}
        assert page in ("docs/index.md", "docs/pages.md") or any(f"]({target})" in index for target in targets), page


def test_the_list_of_layers_shows_every_package_on_its_layer():
    lines = re.findall(r"^    (\d)  (.+)$", PAGES["docs/architecture.md"], re.MULTILINE)
    layers = {package: int(layer) for layer, packages in lines for package in packages.split("  ")[0].split(" | ")}
    assert layers == {package: LAYER_OF[package] for package in {*PACKAGES, "qrowd", "server"}}


@pytest.mark.parametrize("convention", fields(Conventions), ids=lambda convention: convention.name)
def test_a_convention_is_explained_with_its_default_among_the_decisions(convention):
    default = f'"{convention.default}"' if isinstance(convention.default, str) else f"{convention.default}"
    page = PAGES["docs/decisions.md"]
    assert f"`{convention.name}={default}`" in page or f"`{convention.name}={default.lstrip('0')}`" in page


PARTS = {  # packages with several pages, or a page of another name
    "sequential": ("next_judgments",),
    "comparison": ("comparison", "comparing_systems", "generalizability"),
    "replacement": ("prediction_powered", "replacement"),
}
OFFERED = [package for package in (getattr(qrowd, name) for name in qrowd.__all__) if inspect.ismodule(package)]


@pytest.mark.parametrize("package", OFFERED, ids=lambda package: package.__name__)
def test_everything_that_a_package_offers_is_on_its_page(package):
    name = package.__name__.split(".")[1]
    page = "".join(PAGES[f"docs/{part}.md"] for part in PARTS.get(name, (name,)))
    for name in package.__all__:
        assert re.search(rf"`([A-Z]\w+\.)?{name}\b", page), name


def test_every_column_name_that_is_understood_is_listed():
    for names in (*JUDGMENT_COLUMNS.values(), *RUN_COLUMNS.values(), *PREFERENCE_COLUMNS.values()):
        assert ", ".join(f"`{name}`" for name in names) in PAGES["docs/files.md"]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("check", "partition", "simulate")])
def test_every_command_that_reads_judgments_reads_those_of_a_campaign(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    if options & {"--judgments", "--preferences"}:
        assert {"--campaign", "--database"} <= options


# ---- nothing is mentioned that does not exist


def resolved(name):
    """Whether a dotted name leads from module to module to attribute."""
    found = qrowd
    for i, part in enumerate(name.split(".")[1:], start=2):
        module = ".".join(name.split(".")[:i])
        if module in MODULES:
            found = importlib.import_module(module)
        elif hasattr(found, part):
            found = getattr(found, part)
        else:
            return part in getattr(found, "__dataclass_fields__", {})
    return True


@pytest.mark.parametrize("page", CURRENT)
def test_every_name_in_qrowd_that_a_page_mentions_exists(page):
    for name in set(re.findall(r"(?<![\w/.])qrowd(?:\.\w+)+", PAGES[page])):
        assert resolved(name), name


@pytest.fixture(scope="session")
def known():
    """{name: objects} of every public class and function of the source."""
    by_name = {}
    for module in MODULES:
        for name, member in vars(importlib.import_module(module)).items():
            if not name.startswith("_") and (inspect.isclass(member) or inspect.isfunction(member)):
                by_name.setdefault(name, []).append(member)
    return by_name


@pytest.fixture(scope="session")
def methods(known):
    return {name for members in known.values() for member in members if inspect.isclass(member) for name in dir(member)}


@pytest.mark.parametrize("page", CURRENT)
def test_every_method_and_call_that_a_page_mentions_exists(page, known, methods):
    for code in in_code(page):
        for owner, attribute in re.findall(r"\b([A-Z]\w+)\.(\w+)", code):
            assert owner not in known or any(has(member, attribute) for member in known[owner]), code
        if call := re.fullmatch(r"(?:\w+\.)*([a-z]\w+)\(.*\)", code):
            assert call[1] in known or call[1] in methods or hasattr(np, call[1]), code


def has(member, attribute):
    return hasattr(member, attribute) or attribute in getattr(member, "__dataclass_fields__", {})


@pytest.mark.parametrize("page", CURRENT)
def test_every_command_option_and_target_that_a_page_mentions_exists(page):
    parameters = [p for command in (get_command(app), *COMMANDS.values()) for p in command.params]
    options = {option for p in parameters for option in (*p.opts, *p.secondary_opts)} | {"--help"}
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    scripts = [block.body for block in blocks(page) if block.language == "bash"]
    for code in [*in_code(page), *scripts]:
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", code):
            assert option in options, code
        for command in re.findall(r"(?<![\w/.-])qrowd ([a-z][a-z-]*)", code):
            assert command in {name.split()[0] for name in COMMANDS}, code
        for target in re.findall(r"(?<![\w-])make ([a-z-]+)", code):
            assert target in targets, code


@pytest.mark.parametrize("page", PAGES)
def test_every_link_within_the_repository_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / name if name else ROOT / page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), target


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_a_path_of_somebodys_machine(page):
    assert not re.search(r"(?<![\w.~-])/(home|root|tmp|work|usr|opt|mnt)/", PAGES[page])


# ---- quick to start


def test_importing_qrowd_loads_no_heavy_package(environment):
    script = "import sys; import qrowd; print([name for name in sys.modules if '.' not in name])"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "qrowd" in loaded
    assert not loaded & {"numba", "numpy", "pandas", "scipy", "xarray", "narwhals", "rich", "typer"}


def test_the_help_text_loads_no_package_of_numbers(environment):
    script = "import sys; from qrowd.cli.main import app; print([name for name in sys.modules if '.' not in name])"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    assert "typer" in loaded
    assert not loaded & {"numba", "numpy", "pandas", "scipy", "xarray", "narwhals", "jinja2", "sqlalchemy"}
