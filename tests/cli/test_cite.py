"""`qrowd cite` prints BibTeX."""

from qrowd.model.signature import version

QROWD = f"""\
@misc{{qrowd,
  author = {{{{The qrowd developers}}}},
  title = {{qrowd: which search system is better when relevance assessors disagree}},
  year = {{2026}},
  note = {{Version {version()}, Apache-2.0}},
}}
"""
GOLDEN = """
@article{jarvelin2002,
  author = {Järvelin, Kalervo and Kekäläinen, Jaana},
  title = {Cumulated Gain-Based Evaluation of IR Techniques},
  journal = {ACM TOIS},
  volume = {20},
  number = {4},
  year = {2002},
}

@article{ferrante2017,
  author = {Ferrante, Marco and Ferro, Nicola and Maistro, Maria},
  title = {AWARE: Exploiting Evaluation Measures to Combine Multiple Assessors},
  journal = {ACM TOIS},
  volume = {36},
  number = {2},
  year = {2017},
}

% P, R, Rprec, Success: as trec_eval 10.0 defines them; there is no paper to cite
"""


def test_the_entries_of_what_is_named(qrowd):
    assert qrowd("cite", "nDCG@10", "aware", "P@10").out == QROWD + GOLDEN


def test_a_signature_gives_the_entries_of_what_it_names(qrowd, folder):
    panel = ("--runs", "panel/runs", "--judgments", "panel/judges")
    outcome = qrowd("aware", *panel, "-m", "nDCG@10", "P@10", "--n-resamples", 3)
    cited = qrowd("cite", outcome.out.splitlines()[-1]).out
    assert sorted(cited.strip().split("\n\n")) == sorted((QROWD + GOLDEN).strip().split("\n\n"))


def test_without_a_name_it_cites_itself_and_lists_the_names_in_a_comment(qrowd):
    entry, names = qrowd("cite").out.split("\n\n")
    assert f"{entry}\n" == QROWD
    assert names.startswith("% qrowd cite NAMES prints the papers behind ")
    assert {"nDCG", "alpha", "aware", "majority"} <= set(names.split("behind ")[1].strip().split(", "))


def test_an_unknown_name_is_one_line(qrowd):
    outcome = qrowd("cite", "no-such-measure")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == "qrowd: no-such-measure: nothing of this name can be cited; qrowd cite lists what can be\n"
