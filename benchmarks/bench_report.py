"""The report of dl21: its size with and without texts, the time to write it, and the times of the page in Chromium.

63 systems, 53 topics, NIST and 17 models, three measures. Sizes stand beside those of the scores alone as a table in
gzip (CSV, all digits), which no browser shows. In the browser, the first view is the time from the start of the
navigation until results are shown, and a change the time to compute and lay out what another choice of assessors,
topics or measure shows; medians of 5 openings and of 60 changes.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from side_by_side import data, finish, promise, seconds

import qrowd
from browsers import chromium
from qrowd.reports.report_data import top_documents

MEASURES = ["nDCG@10", "AP", "P@10"]
MEGABYTE = 1e6
OPENINGS, CHANGES = 5, 60
WHEN_SHOWN = """
const wait = () => {
  if (!window.qrowd) return setTimeout(wait, 1);
  window.qrowd.ready.then(() => { document.body.offsetHeight; window.firstView = performance.now(); });
};
wait();
"""
CHANGE = """
n => {
  const times = [];
  const some = (size, i) => Array.from({ length: size }, (_, j) => (j * 7 + i * 5) % 11 > i % 4);
  for (let i = 0; i < n; i++) {
    const start = performance.now();
    const assessors = some(18, i), topics = some(53, i), measure = i % 3;
    qrowd.change([{ assessors }, { topics }, { measure }][i % 3]);
    document.body.offsetHeight;
    times.push(performance.now() - start);
  }
  return times;
}
"""

dl21 = data("dl21")
runs = qrowd.read_runs([str(dl21 / "runs")])
judges = sorted((dl21 / "judges").glob("*.gz"))[:17]
judgments = qrowd.read_judgments([str(dl21 / "qrels.nist.txt"), *map(str, judges)])
shown = top_documents(runs)
lines = gzip.decompress((dl21 / "passages.tsv.gz").read_bytes()).decode().split("\n")
rows = [line.split("\t", 1) for line in lines if line]  # passages may hold tabs
texts = {document: {"text": text} for document, text in rows if document in shown}
topics = dict(line.split("\t") for line in (dl21 / "topics.tsv").read_text("utf-8").splitlines())
titles = {topic: {"title": text} for topic, text in topics.items()}

scores = qrowd.evaluate(runs, judgments, MEASURES)
table = len(gzip.compress(scores.to_frame().to_csv(index=False).encode())) / MEGABYTE
alone = seconds(lambda: qrowd.evaluate(runs, judgments, MEASURES))


def page(**options: object) -> str:
    """The page."""
    return qrowd.report(runs, judgments, MEASURES, n_resamples=1000, rng=1, **options).content("report.html").decode()  # type: ignore[arg-type]


for what, options in (
    ("without texts", {}),
    (f"with topics and the texts of {len(texts):,} passages", {"topics": titles, "documents": texts}),
):
    size = len(page(**options).encode()) / MEGABYTE
    promise(
        f"report of dl21, {what}, MB",
        size,
        at_most=4,
        beside=f"the scores as CSV in gzip {table:.3g} MB",
        limit="bytes: 180,306 scores in double precision",
    )
whole = seconds(lambda: page(topics=titles, documents=texts))
promise(
    "report of dl21 with texts, scored and put together, s", whole, at_most=30, beside=f"qrowd.evaluate {alone:.3g} s",
    limit="gzip at its highest level",
)  # fmt: skip

with tempfile.TemporaryDirectory() as folder, chromium() as browser:
    file = Path(folder, "report.html")
    file.write_text(page(topics=titles, documents=texts), "utf-8")
    first: list[float] = []
    changes: list[float] = []
    for _ in range(OPENINGS):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        tab = context.new_page()
        tab.add_init_script(WHEN_SHOWN)
        tab.goto(file.as_uri())
        tab.wait_for_function("window.firstView !== undefined")
        first.append(tab.evaluate("window.firstView") / 1000)
        if not changes:
            changes = [one / 1000 for one in tab.evaluate(CHANGE, CHANGES)]
        context.close()
for what, times, most, limit in (
    ("first view", first, 1, "the script: bytes of the scores put in order"),
    ("a change", changes, 0.1, "the browser: elements of the tables"),
):
    promise(
        f"report of dl21 with texts, {what}, s",
        statistics.median(times),
        at_most=most,
        beside=f"slowest of {len(times)}: {max(times):.3g} s",
        limit=limit,
    )
finish()
