"""`qrowd replace`."""

import json
import re

import pandas as pd
import pytest

PEOPLE = ("ann", "bob", "lena")


@pytest.fixture
def people(folder):
    return ["--judgments", *(folder / "judges" / f"{name}.qrels" for name in PEOPLE)]


def test_the_first_sentence_is_the_answer_and_the_rest_says_what_it_rests_on(qrowd, people, folder):
    outcome = qrowd(
        "replace", *people, "--model", folder / "judges" / "crowd-3.qrels",
        "--runs", folder / "runs", "--group", "rerank=rerank*", "--group", "rerank=bm25", "--group", "dense=dense*",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    first, *lines = outcome.out.splitlines()
    assert first.startswith(
        "crowd-3 has not shown that it may replace your assessors: the test supports replacing 0 of the 3 "
        "assessors ann, bob and lena (winning rate 0.00 < 0.50 at eps 0.2). On average over assessors, "
    )
    assert "It does not clearly favour or disfavour rerank more than another assessor might: +0." in first
    assert "; assessors range from -0." in first
    table = {line.split()[0]: line.split() for line in lines if line.startswith(PEOPLE)}
    assert len(table) == 3
    ann = next(line.split() for line in lines if line.startswith("ann "))
    assert (ann[1], ann[2], ann[5], ann[6], ann[7]) == ("1,000", "25", "+0.500", "1.000", "no")
    assert "rerank (4 of 12)" in outcome.out
    for note in ("independent: topics, documents of one topic may be alike",
                 "eps 0.2; false discovery rate 0.05", "closeness: rmse", "kappa: Cohen's, weights=quadratic",
                 "bias: 95 % prediction interval for one more assessor, Student's t with 2.0 degrees",
                 "severity: removed by shuffling",
                 "alike; of crowd-3, it explained ",
                 "scale: 0-3"):  # fmt: skip
        assert note in outcome.out


def test_with_documents_as_clusters_the_test_is_the_papers_and_says_so(qrowd, people, folder):
    outcome = qrowd("replace", *people, "--model", folder / "judges" / "sven.qrels", "--independent", "documents")
    assert outcome.status == 0, outcome.err
    assert "independent: documents, all count as independent, as in the paper" in outcome.out


def test_repeats_of_any_of_several_models_are_counted_with_and_without_runs(qrowd, folder, tmp_path):
    lines = (folder / "judges" / "sven.qrels").read_text()
    (tmp_path / "twice.qrels").write_text(lines + "".join(lines.splitlines(keepends=True)[:7]))
    models = ("--model", folder / "judges" / "bob.qrels", tmp_path / "twice.qrels")
    for more in ((), ("--runs", folder / "runs")):
        out = qrowd("replace", "--judgments", folder / "judges" / "ann.qrels", *models, *more).out
        assert out.count("repeats: ") == 1
        assert "repeats: 7 judgments repeat one by the same assessor; counted: first" in out


def test_few_topics_are_pointed_out(qrowd, folder, tmp_path):
    judges = []
    for name in (*PEOPLE, "sven"):
        lines = (folder / "judges" / f"{name}.qrels").read_text().splitlines(keepends=True)
        topics = sorted({line.split()[0] for line in lines})[:6]
        judges.append(tmp_path / f"{name}-few.qrels")
        judges[-1].write_text("".join(line for line in lines if line.split()[0] in topics))
    outcome = qrowd("replace", "--judgments", *judges[:3], "--model", judges[3], "--scale", "*=0-3")
    assert outcome.status == 0, outcome.err
    assert "few topics: some assessor is tested on 6; below 20" in outcome.out


def test_an_assessor_like_the_others_may_replace_them_and_needs_no_gold_or_runs(qrowd, folder):
    judges = folder / "judges"
    outcome = qrowd("replace", "--judgments", judges / "sven.qrels", judges / "lena.qrels", judges / "ann.qrels",
                    "--model", judges / "bob.qrels")  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(
        "bob may replace your assessors: the test supports replacing 3 of the 3 assessors sven, lena and "
        "ann (winning rate 1.00 >= 0.50"
    )
    assert "nDCG" not in outcome.out
    assert "bias" not in outcome.out


def test_the_model_may_be_among_the_files_of_the_people(qrowd, people, folder):
    model = folder / "judges" / "bob.qrels"
    judges = [folder / "judges" / f"{name}.qrels" for name in (*PEOPLE, "sven")]
    outcome = qrowd("replace", "--judgments", *judges, "--model", model)
    assert outcome.status == 0, outcome.err
    assert "bob may replace your assessors: the test supports replacing 3 of the 3 assessors" in outcome.out


def test_unlike_scales_are_brought_together_and_the_note_says_how(qrowd, people, folder):
    outcome = qrowd("replace", *people, "--model", folder / "judges" / "llm-a.qrels", "--eps", 0.1)
    assert outcome.status == 0, outcome.err
    assert "eps 0.1" in outcome.out
    assert "scale: 0-3 (inferred): ann, bob and lena; 0..1 (inferred): llm-a; " in outcome.out
    assert "error, before they are put on the assessor's scale: every value divided by its scale's max" in outcome.out
    assert "test: every value divided by its scale's maximum; kappa: each judgment counted as relevant" in outcome.out
    binary = qrowd("replace", *people, "--model", folder / "judges" / "crowd-1.qrels")
    assert "test, kappa: each judgment counted as relevant or not, by its assessor's own scale" in binary.out


@pytest.fixture
def partly(folder):
    """Arguments by which a model is compared with people who judged 2 documents of 40; and these documents."""
    said = {name: (folder / "judges" / f"{name}.qrels").read_text().splitlines() for name in PEOPLE}
    kept = {tuple(line.split()[:3]) for line in sorted(said["ann"])[::20]}
    judges = [folder / f"{name}.qrels" for name in PEOPLE]
    for judge, lines in zip(judges, said.values(), strict=True):
        judge.write_text("".join(line + "\n" for line in lines if tuple(line.split()[:3]) in kept))
    (folder / "judges" / "bob-2.qrels").write_text((folder / "judges" / "sven.qrels").read_text())
    arguments = ("replace", "--judgments", *judges, "--model", folder / "judges" / "bob-2.qrels",
                 "--runs", folder / "runs", "--group", "rerank=rerank*")  # fmt: skip
    return arguments, kept


def test_documents_that_only_the_model_judged_do_not_count(qrowd, folder, partly):
    arguments, kept = partly
    whole = qrowd(*arguments)
    assert "rerank (3 of 12)  bob-2" in whole.out
    model = folder / "judges" / "bob-2.qrels"
    lines = [line for line in model.read_text().splitlines() if tuple(line.split()[:3]) in kept]
    assert len(lines) < 100
    model.write_text("\n".join([*lines, ""]))
    assert qrowd(*arguments) == whole


def test_people_who_judged_a_small_part_have_scores_with_a_lower_min_coverage(qrowd, folder, partly):
    arguments, _ = partly
    (folder / "ann.qrels").write_text((folder / "judges" / "ann.qrels").read_text())
    outcome = qrowd(*arguments)
    assert outcome.status == 0, outcome.err
    assert "Whether it favours rerank is not known" in outcome.out
    assert "rerank (3 of 12)  bob-2" in outcome.out
    outcome = qrowd(*arguments, "--min-coverage", 0.01)
    assert "more than another assessor" in outcome.out


def test_models_of_a_folder_can_be_excluded(qrowd, people, folder):
    models = folder / "models"
    models.mkdir()
    for name in ("sven", "llm-a", "bob-2"):
        (models / f"{name}.qrels").write_text((folder / "judges" / "sven.qrels").read_text())
    for judgments in (people, (*people, models)):
        outcome = qrowd("replace", *judgments, "--model", models, "--exclude", "llm*", "lena")
        assert outcome.err.startswith("note: excluded: lena, llm-a\n")
        assert "llm-a" not in outcome.out
        assert {"sven", "bob-2", "ann"} <= set(outcome.out.split())
    refused = qrowd("replace", *people, "--model", models / "sven.qrels", "--exclude", "sven")
    assert refused.err.endswith("qrowd: --exclude sven: it leaves nobody whom --model or --gold names\n")


def test_numbers_go_to_files(qrowd, people, folder, tmp_path):
    arguments = ("replace", *people, "--model", folder / "judges" / "sven.qrels")
    assert qrowd(*arguments, "--output", "test.csv").status == 0
    frame = pd.read_csv(tmp_path / "test.csv")
    assert frame["assessor"].tolist() == list(PEOPLE)
    assert frame["replaceable"].tolist() == [False, False, True]
    assert qrowd(*arguments, "--output", "test.json").status == 0
    content = json.loads((tmp_path / "test.json").read_text())
    (verdict,) = content["models"]
    assert verdict["winning_rate"] == pytest.approx(1 / 3)
    assert verdict["passes"] is False
    assert "bias" not in content


def bad(folder, what):
    judges, runs = folder / "judges", folder / "runs" / "bm25.run"
    ann, bob, lena, sven = (judges / f"{name}.qrels" for name in ("ann", "bob", "lena", "sven"))
    other = folder / "other.qrels"
    other.write_text("q 0 nothing 1\nq 0 known 2\nq 0 here 3\n")
    table = folder / "two.csv"
    table.write_text("topic,document,assessor,value\nq,d,ann,1\nq,d,x,1\n")
    return {
        "nobody but the model": (["--judgments", ann, "--model", "ann"], ["ann is the only assessor"]),
        "no model": ([ann, bob], ["--model"]),
        "a model elsewhere": (["--judgments", ann, bob, lena, "--model", other],
                              ["'other' and ann, bob, lena judged no document"]),
        "two models": (["--judgments", ann, bob, lena, "--model", table], ["--model", "also judges in another file"]),
        "a model called as a person": (
            ["--judgments", ann, bob, lena, "--model", f"ann={sven}"], ["ann"],
        ),
        "a group without runs": (["--judgments", ann, bob, lena, "--model", sven, "--group", "a=b*"],
                                 ["--group a=b*: bias cannot be estimated without --runs"]),
        "a group without a pattern": (
            ["--judgments", ann, bob, lena, "--model", sven, "--runs", runs, "--group", "bm25"], ["NAME=PATTERN"],
        ),
        "a group of nobody": (
            ["--judgments", ann, bob, lena, "--model", sven, "--runs", runs, "--group", "x=zz*"], ["no system matches"],
        ),
        "an eps": (["--judgments", ann, bob, lena, "--model", sven, "--eps", 2], ["--eps 2", ".1 crowd"]),
        "a measure": (["--judgments", ann, bob, lena, "--model", sven, "-m", "nDGC"], ["nDGC", "did you mean"]),
        "an ending": (["--judgments", ann, bob, lena, "--model", sven, "--output", "a.doc"], ["a.doc", ".csv"]),
    }[what]  # fmt: skip


@pytest.mark.parametrize("what", [
    "nobody but the model", "no model", "a model elsewhere", "two models",
    "a model called as a person", "a group without runs", "a group without a pattern", "a group of nobody", "an eps",
    "a measure", "an ending",
])  # fmt: skip
def test_bad_input_is_one_line_and_exit_status_2(qrowd, folder, what):
    arguments, parts = bad(folder, what)
    outcome = qrowd("replace", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1, outcome.err
    for part in parts:
        assert part in outcome.err


@pytest.mark.parametrize(("independent", "verdict"), [("topics", ("4 of the 8", "0.50")),
                                                   ("documents", ("6 of the 8", "0.75"))])  # fmt: skip
def test_of_dl19s_eight_people_gpt4o_may_stand_in_for_four_and_in_the_papers_way_for_six(
    qrowd, dl19, independent, verdict
):
    outcome = qrowd(
        "replace", "--independent", independent, "--judgments", dl19 / "humans" / "main.tsv",
        "--model", dl19 / "judges" / "umbrela-gpt4o.qrels.gz",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(
        f"umbrela-gpt4o may replace your assessors: the test supports replacing {verdict[0]} assessors "
    )
    assert (
        f" and 3 more (winning rate {verdict[1]} >= 0.50 at eps 0.2). On "
        "average over assessors, it is at least as close to the others as the assessor on 71 % of documents."
    ) in outcome.out


def test_each_of_several_models_is_tested_as_if_alone(qrowd, people, folder, tmp_path):
    models = [folder / "judges" / f"{name}.qrels" for name in ("crowd-3", "crowd-2")]
    options = [*people, folder / "judges" / "sven.qrels", "--scale", "*=0-3"]
    both = qrowd("replace", *options, "--model", *models, "-o", "both.csv")
    assert both.status == 0, both.err
    assert both.out.startswith(
        "Of 2 models, each tested alone: crowd-2 (2 of 4) may replace half of your assessors or more "
        "(ann, bob, lena and sven).\n"
    )
    rows = pd.read_csv(tmp_path / "both.csv").set_index("model")
    assert rows.loc["crowd-2", "replaceable"].sum() == 2
    for model in models:
        assert qrowd("replace", *options, "--model", model, "-o", "one.csv").status == 0
        alone = pd.read_csv(tmp_path / "one.csv").set_index("model")
        pd.testing.assert_frame_equal(rows.loc[[model.stem]], alone)


def test_several_models_are_tested_by_one_closeness_which_a_note_names_once(qrowd, people, folder, tmp_path):
    """crowd-1 is binary, so that sven, who gives grades as the assessors do, is tested by relevant or not, too."""
    models = [folder / "judges" / f"{name}.qrels" for name in ("crowd-1", "sven")]
    both = qrowd("replace", *people, "--model", *models, "-o", "both.json")
    assert both.status == 0, both.err
    notes = [line for line in both.out.splitlines() if line.startswith("closeness: ")]
    assert len(notes) == 1
    assert notes[0].startswith("closeness: accuracy, ")
    assert "test, kappa: each judgment counted as relevant or not, by its assessor's own scale" in both.out
    alone = qrowd("replace", *people, "--model", models[1], "--combine-scales", "relevant", "-o", "one.json")
    assert "closeness: accuracy" in alone.out
    together = json.loads((tmp_path / "both.json").read_text())["assessors"]
    of_sven = {name: cells[3:] for name, cells in together.items()}
    relevant = json.loads((tmp_path / "one.json").read_text())["assessors"]
    assert of_sven == relevant
    values = qrowd("replace", *people, "--model", *models, "--closeness", "rmse").out
    assert "closeness: rmse, " in values


def test_further_files_of_judgments_are_named_as_assessors_and_a_note_says_how_to_leave_them_out(qrowd, folder):
    outcome = qrowd("replace", "--judgments", folder / "judges", "--model", "sven", "--exclude", "crowd-*")
    assert outcome.status == 0, outcome.err
    assert "assessors: all in --judgments whom --model does not name count as people; --exclude leaves" in outcome.out
    first = outcome.out.splitlines()[0]
    assert " assessors ann, bob, lena" in first
    assert "Who is not named by --model counts as a person, also llm-a; name models by --model, or leave" in first
    without = qrowd("replace", "--judgments", folder / "judges", "--model", "sven", "llm-a", "--exclude", "crowd-*")
    assert "counts as a person" not in without.out.splitlines()[0]


def test_the_threshold_of_relevant_or_not_is_printed_and_can_be_set(qrowd, folder, tmp_path):
    judges = [folder / "judges" / f"{name}.qrels" for name in ("sven", "crowd-1")]
    options = ("replace", "--judgments", folder / "judges" / "ann.qrels", "--model", *judges, "--scale", "ann=0-3",
               "--scale", "sven=0-3", "--scale", "crowd-1=binary")  # fmt: skip
    scores = pd.DataFrame(
        [line.split() for name in ("ann", "sven", "crowd-1")
         for line in (folder / "judges" / f"{name}.qrels").read_text().replace("\n", f" {name}\n").splitlines()],
        columns=["topic", "zero", "document", "grade", "name"],
    ).pivot(index=["topic", "document"], columns="name", values="grade").astype(float)  # fmt: skip
    for rel in (1, 2):
        outcome = qrowd(*options, *(["--rel", rel] if rel > 1 else []), "-o", "out.csv")
        assert outcome.status == 0, outcome.err
        assert f"by its assessor's own scale, from {rel} on 0-3, 1 on binary" in outcome.out
        assert "weights=" not in outcome.out
        of_model = pd.read_csv(tmp_path / "out.csv").set_index("model")["kappa"]
        for name, lowest in (("sven", rel), ("crowd-1", 1)):
            both = scores[["ann", name]].dropna()
            first, second = both["ann"] >= rel, both[name] >= lowest
            chance = first.mean() * second.mean() + (1 - first.mean()) * (1 - second.mean())
            assert of_model[name] == pytest.approx(((first == second).mean() - chance) / (1 - chance))
        first = outcome.out.splitlines()[0]
        best = of_model.idxmax()
        assert f"{best} has the highest kappa (relevant or not, from {rel} on 0-3, 1 on binary), " in first
        assert f" {of_model[best]:.3f} [" in first
        assert f"which is {of_model.max() - of_model.min():.3f} [" in first


def test_kappa_of_yes_or_no_is_not_called_weighted(qrowd, folder):
    judges = [folder / "judges" / f"crowd-{n}.qrels" for n in (1, 2)]
    outcome = qrowd("replace", "--judgments", judges[0], "--model", judges[1])
    assert "kappa: Cohen's, unweighted; " in outcome.out


@pytest.mark.parametrize("ending", ["", "/*.qrels"])
def test_each_file_of_a_folder_or_pattern_is_a_model(qrowd, people, folder, ending):
    models = folder / "models"
    models.mkdir()
    for name in ("crowd-3", "sven"):
        (models / f"{name}.qrels").write_bytes((folder / "judges" / f"{name}.qrels").read_bytes())
    outcome = qrowd("replace", *people, "--model", f"{models}{ending}")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("Of 2 models, each tested alone: ")
    assert [row[:2] for row in rows_of(outcome.out, "each model compared")] == [
        [model, name] for model in ("crowd-3", "sven") for name in PEOPLE
    ]


def test_with_one_assessor_the_rest_that_can_be_said_is_said(qrowd, folder):
    judges = ("--model", folder / "judges" / "llm-a.qrels", folder / "judges" / "sven.qrels")
    outcome = qrowd("replace", "--judgments", folder / "gold.qrels", *judges, "--runs", folder / "runs")
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith(
        "Whether any of 2 models may replace gold is not known: the alternative annotator test needs at least 3 "
        "assessors besides the model, as does a verdict on its bias (--group); let 2 more assessors judge at least 30 "
        "of these documents; sven has the highest kappa"
    )
    assert "\nbias:" not in outcome.out
    runs = ("--runs", folder / "runs", "--group", "rerank=rerank*")
    grouped = qrowd("replace", "--judgments", folder / "gold.qrels", *judges, *runs)
    assert grouped.out.splitlines()[:-1] == outcome.out.splitlines()[:-1]  # and the signature has the groups
    alone = qrowd("replace", "--judgments", folder / "gold.qrels", *judges[:2])
    assert "rankings: --runs FILES adds whether systems rank alike" in alone.out


def test_models_of_whom_no_grade_is_relevant_have_no_best_system_and_a_caution_names_them(qrowd, people, folder):
    models = [folder / "judges" / f"{name}.qrels" for name in ("crowd-1", "crowd-2", "sven")]
    arguments = ["replace", *people, "--runs", folder / "runs", "-m", "AP(rel=2)"]
    out = qrowd(*arguments, "--model", *models).out
    sentence = " Caution: no grade of crowd-1 and crowd-2 is relevant by AP(rel=2), so that theirs is 0."
    assert sentence in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("crowd-1 ", "crowd-2 ")) and "ann" in line]
    assert len(rows) == 2
    assert all(row.count("-") == 3 for row in rows)  # tau-b, best system, its rank
    assert not re.search("^(coverage|empty|unjudged): ", out, re.MULTILINE)  # they would be those of the first model
    alone = qrowd(*arguments, "--model", models[0]).out
    assert sentence.replace(" and crowd-2", "") in alone
    assert re.search("^empty: ", alone, re.MULTILINE)
    assert "Caution" not in qrowd(*arguments, "--model", models[2]).out


def test_too_few_documents_are_no_reason_to_say_nothing(qrowd, people, folder):
    few = folder / "few.qrels"
    few.write_text("".join((folder / "judges" / "sven.qrels").read_text().splitlines(keepends=True)[:29]))
    outcome = qrowd("replace", *people, "--model", few, "--scale", "*=0-3")
    assert outcome.status == 0, outcome.err
    start = "Whether few may replace ann, bob and lena is not known: 0 of 3 assessors have 30 documents that 'few' and "
    assert outcome.out.startswith(start)
    assert "each are needed. Its kappa is " in outcome.out


def test_runs_without_a_group_compare_rankings_and_a_note_names_the_group(qrowd, people, folder):
    outcome = qrowd("replace", *people, "--model", folder / "judges" / "crowd-3.qrels", "--runs", folder / "runs")
    assert outcome.status == 0, outcome.err
    assert "By nDCG@10 of 12 systems, tau-b of its ranking with those of 3 assessors is " in outcome.out
    said = "\nbias: --group 'NAME=PATTERN' adds whether the model favours a group of systems\n"
    assert said in outcome.out


def test_the_best_systems_stand_by_their_short_names(qrowd, people, folder):
    runs = [f"team_{name}_2024={folder / 'runs' / name}.run" for name in ("bm25", "hybrid")]
    arguments = ["replace", *people, "--model", folder / "judges" / "crowd-3.qrels", "--runs", *runs]
    assert "team_hybrid_2024" in qrowd(*arguments).out
    short = qrowd(*arguments, "--short-names")
    assert short.status == 0, short.err
    assert "hybrid" in short.out
    assert "team_hybrid_2024" not in short.out


def rows_of(out, title):
    """The rows of the table that begins with these words, as lists of cells."""
    lines = out[out.index(f"\n{title}") + 1 :].split("\n\n")[0].splitlines()
    return [re.split(r"\s{2,}", line) for line in lines[2:]]


@pytest.mark.nightly
def test_nist_and_three_models_of_dl21(qrowd, dl21):
    names = ("umbrela-gpt4o", "binary-gpt4o", "umbrela-llama32")
    models = [dl21 / "judges" / f"{name}.qrels.gz" for name in names]
    outcome = qrowd("replace", "--judgments", f"nist={dl21 / 'qrels.nist.txt'}", "--model", *models,
                    "--runs", dl21 / "runs")  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert outcome.out.splitlines()[0].endswith(
        "these documents; binary-gpt4o has the highest kappa (relevant or not, from 1 on 0-3, 1 on binary), 0.599 "
        "[0.530, 0.668], which is 0.004 [-0.054, 0.063] more than that of umbrela-gpt4o."
    )
    lines = outcome.out[outcome.out.index("\neach model compared") + 1 :].splitlines()
    header, *rows = [re.split(r"\s{2,}", line) for line in lines[1:5]]
    shown = [[row[header.index(name)] for name in ("kappa", "mean difference", "RMSE", "RMSE recoded", "tau-b")]
             for row in rows]  # fmt: skip
    assert shown == [
        ["0.595", "+0.203", "0.866", "0.758", "0.941"],
        ["0.599", "+0.677", "1.362", "0.804", "0.906"],
        ["0.227", "+0.722", "1.407", "0.966", "0.840"],
    ]
    assert [row[header.index("model's best system")] for row in rows] == ["pash_f1"] * 3
    assert [row[header.index("its rank")] for row in rows] == ["1"] * 3


def test_gpt4o_agrees_with_each_of_two_people_of_dl19_more_than_these_with_each_other(qrowd, dl19, folder):
    """a7 and a8 judged 14 topics together; GPT-4o agrees with both more than they do."""
    people = folder / "two.csv"
    lines = (dl19 / "humans" / "main.tsv").read_text().splitlines()
    kept = [line.split("\t") for line in lines if line.split("\t")[2] in ("assessor", "a7", "a8")]
    people.write_text("".join(",".join(cells) + "\n" for cells in kept))
    outcome = qrowd("replace", "--judgments", people, "--scale", "a*=0-3",
                    "--model", dl19 / "judges" / "umbrela-gpt4o.qrels.gz")  # fmt: skip
    assert outcome.status == 0, outcome.err
    (row_a7, row_a8) = rows_of(outcome.out, "umbrela-gpt4o compared with each assessor")
    assert (row_a7[3:5], row_a8[3:5]) == (["0.530", "0.484"], ["0.690", "0.484"])


def test_magnitudes_are_recoded_to_grades_and_agreement_is_left_out(qrowd, folder):
    model = folder / "free.csv"
    rows = [line.split() for line in (folder / "judges" / "sven.qrels").read_text().splitlines()]
    text = "".join(f"{topic},{document},free,{3.5 ** int(grade)}\n" for topic, _, document, grade in rows)
    model.write_text("topic,document,assessor,value\n" + text)
    arguments = ("replace", "--judgments", folder / "gold.qrels", "--scale", "free=magnitude", "--scale", "*=0-3")
    outcome = qrowd(*arguments, "--model", model)
    assert outcome.status == 0, outcome.err
    assert "kappa" not in outcome.out
    graded = qrowd(*arguments[:3], "--scale", "*=0-3", "--model", folder / "judges" / "sven.qrels")
    means = [[row[-1] for row in rows_of(one.out, "calibration: what a grade")] for one in (outcome, graded)]
    assert means[0] == means[1]
