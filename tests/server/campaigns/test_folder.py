"""A folder says what a campaign is made of, in the formats people have; nothing outside it is ever read."""

import gzip
import os
import re
import stat
import zipfile

import pytest

from data_sets import registered
from qrowd import texts
from qrowd.errors import FileError
from qrowd_server.campaigns.plan.campaign_files import MAX_RATIO
from qrowd_server.campaigns.plan.folder import plan_from_zip, read_folder
from qrowd_server.campaigns.plan.plan_tables import plan_from_table
from qrowd_server.protocols.protocol import Question
from zips import zipped

HEAD = '[campaign]\nname = "pilot"\nseed = 3\n'
MAGNITUDE = HEAD + "[magnitude]\nk = 3\nredundancy = 2\n"
GRADES = HEAD + "[grades]\n"
PREFERENCE = HEAD + "[preference]\n"

SOUND = {
    "campaign.toml": MAGNITUDE,
    "topics.tsv": "topic\ttitle\tdescription\nt1\ttea\thow to brew it\nt2\tsalt\t\n",
    "documents.jsonl": "".join(f'{{"docid": "d{i}", "title": "T{i}", "text": "words {i}"}}\n' for i in range(8)),
    "pool.txt": "# what is judged\nt1 d0\nt1 d1\nt1 d2\nt1 d3\nt2 0 d4 1\nt2 0 d5 0\nt2 0 d6 2\n",
    "checks.txt": "t1 d0 d1\nt2 d4 d5\n",
    "questions.jsonl": '{"topic": "t1", "text": "What?", "options": ["a", "b", "c", "d"], "correct": 1}\n',
    "context.jsonl": '{"topic": "t1", "snippets": ["one"]}\n{"topic": "t1", "snippets": ["two"]}\n',
}


def write(root, files):
    for name, content in files.items():
        if content is None:
            continue
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def plan_in(tmp_path, changes):
    return read_folder(write(tmp_path / "campaign", SOUND | changes))


def packed(files, *, prefix=""):
    return zipped(
        {prefix + name if isinstance(name, str) else name: text for name, text in files.items() if text is not None}
    )


def test_a_folder_with_the_usual_names_says_everything(tmp_path):
    plan = plan_in(tmp_path, {})
    first, second = plan.topics
    assert (first.label, first.title, first.description) == ("t1", "tea", "how to brew it")
    assert first.pool == ("d0", "d1", "d2", "d3")
    assert second.pool == ("d4", "d5", "d6")
    assert (first.checks, second.checks) == (("d0", "d1"), ("d4", "d5"))
    assert first.question == Question("What?", ("a", "b", "c", "d"), 1)
    assert first.context == ("one", "two")
    assert [document.label for document in plan.documents] == [f"d{i}" for i in range(7)]  # d7 is in nobody's pool
    assert plan.documents[2].text == "words 2"


def test_a_folder_says_what_one_table_says(tmp_path):
    topic = {"label": "t1", "title": "tea", "description": "how to brew it", "pool": ["d0", "d1", "d2", "d3"]}
    topic |= {"checks": ["d0", "d1"], "context": ["one", "two"]}
    topic |= {"question": {"text": "What?", "options": ["a", "b", "c", "d"], "correct": 1}}
    other = {"label": "t2", "title": "salt", "pool": ["d4", "d5", "d6"], "checks": ["d4", "d5"]}
    whole = {
        "documents": [{"label": f"d{i}", "title": f"T{i}", "text": f"words {i}"} for i in range(8)],
        "topics": [topic, other],
        "magnitude": {"k": 3, "redundancy": 2},
        "campaign": {"seed": 3, "name": "pilot"},
    }
    assert plan_from_table(whole) == plan_in(tmp_path, {})


def test_a_zip_says_what_its_folder_says(tmp_path):
    plan = plan_in(tmp_path, {})
    assert plan_from_zip(packed(SOUND)) == plan
    assert plan_from_zip(packed(SOUND, prefix="my campaign/")) == plan


def test_topics_and_documents_come_from_a_data_set_of_ir_datasets(tmp_path):
    with registered(tmp_path / "data") as name:
        files = {"topics": f"irds:{name}", "documents": f"irds:{name}"}
        toml = GRADES + "[files]\n" + "".join(f'{key} = "{value}"\n' for key, value in files.items())
        folder = {"campaign.toml": toml, "pool.txt": "q1 d2\n"}
        plan = read_folder(write(tmp_path / "campaign", folder))
        with pytest.raises(FileError, match=rf"^irds:{name}: data sets are read by `qrowd campaign create` only"):
            plan_from_zip(packed(folder))
    assert [(topic.label, topic.title, topic.pool) for topic in plan.topics] == [("q1", "red lobster", ("d2",))]
    assert [(document.label, document.text) for document in plan.documents] == [("d2", "train times")]


def test_several_campaigns_can_share_a_folder(tmp_path):
    root = write(tmp_path, SOUND | {"second.toml": MAGNITUDE.replace("pilot", "second")})
    assert read_folder(root / "second.toml").name == "second"


# ---- the formats

TREC_TOPICS = """
<top>
<num> Number: t1
<title> Topic: tea &amp; milk

<desc> Description:
how to
brew it

<narr> Narrative:
Only black tea.
</top>
<top><num>t2</num><title>salt</title></top>
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("topics.trec", TREC_TOPICS),
        (
            "topics.xml",
            '<topics><topic number="t1" type="x"><query>tea &amp; milk</query><description>how to brew it</description>'
            '<narrative>Only black tea.</narrative><subtopic number="1">no</subtopic></topic>'
            '<topic number="t2"><query>salt</query></topic></topics>',
        ),
        ("topics.csv", 'qid,query,description,narrative\nt1,tea & milk,"how to brew it",Only black tea.\nt2,salt,,\n'),
        (
            "topics.jsonl",
            '{"topic": "t1", "title": "tea & milk", "desc": "how to brew it", "narr": "Only black tea."}\n'
            '\n{"topic": "t2", "title": "salt"}\n',
        ),
    ],
)
def test_topics_say_the_same_in_every_format(tmp_path, name, content):
    plan = plan_in(tmp_path, {"topics.tsv": None, name: content})
    told = [(t.label, t.title, t.description, t.narrative) for t in plan.topics]
    assert told == [("t1", "tea & milk", "how to brew it", "Only black tea."), ("t2", "salt", "", "")]


def test_two_columns_between_tabs_need_no_header(tmp_path):
    plan = plan_in(tmp_path, {"topics.tsv": "t1\ttea\nt2\tsalt\n"})
    assert [(t.label, t.title) for t in plan.topics] == [("t1", "tea"), ("t2", "salt")]


TREC_DOCUMENTS = "".join(
    f"<DOC>\n<DOCNO> d{i} </DOCNO>\n<TITLE>T{i}</TITLE>\n<TEXT>words\n{i}\n</TEXT></DOC>\n" for i in range(8)
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("documents.trec", TREC_DOCUMENTS),
        ("documents.csv", "docid,title,text\r\n" + "".join(f'd{i},T{i},"words {i}"\r\n' for i in range(8))),
        ("documents.tsv", "docid\ttitle\ttext\n" + "".join(f"d{i}\tT{i}\twords {i}\n" for i in range(8))),
    ],
)
def test_documents_say_the_same_in_every_format(tmp_path, name, content):
    expected = plan_in(tmp_path / "a", {}).documents
    assert plan_in(tmp_path / "b", {"documents.jsonl": None, name: content}).documents == expected


def test_documents_can_be_files_of_their_own(tmp_path):
    page = "<html lang='de'><head><title>Two &amp; more</title></head><body>x</body></html>"
    files = {f"documents/d{i}.txt": f"words {i}" for i in range(8) if i != 2}
    plan = plan_in(tmp_path, {"documents.jsonl": None, "documents/d2.html": page, **files})
    assert [(d.text, d.html) for d in plan.documents[:2]] == [("words 0", False), ("words 1", False)]
    two = next(d for d in plan.documents if d.label == "d2")
    assert (two.title, two.text, two.html, two.language) == ("Two & more", "x", True, "de")  # its HTML is cleaned


def test_documents_without_text_element_are_all_that_follows_their_number(tmp_path):
    content = TREC_DOCUMENTS.replace("<TEXT>words\n0\n</TEXT>", "<P>one &lt;\n<P>two")
    plan = plan_in(tmp_path, {"documents.jsonl": None, "documents.sgml": content})
    assert plan.documents[0].text == "T0\n\none <\n\ntwo"


def run(tag, **topics):
    rows = [(t, d, r) for t, found in topics.items() for r, d in enumerate(found.split(), start=1)]
    return "".join(f"{t} Q0 {d} {r} {10 - r} {tag}\n" for t, d, r in rows)


RUNS = {
    "pool.txt": None,
    "checks.txt": None,
    "runs/a.run": run("x", t1="d0 d1 d2 d3", t2="d4 d5 d6", t9="d1"),
    "runs/b.run.gz": gzip.compress(run("x", t1="d3 d0 d7", t2="d6 d4 d5").encode()),
}


def test_pools_are_what_the_runs_found_first(tmp_path):
    toml = PREFERENCE + "[files]\nruns = ['runs/*.run*']\ndepth = 2\n"
    first, second = plan_in(tmp_path, {"campaign.toml": toml, **RUNS}).topics
    assert first.pool == ("d0", "d1", "d3")
    assert second.pool == ("d4", "d5", "d6")
    assert first.systems == {"a": ("d0", "d1"), "b": ("d3", "d0")}  # d3, rank 4 of a, is in the pool by b alone
    assert second.systems == {"a": ("d4", "d5"), "b": ("d6", "d4")}


def test_runs_and_a_pool_file_add_up(tmp_path):
    toml = GRADES + "[files]\ndepth = 1\n"
    first, second = plan_in(tmp_path, {"campaign.toml": toml, **RUNS, "pool.txt": "t2 d7\n"}).topics
    assert (first.pool, second.pool) == (("d0", "d3"), ("d4", "d6", "d7"))
    assert first.systems == {"a": ("d0",), "b": ("d3",)}  # by which systems are compared
    assert second.systems == {"a": ("d4",), "b": ("d6",)}


GOLD = "t1 0 d0 1\nt1 0 d1 0\nt1 0 d2 2\nt1 0 d3 2\nt2 0 d4 0\nt2 0 d5 3\nt1 0 d7 9\n"


def test_check_documents_come_from_gold_grades_by_the_seed(tmp_path):
    seen = set()
    for seed in range(12):
        changes = {"campaign.toml": MAGNITUDE.replace("seed = 3", f"seed = {seed}"), "checks.txt": None}
        first, second = (plan_in(tmp_path, changes | {"gold.qrels": GOLD}).topics for _ in range(2))
        assert first == second
        assert first[1].checks == ("d5", "d4")
        assert first[0].checks[1] == "d1"
        seen.add(first[0].checks[0])
    assert seen == {"d2", "d3"}


def test_gold_grades_only_fill_what_the_checks_file_leaves_open(tmp_path):
    first, second = plan_in(tmp_path, {"checks.txt": "t1 d3 d2\n", "gold.qrels": GOLD}).topics
    assert (first.checks, second.checks) == (("d3", "d2"), ("d5", "d4"))


def test_one_topic_without_pool_has_all_documents(tmp_path):
    changes = {"topics.tsv": "t1\ttea\n", "pool.txt": None, "checks.txt": "t1 d0 d1\n"}
    assert len(plan_in(tmp_path, changes).topics[0].pool) == 8


# ---- what cannot work, by file and line

FAULTS = [
    ({"campaign.toml": None}, "campaign.toml: there is no such file"),
    ({"campaign.toml": " "}, "campaign.toml: is empty"),
    ({"campaign.toml": "[campaign]\nname = \n"}, "campaign.toml, line 2: is not valid TOML"),
    (
        {"campaign.toml": MAGNITUDE + "[likert]\n"},
        "campaign.toml, line 7: likert: there is no such table; choose from campaign, magnitu",
    ),
    ({"campaign.toml": "journey = 3\n" + MAGNITUDE}, "campaign.toml, line 1: journey: is a table; write [journey]"),
    ({"campaign.toml": MAGNITUDE.replace("pilot", "A B")}, "campaign.toml, line 2: campaign.name: 'A B' cannot"),
    (
        {"campaign.toml": MAGNITUDE.replace("k = 3", "k = 1")},
        "campaign.toml, line 5: magnitude.k: 1 cannot be used; give at least 3",
    ),
    ({"campaign.toml": MAGNITUDE.replace("seed = 3", "seed = 'x'")}, "line 3: campaign.seed: 'x' cannot be used"),
    (
        {"campaign.toml": MAGNITUDE + "[files]\ntopic = 'x'\n"},
        "campaign.toml, line 8: files.topic: there is no such key; did you mean topics? choose from topics, docume",
    ),
    ({"campaign.toml": MAGNITUDE + "[files]\ntopics = 3\n"}, "line 8: files.topics: 3 cannot be used; give a name"),
    ({"campaign.toml": MAGNITUDE + "[files]\ntopics = 'x'\n"}, "x: there is no such file"),
    ({"campaign.toml": MAGNITUDE + "[files]\ntopics = '*.t*'\n"}, "files.topics: '*.t*' stands for 4 files; name one"),
    ({"campaign.toml": MAGNITUDE + "[files]\nruns = 'x/*'\n"}, "x/*: no file is there"),
    ({"campaign.toml": GRADES + "[files]\ndepth = 0\n", **RUNS}, "line 6: files.depth: depth=0: give how many"),
    ({"topics.tsv": None}, "files.topics: is missing; name a file, or call it topics.tsv"),
    ({"topics.tsv": ""}, "topics.tsv: is empty"),
    ({"topics.tsv": "topic\ttitle\nt1\ttea\nt1\tsalt\n"}, "topics.tsv, line 3: label 't1' is there already"),
    (
        {"topics.tsv": "topic\ttitle\nt1\t\nt2\ta\n"},
        "topics.tsv, line 2: title: topic 't1' has no title; say what is looked for",
    ),
    ({"topics.tsv": "topic\ttitle\nt1\n"}, "topics.tsv, line 2: expected 2 cells, as many as columns, found 1"),
    ({"topics.tsv": "topic\ttitle\ttitle\nt1\ta\tb\n"}, "topics.tsv, line 1: two columns are called 'title'"),
    ({"topics.tsv": "a\tb\tc\nt1\ta\tb\n"}, "topics.tsv, line 1: no topic column among a, b, c; call it topic"),
    (
        {"topics.tsv": None, "topics.csv": "Thema,Frage\nt1,a\n"},
        "topics.csv, line 1: no topic column among Thema, Frage; call it topic",
    ),
    ({"topics.tsv": b"t1\ta\nt2\t\xe9\n"}, "topics.tsv, line 2: is not UTF-8 (byte 0xe9); save it as UTF-8"),
    ({"topics.tsv": None, "topics.csv": 'topic,title\nt1,"a\n'}, "topics.csv, line 2: not a readable row"),
    ({"topics.tsv": None, "topics.txt": "<top>\n<num>1\n"}, "topics.txt, line 1: <top> is not closed"),
    ({"topics.tsv": None, "topics.txt": "<top>\n<title>1\n</top>"}, "topics.txt, line 1: the topic has no number"),
    ({"topics.tsv": None, "topics.txt": "<html>"}, "topics.txt: holds no <top>"),
    ({"topics.tsv": None, "topics.jsonl": '{"topic": 1}\n{"x"'}, "topics.jsonl, line 2: not JSON"),
    ({"topics.tsv": None, "topics.jsonl": '{"topic": 1}\n[1]\n'}, "topics.jsonl, line 2: expected one JSON object"),
    ({"topics.tsv": None, "topics.jsonl": '{"title": "a"}\n'}, "topics.jsonl, line 1: no column names the row"),
    (
        {"topics.tsv": None, "topics.jsonl": '{"topic": "t2", "title": 3}\n{"topic": "t1"}\n'},
        "line 1: title: 3 cannot be used; give a text",
    ),
    ({"topics.tsv": None, "topics.jsonl": '{"topic": ["t1"]}\n'}, "line 1: ['t1'] cannot name the row; write a text"),
    ({"documents.jsonl": None}, "files.documents: is missing; name a file"),
    (
        {"documents.jsonl": '{"docid": "d0", "text": ""}\n'},
        "documents.jsonl, line 1: text: document 'd0' has no text; add it, or leave the docum",
    ),
    ({"documents.jsonl": '{"docid": "d0"}\n'}, "documents.jsonl, line 1: no column holds the text; call it text"),
    ({"documents.jsonl": '{"docid": "d0", "text": "a", "html": "x"}\n'}, "line 1: html: 'x' cannot be used"),
    (
        {"documents.jsonl": SOUND["documents.jsonl"] * 2},
        "documents.jsonl, line 9: label: 'd0' is there already; every document needs its own",
    ),
    ({"documents.jsonl": None, "documents.trec": "<DOC>\n<TEXT>a</TEXT></DOC>"}, "line 1: the document has no <DOCNO>"),
    ({"documents.jsonl": None, "documents.trec": "<DOC>\n<DOC></DOC>"}, "line 1: <DOC> is not closed"),
    ({"documents.jsonl": None, "documents.trec": "<x>"}, "documents.trec: holds no <DOC>"),
    ({"pool.txt": None}, "files: what is judged for each of 2 topics is missing; name runs or pool"),
    (
        {"pool.txt": SOUND["pool.txt"] + "t1 d9\n"},
        "pool.txt, line 9: document 'd9' in the pool of topic 't1' has no text; add it",
    ),
    (
        {"campaign.toml": GRADES, "runs/c.run": "t1 Q0 d77 1 9.5 c\nt2 Q0 d4 1 9.5 c\n"},
        "documents.jsonl: document 'd77' in the pool of topic 't1' has no text; add it",
    ),
    (
        {"campaign.toml": GRADES + "redundacy = 2\n"},
        "grades.redundacy: there is no such key; did you mean redundancy? choose from ",
    ),
    ({"pool.txt": "t1 d0\nt1 d0 1\n"}, "pool.txt, line 2: expected 'topic document' or 'topic iteration document gr"),
    ({"pool.txt": "t1 d0\nt3 d0\n"}, "pool.txt, line 2: there is no topic 't3'; add it to the topics"),
    (
        {"pool.txt": "t1 d0\nt1 d1\nt1 d2\nt1 d3\nt2 d4\nt2 d5\n"},
        "topics.tsv, line 3: pool: topic 't2' has 2 documents to judge, but a unit needs 3; name runs",
    ),
    ({"checks.txt": None}, "topics.tsv, line 2: checks: are missing; name one document of H and one of N, or wri"),
    (
        {"checks.txt": "t1 d0 d1\nt2 d4 d1\n"},
        "checks.txt, line 2: document 'd1' is not in the pool; choose one that is, or judge m",
    ),
    ({"checks.txt": "t1 d0\n"}, "checks.txt, line 1: expected 'topic high low', found 2 fields"),
    ({"checks.txt": "t1 d0 d1\nt1 d0 d2\n"}, "checks.txt, line 2: topic 't1' has its checks already"),
    ({"checks.txt": None, "gold.qrels": "t1 0 d0 1\n"}, "gold.qrels: topic 't1': no two documents of the pool have"),
    ({"checks.txt": None, "gold.qrels": "t1 0 d0 x\n"}, "gold.qrels, line 1: "),
    ({"questions.jsonl": '{"topic": "t3"}\n'}, "questions.jsonl, line 1: there is no topic 't3'"),
    ({"questions.jsonl": SOUND["questions.jsonl"] * 2}, "questions.jsonl, line 2: topic 't1' has a question already"),
    ({"questions.jsonl": '{"text": "a"}\n'}, 'questions.jsonl, line 1: the key "topic" is missing'),
    (
        {"questions.jsonl": SOUND["questions.jsonl"].replace("}", ', "answer": 1}')},
        "questions.jsonl, line 1: answer: there is no such key; choose from text, options, correct",
    ),
    (
        {"questions.jsonl": '{"topic": "t1", "text": "a", "options": ["a"], "correct": 0}\n'},
        "questions.jsonl, line 1: needs a text and 2 to 8 options",
    ),
    (
        {"context.jsonl": '{"topic": "t1", "snippets": "a"}\n'},
        'context.jsonl, line 1: expected {"topic": ..., "snippets"',
    ),
    (
        {"context.jsonl": '{"topic": "t1", "snippets": [1]}\n'},
        "context.jsonl, line 1: 1 cannot be used; give a text",
    ),
    ({**RUNS, "runs/a.run": "t1 Q0 d0 1 x y\n"}, "runs/a.run, line 1: "),
    ({**RUNS, "runs/b.run.gz": b"\x1f\x8bxx"}, "runs/b.run.gz: damaged or truncated gzip"),
    ({**RUNS, "runs/b.txt": RUNS["runs/a.run"]}, "runs/b.txt: is system 'b', as is runs/b.run.gz; rename one"),
    ({**RUNS, "runs/c.parquet": b"PAR1xxxx"}, "runs/c.parquet: is Parquet; write it as CSV"),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=range(len(FAULTS)))
def test_what_cannot_work_is_refused_by_file_and_line(tmp_path, changes, message):
    with pytest.raises(FileError) as refused:
        plan_in(tmp_path, changes)
    first, *further = str(refused.value).split("\n")
    assert message in first
    assert all("document" in line for line in further)  # which are mended together


# ---- nobody gets out of the folder

NAMES_OUT = ["../out.tsv", "/etc/passwd", "a/../../out.tsv", "..\\out.tsv", "C:\\out.tsv", "C:out.tsv", "\\out", "../*"]


@pytest.mark.parametrize("name", [*NAMES_OUT, "", "a\\u0000b"])
@pytest.mark.parametrize("key", ["topics", "documents", "runs"])
def test_a_name_that_leads_out_is_refused(tmp_path, key, name):
    write(tmp_path, {"out.tsv": SOUND["topics.tsv"]})
    shown = name.replace("\\u0000", "\x00")
    toml = MAGNITUDE + f'[files]\n{key} = "{name if "u0000" in name else name.replace(chr(92), chr(92) * 2)}"\n'
    with pytest.raises(FileError, match="is no name inside the folder") as refused:
        plan_in(tmp_path, {"campaign.toml": toml})
    assert refused.value.path == (shown or "''")


@pytest.mark.parametrize("name", ["topics.tsv", "documents.jsonl", "pool.txt", "runs/a.run", "documents/d1.txt"])
def test_a_link_that_leads_out_is_refused(tmp_path, name):
    outside = write(tmp_path, {"out": SOUND["topics.tsv"]}) / "out"
    files = SOUND | {name: None}
    if name.startswith("documents/"):
        files |= {"documents.jsonl": None, "documents/d0.txt": "words"}
    root = write(tmp_path / "campaign", files)
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(outside)
    with pytest.raises(FileError, match="leads out of the folder"):
        read_folder(root)


def test_a_folder_beside_with_a_longer_name_is_outside(tmp_path):
    write(tmp_path / "campaign-secret", {"topics.tsv": SOUND["topics.tsv"]})
    root = write(tmp_path / "campaign", SOUND | {"topics.tsv": None})
    (root / "topics.tsv").symlink_to(tmp_path / "campaign-secret" / "topics.tsv")
    with pytest.raises(FileError, match="leads out of the folder"):
        read_folder(root)


def test_a_pipe_is_no_file(tmp_path):
    root = write(tmp_path, SOUND | {"topics.tsv": None})
    os.mkfifo(root / "topics.tsv")
    with pytest.raises(FileError, match=r"topics\.tsv: no file is there"):
        read_folder(root)


# ---- zips


def member(name, kind=stat.S_IFREG):
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o644) << 16
    return info


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "C:/x", "..", "//x"])
def test_a_member_that_leads_out_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(FileError, match="is no name inside the folder"):
        plan_from_zip(packed(SOUND | {member(name): "x"}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_member_that_is_no_file_is_refused(kind):
    with pytest.raises(FileError, match="zip, x: is no plain file or folder"):
        plan_from_zip(packed(SOUND | {member("x", kind): "/etc/passwd"}))


def test_a_member_with_a_nul_or_backslash_is_refused():
    content = packed(SOUND | {"QQxQQ": "x"})
    with pytest.raises(FileError, match="is no name inside the folder"):
        plan_from_zip(content.replace(b"QQxQQ", b"QQ\x00QQ"))
    with pytest.raises(FileError, match="is no plain file or folder"):
        plan_from_zip(content.replace(b"QQxQQ", b"QQ\\QQ"))


def test_what_unpacks_to_too_much_is_refused():
    bomb = packed(SOUND | {"documents.csv": b"x" * (8 << 20)})
    assert len(bomb) * MAX_RATIO < 8 << 20
    with pytest.raises(FileError, match=re.escape("zip, documents.csv: unpacks to too much")):
        plan_from_zip(bomb)
    with pytest.raises(FileError, match="unpacks to too much"):
        plan_from_zip(packed(SOUND), max_unpacked=500)


def test_gzip_inside_a_zip_cannot_grow_past_the_limit():
    inner = gzip.compress(b"x" * (4 << 20))
    files = SOUND | {"documents.jsonl": None, "documents.csv": inner}
    with pytest.raises(FileError, match=r"documents\.csv: is too large"):
        plan_from_zip(packed(files), max_unpacked=1 << 20)


def test_gzip_inside_a_zip_unpacks_to_no_more_than_its_share_and_a_folder_of_one_s_own_is_read(tmp_path):
    rows = "".join(f'{{"docid": "x{i}", "text": "words"}}\n' for i in range(40_000))
    inner = gzip.compress((SOUND["documents.jsonl"] + rows).encode())
    assert len(inner) * 10 < len(rows)
    repeated = gzip.compress((SOUND["documents.jsonl"] + '{"docid": "x", "text": "words"}\n' * 40_000).encode())
    assert len(repeated) * MAX_RATIO < 3_000_000
    with pytest.raises(FileError, match=r"documents\.jsonl: is too large"):
        plan_from_zip(packed(SOUND | {"documents.jsonl": repeated}))
    assert len(plan_from_zip(packed(SOUND | {"documents.jsonl": inner})).documents) == 7
    write(tmp_path, SOUND | {"documents.jsonl": inner})
    assert len(read_folder(tmp_path).documents) == 7


def test_encrypted_or_doubled_members_are_refused():
    content = packed({"campaign.toml": "x"})
    at = content.index(b"PK\x01\x02") + 8
    with pytest.raises(FileError, match="is encrypted"):
        plan_from_zip(content[:at] + b"\x01" + content[at + 1 :])
    twice = packed({"campaign.toml": "x", "campaign.tomm": "x"}).replace(b"campaign.tomm", b"campaign.toml")
    with pytest.raises(FileError, match="is there twice"):
        plan_from_zip(twice)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip at all", packed(SOUND)[:-40], packed({"x/y": "z"})])
def test_what_is_no_zip_of_a_campaign_is_refused(content):
    with pytest.raises(FileError, match=r"^zip: "):
        plan_from_zip(content)


def test_a_damaged_zip_is_refused():
    content = bytearray(packed(SOUND))
    content[60:70] = b"\xff" * 10
    with pytest.raises(FileError, match=r"^zip"):
        plan_from_zip(bytes(content))


def test_headers_of_topics_and_documents_are_understood_in_any_spelling():
    ((line, topic),) = texts.read_topics(b"Topic ID,Query\n1,tea\n", "topics.csv")
    assert (line, topic["label"], topic["title"]) == (2, "1", "tea")
    ((line, document),) = texts.read_documents(b"Doc_ID\tBODY\nd1\tgreen tea\n", "documents.tsv")
    assert (line, document["label"], document["text"]) == (2, "d1", "green tea")
    ((line, document),) = texts.read_documents(b"Document ID,Title,Text\nd1,Tea,green\n", "documents.csv")
    assert (line, document["label"], document["title"]) == (2, "d1", "Tea")


def test_a_character_of_five_thousand_digits_is_none():
    content = f"<doc><docno>d0</docno><text>a&#{'9' * 5000};b &#00000000065;</text></doc>".encode()
    ((_, document),) = texts.read_documents(content, "documents.trec")
    assert document["text"] == "a\ufffdb A"
