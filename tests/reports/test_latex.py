"""Tables in LaTeX: they compile as they stand, in one column and in two, however long the names are."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from qrowd.reports.comparison import compare_scores
from qrowd.reports.document import Document, Table, render
from qrowd.reports.evaluation import summarise
from qrowd.reports.latex import ROWS_OF_A_PAGE, SPECIAL, latex_table, latex_text
from qrowd.simulation import simulate_demo

LONG = [f"colbert_rankgpt4o_msmarco-v2_passage_full-rerank_top{100 * k}_2020-judged" for k in range(1, 13)]


def compile_latex(folder, tables, *, two_columns):
    """The log of pdflatex. tables : LaTeX code of tables."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    options = "[twocolumn]" if two_columns else ""
    body = "\n\\clearpage\n".join(tables)
    text = (
        f"\\documentclass{options}{{article}}\n\\usepackage{{booktabs,graphicx}}\n\\begin{{document}}\nText.\n{body}\n"
    )
    (folder / "x.tex").write_text(text + "\\end{document}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    outcome = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "x.log").read_text(encoding="latin-1")
    assert outcome.returncode == 0, log[-3000:]
    return log


def complaints(log):
    """Errors, boxes that are too wide or too high, and labels that are defined twice."""
    return re.findall(r"^!.*|Overfull .*|.*(?:too large for page|multiply defined|Missing character).*", log, re.M)


def long_names():
    runs, judgments, _ = simulate_demo()
    scores = qrowd.evaluate(runs, judgments, ["nDCG@10", "RBP"])
    return replace(scores, systems=tuple(LONG))


@pytest.mark.parametrize("two_columns", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_the_tables_of_evaluate_and_compare_compile_and_fit_the_line(tmp_path, two_columns):
    scores = long_names()
    summary = summarise(scores, baseline=LONG[0], n_resamples=100, rng=1)
    comparison = compare_scores(scores, baseline=LONG[0], systems=(LONG[0], LONG[3]))
    many = Table(f"nDCG@10, compared with {LONG[1]}", ["system", "p"], [[name, "<.001"] for name in 8 * LONG])
    letters = "".join(map(chr, [*range(32, 127), *range(0xC0, 0x100)])) + "".join(SPECIAL)
    letters = letters.translate(dict.fromkeys(map(ord, "ÐÞðþ")))  # which need T1 fonts
    rows = [["_" * 60, "-0.5"], *([letters[i : i + 20], "1-46"] for i in range(0, len(letters), 20))]
    noted = Table("x" * 150, ["system", "AP"], rows, frozenset({(0, 1)}), {(1, 1): "†"}, f"{LONG[0]} {letters}")
    other = Document("100 % of a_b\nand more", (many, noted), ("a ≥ −1",), dict)
    parts = [summary.to_document(), comparison.to_document(), other]
    tables = [render(part, "x.tex").decode().replace("tab:qrowd", f"tab:{i}") for i, part in enumerate(parts)]
    log = compile_latex(tmp_path, tables, two_columns=two_columns)
    assert complaints(log) == []
    fonts = set(re.findall(r"<([^<>]*)>", log.partition("Here is how")[2].replace("\n", "")))
    assert fonts
    assert [font for font in fonts if not font.endswith(".pfb")] == []  # others are bitmaps


@given(st.text(st.characters(max_codepoint=126)), st.text(st.characters(max_codepoint=126)))
def test_each_character_is_escaped_by_itself(first, second):
    assert latex_text(first + second) == latex_text(first) + latex_text(second)


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=126)))
def test_letters_and_digits_stay_as_they_are(text):
    assert latex_text(text) == text


def test_a_line_may_end_inside_a_name_only_where_asked_for():
    assert latex_text("a_b") == r"a\_b"
    assert latex_text("a_b " + 20 * "x" + "-y", breaks=True) == r"a\_b xxxxxxxxxxxx\allowbreak{}xxxxxxxx-\allowbreak{}y"


def test_numbers_have_minus_signs_and_names_keep_their_hyphens():
    text = "\n".join(latex_table(Table("x", ["system", "ranks", "AP"], [["bm25-2", "1-46", "-0.5"]]), label="tab:x"))
    assert r"bm25-2 & 1–46 & $-$0.5 \\" in text


def test_a_table_longer_than_a_page_becomes_several():
    rows = [[str(i), "1"] for i in range(2 * ROWS_OF_A_PAGE + 1)]
    lines = list(latex_table(Table("all", ["system", "AP"], rows), label="tab:x"))
    assert [line for line in lines if "caption" in line or "label" in line] == [
        *(r"\caption{all (1 of 3)}", r"\label{tab:x-1}", r"\caption{all (2 of 3)}", r"\label{tab:x-2}"),
        *(r"\caption{all (3 of 3)}", r"\label{tab:x-3}"),
    ]
    assert sum(line.endswith(r"& 1 \\") for line in lines) == len(rows)
