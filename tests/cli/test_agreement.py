"""`qrowd agree` and `qrowd assessors`."""

import json

import pandas as pd
import pytest

EXPERTS = ("ann", "bob", "lena", "sven", "crowd-3")


@pytest.fixture
def experts(folder):
    """The judgments of those who grade 0-3."""
    return ["--judgments", *(folder / "judges" / f"{name}.qrels" for name in EXPERTS)]


def test_agree_says_alpha_with_its_interval_and_what_it_rests_on(qrowd, experts):
    out = qrowd("agree", *experts).out
    assert out.startswith("Krippendorff's alpha is 0.242 (ordinal, 95 % ")
    assert "from 5,000 judgments of 1,000 documents." in out


def test_agree_is_the_library_s_alpha(qrowd, experts, tmp_path):
    import qrowd as library
    from qrowd.agreement.alpha import krippendorff_alpha

    assert qrowd("agree", *experts, "--per-topic", "--level", "interval", "--output", "a.csv").status == 0
    written = pd.read_csv(tmp_path / "a.csv", index_col="topic")
    by_topic = krippendorff_alpha(library.read_judgments(experts[1:]), level="interval", by="topic")
    for label, alpha in by_topic:
        assert written.loc[label, "alpha"] == pytest.approx(alpha.value, abs=1e-12)


def test_the_same_seed_gives_the_same_interval(qrowd, experts):
    first = qrowd("agree", *experts, "--seed", 5).out
    assert first == qrowd("agree", *experts, "--seed", 5).out
    assert first != qrowd("agree", *experts, "--seed", 6).out


def test_agree_of_different_scales_says_what_it_compares_and_as_is_refuses_them(qrowd, folder):
    outcome = qrowd("agree", "--judgments", folder / "judges", "--n-resamples", 0)
    assert outcome.status == 0
    line = next(line for line in outcome.out.splitlines() if line.startswith("scale: "))
    assert "alpha: every value divided by its scale's maximum; kappa: each judgment counted as relevant or not" in line
    refused = qrowd("agree", "--judgments", folder / "judges", "--combine-scales", "as-is")
    assert refused.status == 2
    assert "cannot be on one scale" in refused.err
    assert refused.err.count("\n") == 1


def test_one_assessor_alone_agrees_with_nobody(qrowd, folder):
    outcome = qrowd("agree", "--judgments", folder / "judges" / "ann.qrels")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: ")
    assert outcome.err.count("\n") == 1


def test_where_nobody_shares_a_document_a_command_says_how_many_each_judged(qrowd, tmp_path):
    (tmp_path / "apart.csv").write_text("topic,document,assessor,grade\nq,d,ann,1\nq,e,bob,0\nq,f,ann,2\n")
    outcome = qrowd("agree", "--judgments", "apart.csv")
    assert outcome.status == 2
    assert outcome.err.endswith("; qrowd assessors shows how many each judged\n")
    assert qrowd("assessors", "--judgments", "apart.csv").status == 0


def test_magnitudes_have_an_alpha_and_no_kappa(qrowd, folder):
    out = qrowd("agree", "--judgments", folder / "magnitudes.csv", "--n-resamples", 0).out
    assert "(ratio)" in out
    assert "kappa" not in out


def test_assessors_finds_the_one_who_answers_at_random(qrowd, experts):
    out = qrowd("assessors", *experts).out
    assert out.startswith("1 of 5 assessors stands out: crowd-3.")
    assert "crowd-3: low agreement with the others" in out
    assert "exclude: --exclude crowd-3 leaves out who stands out" in out


def test_the_share_of_documents_judged_the_same_again_is_explained_and_shown_where_there_are_any(qrowd, tmp_path):
    rows = ["topic,document,assessor,value", "q,d,ann,1", "q,e,ann,0", "q,d,bob,1", "q,e,bob,1"]
    for name, repeats in (("once.csv", []), ("again.csv", ["q,d,bob,1", "q,e,bob,0"])):
        (tmp_path / name).write_text("\n".join([*rows, *repeats]) + "\n")
        outcome = qrowd("assessors", "--judgments", tmp_path / name, "--assessor", "column")
        assert ("  same again\n" in outcome.out) == bool(repeats), outcome.err
        note = "\nsame again: share of the documents judged more than once that got the same value every time\n"
        assert (note in outcome.out) == bool(repeats)
    assert "0.50\n" in outcome.out


def test_all_who_stand_out_are_named_by_the_option_that_leaves_them_out(qrowd, folder):
    lines = (folder / "judges" / "ann.qrels").read_text().splitlines()
    for grade in (1, 2):
        text = "".join(f"{line[:-1]}{grade}\n" for line in lines)
        (folder / "judges" / f"always {grade}.qrels").write_text(text)
    names = ("ann", "bob", "lena", "sven", "always 1", "always 2")
    out = qrowd("assessors", "--judgments", *(folder / "judges" / f"{name}.qrels" for name in names)).out
    assert out.startswith("2 of 6 assessors stand out: always 1 and always 2.")
    assert "exclude: --exclude 'always 1' 'always 2' leaves out who stands out" in out


def test_a_person_among_models_is_not_left_out_for_disagreeing_with_them(qrowd, folder):
    judges = folder / "judges"
    caution = "caution: most assessors are models by name, who may err alike: leave out no person for that"
    person = (judges / "crowd-3.qrels").rename(folder / "nist.qrels")
    models = [(judges / f"{name}.qrels").rename(folder / f"gpt-{name}.qrels") for name in ("ann", "bob", "lena")]
    out = qrowd("assessors", "--judgments", person, *models).out
    assert out.startswith("1 of 4 assessors stands out: nist.")
    assert caution in out
    people = [model.rename(folder / f"{i}.qrels") for i, model in enumerate(models)]
    assert caution not in qrowd("assessors", "--judgments", person, *people).out


def test_assessors_with_gold_compares_everyone_with_it(qrowd, experts, folder, tmp_path):
    arguments = ["assessors", *experts, folder / "gold.qrels", "--gold", "gold", "--output", "a.json"]
    assert qrowd(*arguments).status == 0
    assert "not tested" not in qrowd(*arguments[:-2]).out
    rows = {row["assessor"]: row for row in json.loads((tmp_path / "a.json").read_text())["rows"]}
    assert set(rows) == set(EXPERTS)
    assert rows["ann"]["gold_agreement"] > 0.8 > rows["lena"]["gold_agreement"] > rows["crowd-3"]["gold_agreement"]


def test_an_unknown_gold_gets_the_nearest_name(qrowd, experts):
    outcome = qrowd("assessors", *experts, "--gold", "anne")
    assert outcome.status == 2
    assert "'ann'" in outcome.err


def test_of_assessors_with_long_names_the_pairs_are_listed(qrowd, tmp_path):
    names = [f"annotator-number-{k:02d}" for k in range(1, 13)]
    rows = [f"t,d{d},{name},{(d + k // 6) % 3}" for d in range(12) for k, name in enumerate(names)]
    (tmp_path / "j.csv").write_text("topic,document,assessor,grade\n" + "\n".join(rows))
    lines = qrowd("agree", "--judgments", "j.csv").out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Cohen's kappa: the 16 pairs"))
    assert "of 66 pairs that share 10 documents or more" in lines[start]
    assert lines[start + 1].split() == ["assessor", "other", "assessor", "kappa", "agreement", "documents"]
    assert {line.split()[2] for line in lines[start + 10 : start + 18]} == {"1.000"}


def test_assessors_who_share_no_documents_are_not_called_alike(qrowd, tmp_path):
    rows = [f"t,d{i},{'ann' if i % 2 else 'bob'},{i % 3}" for i in range(40)]
    (tmp_path / "each_once.csv").write_text("\n".join(["topic,document,assessor,grade", *rows]))
    out = qrowd("assessors", "--judgments", "each_once.csv").out
    assert out.startswith("Whether any of 2 assessors stands out is not tested: 0 of 10 shared documents needed.")
