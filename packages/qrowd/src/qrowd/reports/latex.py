r"""Tables in LaTeX that compile as they stand: \input them in a document with \usepackage{booktabs,graphicx}."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from qrowd.reports.phrases import with_minus_signs
from qrowd.reports.table import Table

PACKAGES = "% In the preamble: \\usepackage{booktabs,graphicx}"
ROWS_OF_A_PAGE = 40  # a longer table becomes several
LONG_WORD = 20  # letters of a word in which a line may end
UNBROKEN = 12  # letters without a place where a line may end

SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': "''",
    **{c: f"${c}$" for c in "<>|"},
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "∞": r"$\infty$",
    "°": r"$^\circ$",
    "←": r"$\leftarrow$",
    "→": r"$\rightarrow$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"\S{}",
    "µ": r"$\mu$",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "²": "$^2$",
    "³": "$^3$",
    "\u00a0": "~",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "✓": r"$\surd$",
    "÷": r"$\div$",
    "ο": "o",
    "ς": r"$\varsigma$",
}
ACCENTS = dict(
    zip("\u0301\u0300\u0302\u0303\u0308\u0327\u030c\u0306\u0304\u0307\u030a\u030b", "'`^~\"cvu=.rH", strict=True)
)
GREEK = re.compile(r"GREEK (SMALL|CAPITAL) LETTER (\w+)")
CAPITALS = {"GAMMA", "DELTA", "THETA", "LAMDA", "XI", "PI", "SIGMA", "UPSILON", "PHI", "PSI", "OMEGA"}


def latex_text(text: str, *, breaks: bool = False) -> str:
    r"""Text that LaTeX prints as it stands. breaks : whether a line may end inside a long name.

    Letters other than Latin and Greek ones stay as they are: they need XeLaTeX or LuaLaTeX.

    >>> latex_text("p_bm25: 50 % \N{MINUS SIGN}1 < α")
    'p\\_bm25: 50 \\% $-$1 $<$ $\\alpha$'
    """
    words = unicodedata.normalize("NFC", text).split(" ")
    return " ".join(_word(word, breaks and len(word) > LONG_WORD) for word in words)


def _word(word: str, breaks: bool) -> str:
    parts, unbroken = [], 0
    for character in word:
        parts.append(_character(character))
        unbroken += 1
        if breaks and (character in "_-./=" or unbroken >= UNBROKEN):
            parts.append(r"\allowbreak{}")
            unbroken = 0
    return "".join(parts)


def _character(c: str) -> str:
    if c in SPECIAL:
        return SPECIAL[c]
    if c.isascii():
        return c if c.isprintable() else " "
    base, accent = unicodedata.normalize("NFD", c)[0], unicodedata.normalize("NFD", c)[1:]
    if accent in ACCENTS and base.isascii():
        return f"\\{ACCENTS[accent]}{{{base}}}"
    greek = GREEK.fullmatch(unicodedata.name(c, ""))
    if greek is None:
        return c
    name = greek[2].replace("LAMDA", "LAMBDA").lower()
    if greek[1] == "SMALL":
        return f"$\\{name}$"
    return f"$\\{name.title()}$" if greek[2] in CAPITALS else c


def latex_table(table: Table, *, label: str = "", full_width: bool = False) -> Iterator[str]:
    """The lines of a table in booktabs' style; of more rows than fit a page, several tables.

    label : default: made from the title. full_width : over both columns of a page with two.

    The table is scaled down where it is wider than the line.
    """
    label = label or f"tab:{'-'.join(re.findall(r'[a-z0-9]+', table.title.lower())[:6]) or 'qrowd'}"
    starts = range(0, max(len(table.rows), 1), ROWS_OF_A_PAGE)
    environment = "table*" if full_width else "table"
    for n, start in enumerate(starts, 1):
        more = len(starts) > 1
        caption = latex_text(table.title, breaks=True) + (f" ({n} of {len(starts)})" if more else "")
        yield rf"\begin{{{environment}}}"
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
        yield rf"\end{{{environment}}}"


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
