"""Examples for the help texts: lines to copy, on the files that `qrowd simulate panel` writes."""

from __future__ import annotations

PANEL = "--runs panel/runs --judgments panel/judges"
MAGNITUDES = "--judgments panel/magnitudes.csv"
GOLD = "--gold panel/gold.qrels"
PREFERENCES = "--preferences panel/preferences.csv"

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("qrowd demo",),
    "evaluate": (
        f"qrowd evaluate {PANEL} -m nDCG@10 AP --baseline bm25",
        f"qrowd evaluate {PANEL} --method majority 'dawid-skene(per=all)' mean",
    ),
    "compare": (
        f"qrowd compare {PANEL} -m nDCG@10 --systems rerank-llm rerank-large",
        f"qrowd compare {PANEL} --reference ann --fragility",
    ),
    "table": (f"qrowd table {PANEL} -m nDCG@10 AP -o table.tex",),
    "report": (
        f"qrowd report {PANEL} -o report.html",
        f"qrowd report {PANEL} --reference ann --n-resamples 1000 --random-assessors 20 -o quick.html",
    ),
    "plot": ("qrowd plot", f"qrowd plot ranks {PANEL} -o ranks.pdf"),
    "aware": (f"qrowd aware {PANEL} --n-resamples 50",),
    "predict": ("qrowd predict --judgments panel/judges --rel 1 --qrels predicted.qrels",),
    "trec-eval": ("qrowd trec-eval -q -m map -m ndcg_cut.10 panel/gold.qrels panel/runs/bm25.run",),
    "check": ("qrowd check panel/runs panel/judges",),
    "measures": ("qrowd measures", "qrowd measures nDCG"),
    "agree": (
        "qrowd agree --judgments panel/judges",
        "qrowd agree --judgments panel/judges --coefficients alpha --per-topic -o agreement.csv",
    ),
    "assessors": (f"qrowd assessors --judgments panel/judges {GOLD}",),
    "disagreements": (
        f"qrowd disagreements {PANEL} --grades rescaled --systems rerank-llm hybrid",
        "qrowd disagreements --runs panel/runs --judgments panel/judges/ann.qrels panel/judges/bob.qrels "
        "--topics panel/topics.tsv --documents panel/documents.jsonl -n 10 -o adjudication",
    ),
    "aggregate": ("qrowd aggregate --judgments panel/judges --method dawid-skene --per all --qrels merged.qrels",),
    "replace": ("qrowd replace --judgments panel/judges --model llm-a --runs panel/runs",),
    "leaderboards": ("qrowd leaderboards --scores gpt.jsonl llama.jsonl nist.jsonl --reference nist",),
    "plan": (
        f"qrowd plan {PANEL} --systems rerank-llm hybrid --difference 0.05",
        f"qrowd plan {PANEL} --budget 1000 --judgment-cost 0.1",
    ),
    "next": (
        "qrowd next --runs panel/runs --question 'rerank-llm > hybrid' --model panel/judges/llm-a.qrels --scale 0-3 "
        "-o batch.csv",
    ),
    "partition": ("qrowd partition --runs panel/runs --judgments panel/judges -o partitioned",),
    "simulate": ("qrowd simulate another-panel",),
    "serve": ("qrowd serve --demo", "qrowd serve --port 8001"),
    "judge ask": (
        "qrowd judge ask --topics panel/topics.tsv --documents panel/documents.jsonl --runs panel/runs "
        "--model assessor.py:grade -o judges",
        "qrowd judge ask --topics panel/topics.tsv --documents panel/documents.jsonl --runs panel/runs "
        "--model http://localhost:8000/v1#qwen3 --as aspects --dry-run",
    ),
    "judge batch write": (
        "qrowd judge batch write batches --topics panel/topics.tsv --documents panel/documents.jsonl "
        "--runs panel/runs --model http://localhost:8000/v1#qwen3",
    ),
    "judge batch read": ("qrowd judge batch read answers.jsonl",),
    "judge status": ("qrowd judge status judge.sqlite --runs panel/runs",),
    "judge prompts": ("qrowd judge prompts", "qrowd judge prompts graded"),
    "prefer evaluate": (f"qrowd prefer evaluate --runs panel/runs {PREFERENCES} -m ppref@10 wpref",),
    "prefer agree": (f"qrowd prefer agree {PREFERENCES}",),
    "prefer bradley-terry": (f"qrowd prefer bradley-terry {PREFERENCES} --assessor-weights",),
    "prefer simulate": ("qrowd prefer simulate --n-topics 5 --order utility kept",),
    "magnitude units": (f"qrowd magnitude units {MAGNITUDES} {GOLD}",),
    "magnitude effort": (f"qrowd magnitude effort {MAGNITUDES}",),
    "magnitude levels": (f"qrowd magnitude levels {MAGNITUDES} {GOLD}",),
    "magnitude gains": (f"qrowd magnitude gains {MAGNITUDES} {GOLD} -o gains.tex",),
    "magnitude normalise": (f"qrowd magnitude normalise {MAGNITUDES} -o normalised.csv",),
    "campaign init": ("qrowd campaign init pilot --protocol grades",),
    "campaign create": (
        "qrowd campaign create pilot --check",
        "qrowd campaign create pilot",
        "qrowd campaign create pilot --replace",
    ),
    "campaign change": ("qrowd campaign change pilot --check", "qrowd campaign change pilot"),
    "campaign list": ("qrowd campaign list",),
    "campaign invite": ("qrowd campaign invite pilot ann bob --base-url https://judge.example.org",),
    "campaign ask": ("qrowd campaign ask pilot --model assessor.py:grade",),
    "campaign status": ("qrowd campaign status pilot --per-assessor",),
    "campaign export": (
        "qrowd campaign export pilot --format qrels -o pilot.qrels",
        "qrowd campaign export pilot --what archive -o pilot.archive",
    ),
    "campaign import": ("qrowd campaign import pilot.archive --database elsewhere.db",),
    "campaign person": ("qrowd campaign person pilot ann -o ann.json",),
    "campaign delete-person": ("qrowd campaign delete-person pilot ann --answers withdraw",),
    "campaign retention": ("qrowd campaign retention --retention-days 365",),
    "account add": ("qrowd account add zoe --role administrator", "qrowd account add yan --link"),
    "account list": ("qrowd account list",),
    "account password": ("qrowd account password zoe --link",),
    "account role": ("qrowd account role zoe administrator", "qrowd account role yan viewer --in-campaign pilot"),
    "account change": ("qrowd account change yan disable",),
    "account remove": ("qrowd account remove yan",),
    "campaign owner": ("qrowd campaign owner zoe",),
    "campaign set-status": ("qrowd campaign set-status pilot stopped",),
    "campaign rebuild": ("qrowd campaign rebuild pilot",),
    "campaign backup": ("qrowd campaign backup copy.db",),
    "campaign delete": ("qrowd campaign delete pilot",),
    "campaign presets": ("qrowd campaign presets",),
}
"""{command: lines}; the campaign `pilot` is that of `qrowd campaign init pilot`."""


def examples_of(command: str) -> str:
    """The examples of a command as they stand below its help text; empty where there are none."""
    lines = EXAMPLES.get(command, ())
    if not lines:
        return ""
    source = " (qrowd simulate panel writes the files)" if any("panel/" in line for line in lines) else ""
    return f"Example{'s' * (len(lines) > 1)}{source}:\n" + "".join(f"  {line}\n" for line in lines)
