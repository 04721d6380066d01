"""Every command says on which scales the assessors judged."""

import pytest

pytestmark = pytest.mark.usefixtures("coarse")

CHOSEN = {  # the grade that each judge gives to a document of relevance 0, 1, 2, 3
    "human": (0, 1, 2, 3),
    "yes-no": (0, 1, 1, 1),
    "exam": (0, 2, 4, 5),
}
OPTIONS = "--scale 'exam=0-5' --scale 'human=0-3' --scale 'yes-no=binary'"
METHODS = ("majority", "mean", "dawid-skene(per=all)", "predicted-relevance(rel=1)")
COMMANDS = {
    "agree": ("--n-resamples", 20),
    "assessors": (),
    "aggregate": (),
    "predict": ("--rel", 1, "--n-resamples", 0),
    "evaluate": ("runs",),
    "evaluate by method": ("runs", "-m", "nDCG@10", *(part for name in METHODS for part in ("--method", name))),
    "compare": ("runs", "--n-resamples", 200),
    "plan": ("runs",),
    "plot kappa": ("-o", "kappa.csv"),
    "plot systems": ("runs", "-o", "systems.csv"),
}  # fmt: skip


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Judges on 0-3, 0/1 and 0-5 who never disagree; four topics, three runs."""
    folder = tmp_path_factory.mktemp("mixed")
    for where in ("judges", "runs"):
        (folder / where).mkdir()
    lines = {judge: [] for judge in CHOSEN}
    for t in range(6):
        for d in range(12):
            for judge, grades in CHOSEN.items():
                lines[judge].append(f"t{t} 0 d{d} {grades[(d * 7 + t) % 5 % 4]}\n")
    for judge, said in lines.items():
        (folder / "judges" / f"{judge}.qrels").write_text("".join(said))
    table = [f"{t},{d},{judge},{v}" for judge, said in lines.items() for t, _, d, v in map(str.split, said)]
    (folder / "table.csv").write_text("\n".join(["topic,document,assessor,value", *table]))
    for s in range(3):
        run = [f"t{t} Q0 d{(r * (s + 1) + t) % 13} {r + 1} {20 - r} x\n" for t in range(6) for r in range(10)]
        run = [line for line in run if " d12 " not in line]
        (folder / "runs" / f"s{s}.run").write_text("".join(run))
    return folder


def arguments(command, mixed, *judgments):
    name, *options = command.split()[0:2] if command.startswith("plot") else (command.split()[0],)
    needed = COMMANDS[command]
    runs = ("--runs", mixed / "runs") if "runs" in needed else ()
    return (name, *options, *runs, "--judgments", *judgments, *(part for part in needed if part != "runs"))


def scale_lines(out):
    return [line for line in out.splitlines() if line.startswith("scale: ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_unlike_scales_and_ends_with_the_option_that_declares_them(qrowd, mixed, command):
    outcome = qrowd(*arguments(command, mixed, mixed / "judges"))
    assert outcome.status == 0, outcome.err
    (line,) = scale_lines(outcome.out)
    for part in ("0-3 (inferred): human", "binary (inferred): yes-no", "0-5 (inferred): exam"):
        assert part in line
    assert line.endswith(f"to declare: {OPTIONS}")


def test_the_report_names_unlike_scales_and_says_what_was_done(qrowd, mixed, tmp_path):
    judges = ("--judgments", mixed / "judges", "--runs", mixed / "runs", "--n-resamples", 50, "--random-assessors", 5)
    assert qrowd("report", *judges, "-o", "report.json").status == 0
    written = (tmp_path / "report.json").read_text()
    assert "scale: 0-5 (inferred): exam; 0-3 (inferred): human; binary (inferred): yes-no" in written
    assert "every value divided by its scale's maximum, as scales differ" in written
    assert "each judgment counts as relevant or not, by its assessor's own scale" in written


@pytest.mark.parametrize("options", [(), ("--scale", "human=0-3", "--scale", "yes-no=binary", "--scale", "exam=0-5")])
def test_judges_who_never_disagree_have_kappa_1_on_scales_of_their_own(qrowd, mixed, options):
    source = mixed / "table.csv" if options else mixed / "judges"
    out = qrowd("agree", "--judgments", source, "--n-resamples", 0, *options).out
    rows = [line.split()[1:] for line in out.splitlines() if line.startswith(("human ", "yes-no ", "exam "))]
    assert rows == [["1.000", "1.000"]] * 3
    assert "0-3" in scale_lines(out)[0]
