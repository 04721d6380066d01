r"""Tables in LaTeX that compile as they stand: \input them in a document with \usepackage{booktabs,graphicx}."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qrowd.reports.phrases import with_minus_signs
from qrowd.reports.table import Table

PACKAGES = "% In the preamble: \\usepackage{booktabs,graphicx}"
ROWS_OF_A_PAGE = 40  # a longer table becomes several
LONG_WORD = 20  # letters of a word in which a line may end
UNBROKEN = 12  # letters without a place where a line may end

SPECIAL = {
    **{c: f"\\{c}" for c in "&%#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\u00a0": "~",
    **{c: f"${c}$" for c in "<>|"},
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "−": "$-$",
    "∞": r"$\infty$",
    "✓": r"$\surd$",
    "†": r"$\dagger$",  # as text, these four and \$ are bitmaps (Type 3) with plain pdflatex
    "‡": r"$\ddagger$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "$": r"\symbol{36}",
}


def latex_text(text: str, *, breaks: bool = False) -> str:
    r"""Text that LaTeX prints as it stands. breaks : whether a line may end inside a long name.

    Letters that are not Latin need XeLaTeX or LuaLaTeX.

    >>> latex_text("p_bm25: 50 % \N{MINUS SIGN}1 < 2")
    'p\\_bm25: 50 \\% $-$1 $<$ 2'
    """
    return " ".join(_word(word, breaks and len(word) > LONG_WORD) for word in text.split(" "))


def _word(word: str, breaks: bool) -> str:
    parts = []
    unbroken = 0
    for character in word:
        parts.append(SPECIAL.get(character, character if character.isprintable() else " "))
        unbroken += 1
        if breaks and (character in "_-./=" or unbroken >= UNBROKEN):
            parts.append(r"\allowbreak{}")
            unbroken = 0
    return "".join(parts)


def latex_table(table: Table, *, label: str) -> Iterator[str]:
    """The lines of a table in booktabs' style; of more rows than fit a page, several tables.

    The table is scaled down where it is wider than the line.
    """
    starts = range(0, max(len(table.rows), 1), ROWS_OF_A_PAGE)
    for n, start in enumerate(starts, 1):
        more = len(starts) > 1
        caption = latex_text(table.title, breaks=True) + (f" ({n} of {len(starts)})" if more else "")
        yield r"\begin{table}"
        yield r"\centering\sloppy\small"
        yield rf"\caption{{{caption}}}"
        yield rf"\label{{{label}{f'-{n}' if more else ''}}}"
        yield r"\smallskip"
        yield r"\sbox0{%"
        yield from _tabular(table, range(start, min(start + ROWS_OF_A_PAGE, len(table.rows))))
        yield r"}%"
        yield r"\ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi"
        if table.note:
            note = latex_text(table.note, breaks=True)
            yield rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize\raggedright {note}}}"
        yield r"\end{table}"


def _tabular(table: Table, rows: Sequence[int]) -> Iterator[str]:
    """Columns with marks are two: numbers end at the same place, and marks begin there."""
    marked = [any((i, j) in table.marks for i in range(len(table.rows))) for j in range(len(table.header))]
    sides = ["l" if j == 0 or table.holds_text(j) else "r" for j in range(len(table.header))]
    columns = "".join(f"{side}@{{}}l" if double else side for side, double in zip(sides, marked, strict=True))
    yield rf"\begin{{tabular}}{{{columns}}}"
    yield r"\toprule"
    names = [
        rf"\multicolumn{{2}}{{{side}}}{{{latex_text(name)}}}" if double else latex_text(name)
        for name, side, double in zip(table.header, sides, marked, strict=True)
    ]
    yield " & ".join(names) + r" \\"
    yield r"\midrule"
    for i in rows:
        cells = []
        for j, cell in enumerate(table.rows[i]):
            number = j > 0 and not table.holds_text(j)
            text = latex_text(_in_figures(cell)) if number else latex_text(cell)
            cells.append(rf"\textbf{{{text}}}" if (i, j) in table.bold else text)
            if marked[j]:
                mark = latex_text(table.marks.get((i, j), ""))
                cells.append(rf"\textsuperscript{{{mark}}}" if mark else "")
        yield " & ".join(cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _in_figures(cell: str) -> str:
    """A cell of a column of numbers: with minus signs, and a dash between the ends of a range."""
    return re.sub(r"^(-?[\d.]+)-(-?[\d.]+)$", "\\1\N{EN DASH}\\2", with_minus_signs(cell))
