"""The short form of a new campaign: its fields and files are a folder."""

import asyncio
from math import comb
from random import Random

import pytest

from judging import Clock, seeded
from qrowd.errors import ArgumentError, FileError
from qrowd_server.campaigns.plan.form import OF_PAIRS, SentFile, plan_from_form
from qrowd_server.campaigns.running.creation import create_campaign
from qrowd_server.protocols.events import Consent, GoOn, Judge, Rate
from qrowd_server.protocols.gold_checks import entry_test
from qrowd_server.protocols.settings import GoldSettings
from qrowd_server.protocols.views import ConsentView, DocumentView, ExcludedView, RatingView
from qrowd_server.store.engine import open_store
from qrowd_server.store.materials import documents_of

DOCUMENTS = SentFile("documents", "texts.csv", b"docid,title,text\nd1,One,One.\nd2,Two,Two.\nd3,Three,Three.\n")
VALUES = {"title": "Which pages help?", "topics": "ducks\n\n geese \n", "protocol": "grades", "redundancy": "2"}
TOPICS = SentFile("topics", "queries.tsv", b"q7\tducks\nq8\tgeese\n")
GOLD = SentFile("gold", "clear.csv", b"topic,document,grade\nq7,d3,3\n")


def run_of(system: str, ranking: str, topics: str = "q7 q8") -> SentFile:
    lines = (
        f"{topic} Q0 {document} {rank} {-rank} x\n"
        for topic in topics.split()
        for rank, document in enumerate(ranking.split())
    )
    return SentFile("runs", f"{system}.run", "".join(lines).encode())


RUNS = [run_of("a", "d1 d2 d3"), run_of("b", "d3 d1")]


def test_without_runs_every_document_is_judged_for_every_topic():
    plan = plan_from_form(VALUES, [DOCUMENTS])
    assert (plan.name, plan.title, plan.in_short) == ("which-pages-help", "Which pages help?", "grades")
    assert [(topic.title, topic.pool) for topic in plan.topics] == [
        ("ducks", ("d1", "d2", "d3")),
        ("geese", ("d1", "d2", "d3")),
    ]
    assert plan.arms[""].redundancy == 2


def test_runs_choose_what_is_judged_and_their_topics_are_those_of_the_file():
    topics = SentFile("topics", "queries.tsv", b"q7\tducks\n")
    runs = [SentFile("runs", f"{name}.run", f"q7 Q0 {document} 1 2 {name}\n".encode()) for name, document in
            (("a", "d1"), ("b", "d3"))]  # fmt: skip
    plan = plan_from_form(VALUES | {"topics": ""}, [topics, DOCUMENTS, *runs])
    assert [(topic.label, topic.pool) for topic in plan.topics] == [("q7", ("d1", "d3"))]


def test_a_gold_file_holds_gold_questions_and_of_magnitudes_the_check_documents():
    gold = SentFile("gold", "gold.csv", b"topic,document,grade\nt1,d1,3\n")
    plan = plan_from_form(VALUES, [DOCUMENTS, gold])
    assert plan.topics[0].gold[0].document == "d1"
    assert plan.topics[0].pool == ("d2", "d3")
    checks = SentFile("gold", "checks.txt", b"t1 d1 d2\n")
    many = b"docid,text\n" + b"".join(f"d{i},Text.\n".encode() for i in range(1, 9))
    magnitude = VALUES | {"protocol": "magnitude", "topics": "ducks"}
    plan = plan_from_form(magnitude, [SentFile("documents", "d.csv", many), checks])
    assert plan.topics[0].checks == ("d1", "d2")
    headers = b"topic,high,low\n", b"\xef\xbb\xbftopic,H,N\r\n", b"topic\tbetter\tworse\n", b"Topic,relevant,not\n"
    for header in headers:
        for name in ("mag.csv", "mag.txt"):
            line = b"t1\td5\td2\n" if b"\t" in header else b"t1,d5,d2\n"
            table = SentFile("gold", name, header + line)
            plan = plan_from_form(magnitude, [SentFile("documents", "d.csv", many), table])
            assert plan.topics[0].checks == ("d5", "d2")
    with_comma = SentFile("documents", "d.csv", many + b'"d,9",Text.\n')
    by_blanks = SentFile("gold", "mag.txt", b"topic high low\nt1 d,9 d2\n")
    assert plan_from_form(magnitude, [with_comma, by_blanks]).topics[0].checks == ("d,9", "d2")
    upside_down = SentFile("gold", "mag.csv", b"topic,low,high\nt1,d5,d2\n")
    with pytest.raises(FileError, match=r"gold mag\.csv"):
        plan_from_form(magnitude, [SentFile("documents", "d.csv", many), upside_down])
    for name, grades in (
        ("gold.csv", b"topic,document,grade\nt1,d3,3\nt1,d4,0\n"),
        ("g.qrels", b"t1 0 d3 3\nt1 0 d4 0\n"),
    ):
        plan = plan_from_form(magnitude, [SentFile("documents", "d.csv", many), SentFile("gold", name, grades)])
        assert plan.topics[0].checks == ("d3", "d4")


def test_errors_about_check_documents_of_magnitudes_can_be_followed_in_the_form():
    many = b"docid,text\n" + b"".join(f"d{i},Text.\n".encode() for i in range(1, 10))
    first = [SentFile("topics", "t.tsv", b"q7\tducks\n"), SentFile("documents", "d.csv", many)]
    first.append(run_of("a", " ".join(f"d{i}" for i in range(1, 10)), "q7"))
    magnitude = VALUES | {"protocol": "magnitude", "topics": "", "depth": "8"}

    def checks(content: bytes, **values: str) -> tuple[str, str] | None:
        return plan_from_form(magnitude | values, [*first, SentFile("gold", "g.csv", content)]).topics[0].checks

    outside = b"topic,high,low\nq7,d1,d9\n"
    with pytest.raises(FileError, match="'d9' is not in the pool; choose one that is, or judge more ranks of the runs"):
        checks(outside)
    assert checks(outside, depth="9") == ("d1", "d9")
    with pytest.raises(FileError, match="name two of each topic in a table with the columns topic, high and low"):
        checks(b"topic,document,grade\nq7,d1,1\nq7,d9,0\n")
    assert checks(b"topic,high,low\nq7,d1,d2\n") == ("d1", "d2")


def test_so_many_ranks_of_each_run_are_judged():
    plan = plan_from_form(VALUES | {"depth": "1"}, [TOPICS, DOCUMENTS, *RUNS])
    assert [topic.pool for topic in plan.topics] == [("d1", "d3"), ("d1", "d3")]


@pytest.mark.parametrize(
    ("fields", "text"), [({"ask": "best"}, "best"), ({"ask": "two", "systems": " b > a "}, "b > a")]
)
def test_a_question_draws_from_the_runs_that_were_sent(fields, text):
    plan = plan_from_form(VALUES | fields, [TOPICS, DOCUMENTS, *RUNS])
    assert plan.question is not None
    assert plan.question.text == text
    assert plan.question.content["runs"]["systems"] == ["a", "b"]
    assert plan.question.content["design"]["batches"], "the first batch is drawn"


def test_gold_questions_are_an_entry_test_that_excludes_who_fails_it():
    values = VALUES | {"exclude": "1"}
    assert plan_from_form(values, [TOPICS, DOCUMENTS, GOLD]).gold == GoldSettings(first=10, exclude=True)
    assert plan_from_form(VALUES | {"first": "0"}, [TOPICS, DOCUMENTS, GOLD]).gold == GoldSettings()
    pairs = SentFile("gold", "clear.txt", b"q7 d4 d5\n")
    documents = SentFile("documents", "d.csv", b"docid,text\n" + b"".join(b"d%d,Text.\n" % i for i in range(1, 6)))
    of_pairs = plan_from_form(values | {"protocol": "preference"}, [TOPICS, documents, pairs]).gold
    assert of_pairs == GoldSettings(first=10, exclude=True, accuracy=OF_PAIRS)


@pytest.mark.parametrize(
    ("gold", "least", "guess"), [(GoldSettings(), 6, 0.25), (GoldSettings(accuracy=OF_PAIRS), 8, 0.5)]
)
def test_an_entry_test_of_ten_lets_the_careful_pass_and_1_in_18_who_guess_at_most(gold, least, guess):
    test = entry_test(10, gold.accuracy, gold.risk)
    assert test.least_right == least, "as the page says"
    passes = {
        p: sum(comb(10, n) * p**n * (1 - p) ** (10 - n) for n in range(least, 11)) for p in (guess, gold.accuracy)
    }
    assert passes[guess] < 1 / 18
    assert passes[gold.accuracy] > 1 - gold.risk


@pytest.mark.parametrize(
    ("values", "files", "message"),
    [
        ({"title": " "}, [DOCUMENTS], "title: write a title"),
        ({"topics": ""}, [DOCUMENTS], "topics: write a title on each line, or choose a file"),
        ({}, [], "documents: choose a file"),
        ({"protocol": "guess"}, [DOCUMENTS], "protocol='guess': choose one of grades, magnitude, preference"),
        ({"redundancy": "many"}, [DOCUMENTS], "people per document: write a whole number"),
        ({"redundancy": "0"}, [DOCUMENTS], "people per document: 0 cannot be used"),
        ({"depth": "0"}, [TOPICS, DOCUMENTS, *RUNS], "ranks of each run: depth=0: give how many"),
        (
            {"first": "900"},
            [TOPICS, DOCUMENTS, GOLD],
            "entry test: 900 cannot be used; give at most 200",
        ),
        ({"protocol": "magnitude"}, [DOCUMENTS], "gold questions: magnitudes need a relevant document of each topic"),
        ({"ask": "worst"}, [TOPICS, DOCUMENTS, *RUNS], "^systems: 'worst'; expected 'A > B', 'best'"),
        ({"ask": "best"}, [TOPICS, DOCUMENTS, RUNS[0]], "^systems: at least two systems were expected"),
        ({"ask": "best"}, [TOPICS, DOCUMENTS], "^runs: is missing; name the files of the runs"),
        (
            {"ask": "best", "protocol": "preference"},
            [TOPICS, DOCUMENTS, *RUNS],
            r"^protocol: preference .* use \[grades\]",
        ),
        (
            {"ask": "two", "systems": "a b"},
            [TOPICS, DOCUMENTS, *RUNS],
            "^systems: write both with > between",
        ),
        ({"ask": "best"}, [TOPICS, DOCUMENTS, *RUNS, GOLD], "^gold questions: a question .* takes none; leave"),
        ({"ask": "best"}, [DOCUMENTS, *RUNS], "^runs: topic 'q7' has no text; add it to the topics"),
        ({"ask": "two"}, [TOPICS, DOCUMENTS, *RUNS], "^systems: write both with > between"),
        ({"ask": "two", "systems": "a > c"}, [TOPICS, DOCUMENTS, *RUNS], "^systems: there is no system 'c'; .*: a, b"),
        ({}, [TOPICS, DOCUMENTS, RUNS[0], RUNS[0]], "^runs: two files are called a.run; rename one"),
    ],
)
def test_what_is_missing_is_said(values, files, message):
    with pytest.raises(ArgumentError, match=message):
        plan_from_form(VALUES | values, files)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            RUNS,
            r"^runs/a.run: none of its topics \(q7, q8\) is in topics in the form.jsonl \(t1, t2\); use the same ids",
        ),
        (
            [TOPICS, RUNS[0], run_of("c", "d1", "x1 x2 x3 x4")],
            r"^runs/c.run: none of its topics \(x1, x2, x3, ...\) is in topics queries.tsv \(q7, q8\)",
        ),
        (
            [TOPICS, run_of("a", "d1", "q7")],
            "^topics queries.tsv, line 2: pool: topic 'q8' has 0 documents to judge, but a unit needs 1; name runs",
        ),
    ],
)
def test_files_of_different_topics_are_named_with_what_they_lack(files, message):
    with pytest.raises(FileError, match=message):
        plan_from_form(VALUES, [DOCUMENTS, *files])


def test_ids_with_blanks_are_refused():
    documents = SentFile("documents", "d.csv", b"docid,text\na b,Text.\n")
    with pytest.raises(FileError, match=r"^ids of topics and documents, line 1: .* found 3 fields"):
        plan_from_form(VALUES, [documents])


def test_a_title_may_have_any_character():
    assert plan_from_form(VALUES | {"title": 'Which "pages"\\ \U0001f986?'}, [DOCUMENTS]).title.endswith("\U0001f986?")


def test_a_file_that_cannot_be_read_is_named_with_its_line():
    wrong = SentFile("gold", "gold.csv", b"topic,document,grade\nt9,d1,3\n")
    with pytest.raises(FileError, match=r"^gold gold.csv, line 2: .*t9"):
        plan_from_form(VALUES, [DOCUMENTS, wrong])


@pytest.mark.nightly
def test_with_what_the_page_proposes_the_careless_are_excluded_and_the_careful_are_not(tmp_path):
    """Six topics with three gold questions each: whoever is right on nine of ten stays, whoever guesses does not."""
    rng = Random(1)
    grades = {(t, f"g{t}{i}"): (t + i) % 4 for t in range(6) for i in range(3)}
    texts = "".join(f"{label},Text.\n" for label in [f"d{i}" for i in range(10)] + [label for _, label in grades])
    rows = "".join(f"q{t},{label},{grade}\n" for (t, label), grade in grades.items())
    ranking = " ".join(f"d{i}" for i in range(10))
    files = [
        SentFile("topics", "queries.tsv", "".join(f"q{t}\tducks\n" for t in range(6)).encode()),
        SentFile("documents", "texts.csv", f"docid,text\n{texts}".encode()),
        run_of("a", ranking, "q0 q1 q2 q3 q4 q5"),
        SentFile("gold", "clear.csv", f"topic,document,grade\n{rows}".encode()),
    ]
    expected = {label: grade for (_, label), grade in grades.items()}
    people = {
        "ann": lambda grade: grade if rng.random() < 0.9 else (grade + 1) % 4,
        "dan": lambda _: 2,
        "eve": lambda _: rng.randrange(4),
    }

    async def judge_all(service, name):
        who = await service.arrive("which-pages-help", "link", name)
        for _ in range(120):
            page = await service.page(who)
            match page.view:
                case ExcludedView():
                    return True
                case ConsentView():
                    act = Consent(True)
                case RatingView():
                    act = Rate(3, 3, "")
                case DocumentView(position=position, document=document):
                    act = Judge(position, str(people[name](expected.get(labels[document], 1))))
                case _ if not getattr(page.view, "another", True):
                    return False
                case _:
                    act = GoOn()
            await service.act(who, act, shown=page.shown, key=page.key)
        return False

    with open_store(tmp_path / "judgments.db") as store:
        plan = plan_from_form(VALUES | {"exclude": "1"}, files)
        store.write(lambda c: create_campaign(c, plan, 1.0))
        labels = {one.id: one.label for one in store.read(lambda c: documents_of(c, 1))}
        service = seeded(store, Clock(step=5.0))
        excluded = [name for name in people if asyncio.run(judge_all(service, name))]
    assert excluded == ["dan", "eve"]
