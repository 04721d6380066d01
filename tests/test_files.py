"""Files on disk: found by name, pattern and folder, unpacked, read, named when broken, and written whole."""

import gzip
import os
import re
import sys
import threading
from collections import Counter
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.files import find_files, read_bytes, read_judgments, read_recoding, read_runs, without_endings, write_whole
from qrowd.paths import file_name, named_files

QRELS = "t 0 d 1\nt 0 e 0\n"
RUN = "t Q0 d 1 2.5 tag\nt Q0 e 2 1.5 tag\n"


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(content.encode())))


# ---- what is found


@pytest.mark.parametrize("names", [["a.run"], ["a.run", "b.run"]])
def test_an_iterator_of_paths_is_read_as_a_list_of_them(names):
    for name in names:
        write(name, RUN)
    assert read_runs(iter(names)).systems == read_runs(names).systems == tuple(name[0] for name in names)


def test_a_path_a_pattern_a_folder_and_a_list_of_them_find_the_same_files():
    for name in ("q/b.qrels", "q/a.qrels", "q/c.txt", "q/.hidden", "q/deeper/d.qrels"):
        write(name, QRELS)
    both = [Path("q/a.qrels"), Path("q/b.qrels")]
    assert find_files("q/a.qrels") == both[:1]
    assert find_files(Path("q/a.qrels")) == both[:1]
    assert find_files("q/*.qrels") == both
    assert find_files("q/[ab].*") == both
    assert find_files("q") == [*both, Path("q/c.txt")]
    assert [path for _, path in named_files(["q/b.qrels", "q/*.qrels"], "file").named] == both[::-1]
    assert find_files("q/**/*.qrels") == [*both, Path("q/deeper/d.qrels")]


def test_a_file_whose_name_looks_like_a_pattern_or_a_pair_is_found():
    write("runs[1].txt", RUN)
    write("k=5.run", RUN)
    assert read_runs("runs[1].txt").systems == ("runs[1]",)
    assert read_runs("k=5.run").systems == ("k=5",)
    assert read_runs("k=*.run").systems == ("k=5",)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ("none.txt", "none.txt: there is no such file"),
        ("none-*.txt", "none-*.txt: no file matches this pattern"),
        ("empty", "empty: no file is there"),
        ("empt*", "empt*: no file matches this pattern"),
        (["x.txt", "none.txt"], "none.txt: there is no such file"),
        ("name=none.txt", "none.txt: there is no such file"),
        ({"name": "none.txt"}, "none.txt: there is no such file"),
    ],
)
def test_what_is_not_there_is_named(paths, message):
    Path("empty").mkdir()
    write("x.txt", QRELS)
    for read in (read_judgments, read_runs):
        with pytest.raises(FileError) as error:
            read(paths)
        assert str(error.value) == message


@pytest.mark.parametrize(
    "of_frame", [lambda frame: frame, lambda frame: [frame], lambda frame: {"ann": frame}, lambda frame: [5]]
)
@pytest.mark.parametrize("read", [read_judgments, read_runs])
def test_what_is_no_path_is_refused_and_it_is_said_what_reads_data_frames(read, of_frame):
    with pytest.raises(ArgumentError, match=r"^expected a path, found .*; .*from_frame reads data frames$"):
        read(of_frame(pd.DataFrame({"topic": ["q"], "document": ["d"], "value": [1]})))


@pytest.mark.parametrize("nothing", [[], {}])
def test_no_files_at_all_are_refused(nothing):
    with pytest.raises(ArgumentError, match="no files were given to read; each is one assessor"):
        read_judgments(nothing)
    with pytest.raises(ArgumentError, match="no files were given to read; each is one system"):
        read_runs(nothing)


# ---- names


def test_an_assessor_is_named_after_the_file_without_its_known_endings():
    names = ["llama-3.1-8b.qrels", "gpt-4.qrels", "gpt-4.1.qrels.gz", "qrels.nist.txt", "qrels.umbrela.txt", ".hidden"]
    for name in names:
        write(name, QRELS)
    expected = ("llama-3.1-8b", "gpt-4", "gpt-4.1", "qrels.nist", "qrels.umbrela", ".hidden")
    assert read_judgments(names).assessors == expected


def test_the_five_judges_of_trec_rag_2026_have_their_full_names():
    names = [
        "rag25-climbmix-umbrela-codex-gpt5.5-medium-reasoning-v1",
        "rag25-climbmix-umbrela-ministral-3-14b-instruct-2512-v1",
        "rag25-climbmix-umbrela-ministral-3-14b-instruct-2512-v2",
        "rag25-climbmix-umbrela-qwen3.5-9b-v1",
        "rag25-climbmix-umbrela-qwen3.5-9b-v2",
    ]
    for grade, name in enumerate(names):
        write(f"all/{name}.qrels", f"14 0 shard_04439_8336 {grade}\n14 0 shard_00979_17533 0\n")
        write(f"parts/{'older-versions/' if name[-6:] in ('9b-v1', '512-v1') else ''}{name}.qrels", f"14 0 d {grade}\n")
    write("all/README.md", "# Qrels of five language models\n")
    for paths in ("all", "all/*.qrels", "parts/**/*.qrels"):
        assert sorted(read_judgments(paths).assessors) == names
    assert read_judgments("all").to_dict(assessor=names[3]) == {"14": {"shard_04439_8336": 3, "shard_00979_17533": 0}}


labels = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12)
dotted = st.one_of(labels, st.lists(labels, min_size=2, max_size=3).map(".".join))
file_names = dotted.filter(lambda name: "/" not in name and name[0] != "." and without_endings(Path(name)) == name)


@given(st.dictionaries(file_names, st.sampled_from([".qrels", ".qrels.gz", ".txt"]), min_size=1, max_size=4))
def test_what_a_file_was_called_before_its_endings_is_the_name_of_its_assessor(endings):
    with TemporaryDirectory() as folder:
        for name, ending in endings.items():
            Path(folder, name + ending).write_text(QRELS)
        assert sorted(
            read_judgments([Path(folder, name + ending) for name, ending in endings.items()]).assessors
        ) == sorted(endings)


whole_numbers = re.compile(r"-?\d+\.0")


@given(st.sets(dotted.filter(lambda name: not whole_numbers.fullmatch(name)), min_size=1, max_size=4))
@example({".", "..", "readme.x", "LICENSE", "a/b:c"})
@settings(max_examples=settings.default.max_examples // 2)
def test_assessors_of_tables_have_the_name_in_the_column_whatever_their_files_are_called(names):
    with TemporaryDirectory() as folder:
        for name in names:
            frame = pd.DataFrame({"topic": "t", "document": "d", "assessor": name, "value": [2]})
            frame.to_csv(Path(folder, file_name(name, ".csv")), index=False)
        assert set(read_judgments(folder).assessors) == names


def test_the_file_of_a_model_whose_name_is_a_path_brings_the_name_of_the_model():
    name = "meta-llama/Llama-3.1-8B:free+graded"
    file = "meta-llama%2FLlama-3.1-8B%3Afree+graded.csv"
    write(f"judges/{file}", f"topic,document,assessor,value,scale\nt,d,{name},2,0-3\n")
    for paths in ("judges", "judges/*+graded.csv", f"judges/{file}", [f"judges/{file}"]):
        assert read_judgments(paths).assessors == (name,)


def test_files_about_the_data_are_passed_over_in_a_folder_and_among_others_and_said():
    write("runs/bm25.run", RUN)
    for name in ("trec-rf10-readme.txt", "README.md", "ir-metadata.yml", "campaign.toml", "LICENSE", ".DS_Store"):
        write(f"runs/{name}", "title: runs\n")
    names = "LICENSE, README.md, campaign.toml, ir-metadata.yml, trec-rf10-readme.txt"
    note = f"passed over: 6 files about the data ({names})"
    assert (read_runs("runs").systems, read_runs("runs").notes) == (("bm25",), (note,))
    shell = [f"runs/{name}" for name in ("LICENSE", "README.md", "bm25.run", "ir-metadata.yml")]
    assert read_runs(shell).systems == ("bm25",)
    with pytest.raises(FileError, match=r"README.md, line 1: expected 'topic Q0"):
        read_runs("runs/README.md")


def test_the_tag_names_the_systems_on_request_and_two_tags_in_a_list_are_mentioned():
    write("both.run", RUN + RUN.replace(" tag\n", " B\n"))
    write("more.run", RUN.replace(" tag\n", " C\n"))
    with pytest.raises(FileError, match="the tags are 'tag' and 'B': name systems by column to read both"):
        read_runs("both.run")
    runs = read_runs(["both.run", "more.run"], system="column")
    assert runs.systems == ("tag", "B", "C")
    alone = read_runs({"A": "more.run"})
    for system in runs.systems:
        assert runs.to_dict()[system] == alone.to_dict()["A"]
    write("more.run", RUN + RUN)
    with pytest.raises(FileError, match=r"more.run, line 3: .* twice .*; keep one of them"):
        read_runs("more.run", system="column")


def test_a_system_is_named_after_the_file_without_its_known_endings():
    names = ["bm25.run.gz", "a.b=.75.TXT", "bm25.k1=0.9.trec", "plain", ".run"]
    for name in names:
        write(name, RUN)
    assert read_runs(names).systems == ("bm25", "a.b=.75", "bm25.k1=0.9", "plain", ".run")


def test_names_can_be_given():
    write("x.txt", QRELS)
    write("y.txt", QRELS)
    assert read_judgments({"ann": "x.txt", "bob": Path("y.txt")}).assessors == ("ann", "bob")
    assert read_judgments(["ann=x.txt", "y.txt"]).assessors == ("ann", "y")
    assert read_judgments(["ann=x.txt", "bob=x.txt"]).assessors == ("ann", "bob")


def test_two_files_of_one_name_are_refused_since_they_would_become_one():
    write("1/ann.qrels", QRELS)
    write("2/ann.txt", QRELS)
    expected = r"^2/ann.txt: is assessor 'ann', as is 1/ann.qrels; rename one, or give names as NAME=PATH$"
    with pytest.raises(FileError, match=expected):
        read_judgments(["1", "2"])
    write("1/bm25.run", RUN)
    write("2/bm25.run.gz", RUN)
    with pytest.raises(FileError, match=r"^2/bm25.run.gz: is system 'bm25', as is 1/bm25.run; "):
        read_runs("*/bm25*")
    with pytest.raises(FileError, match=r"is assessor 'x', as is 1/ann.qrels"):
        read_judgments({"x": "?/ann*"})


def test_one_file_given_twice_is_read_once():
    write("ann.qrels", QRELS)
    assert len(read_judgments(["ann.qrels", "./ann.qrels", "*.qrels"])) == 2


# ---- what is read


def test_gzip_is_told_by_its_content_and_not_by_its_name():
    write("packed.txt", gzip.compress(QRELS.encode()))
    write("plain.gz", QRELS)
    write("table.csv.gz", gzip.compress(b"topic,document,assessor,value\nt,d,table,1\n"))
    write("two.gz", gzip.compress(b"t 0 d 1\n") + gzip.compress(b"t 0 e 0\n"))
    judgments = read_judgments(["packed.txt", "plain.gz", "table.csv.gz", "two.gz"])
    counts = Counter(judgments.assessors[a] for a in judgments.assessor)
    assert counts == {"packed": 2, "plain": 2, "table": 1, "two": 2}


@pytest.mark.parametrize("text", [QRELS, "topic,document,value\nt,d,1\nt,e,0\n"], ids=["qrels", "table"])
def test_standard_input_is_read_as_a_file(monkeypatch, text):
    stdin(monkeypatch, text)
    judgments = read_judgments("-")
    assert (judgments.assessors, judgments.value.tolist()) == (("assessor",), [1, 0])
    stdin(monkeypatch, text)
    assert read_judgments({"ann": "-"}).assessors == ("ann",)
    stdin(monkeypatch, RUN)
    assert read_runs("-").systems == ("system",)


def test_a_mistake_in_standard_input_is_named(monkeypatch):
    stdin(monkeypatch, "t 0 d\n")
    with pytest.raises(FileError, match=r"^standard input, line 1: expected 'topic iteration document grade'"):
        read_judgments("-")
    stdin(monkeypatch, "")
    with pytest.raises(FileError, match=r"^standard input: is empty$"):
        read_runs("-")


def test_column_2_names_the_assessors_on_request_and_then_files_may_share_a_name():
    write("1/x.qrels", "t ann d 1\nt bob d 0\n")
    write("2/x.qrels", "u ann d 2\n")
    judgments = read_judgments("*/x.qrels", assessor="column")
    assert judgments.assessors == ("ann", "bob")
    assert [judgments.assessors[a] for a in judgments.assessor] == ["ann", "bob", "ann"]
    with pytest.raises(ArgumentError, match="assessor='row': choose one of file, column"):
        read_judgments("*/x.qrels", assessor="row")


def test_text_files_and_tables_stay_in_the_order_they_were_given_in():
    write("a.qrels", "t 0 d 1\n")
    write("b.csv", "topic,document,value\nu,d,2\n")
    write("c.qrels", "t 0 e 3\nu 0 d 0\n")
    judgments = read_judgments(["b.csv", "a.qrels", "c.qrels"])
    assert judgments.assessors == ("b", "a", "c")
    assert judgments.value.tolist() == [2, 1, 3, 0]
    assert [judgments.topics[t] for t in judgments.topic] == ["u", "t", "t", "u"]

    write("x.csv", "topic,document,score\nt,d,2\n")
    write("y.run", RUN)
    assert read_runs(["x.csv", "y.run"]).systems == ("x", "y")
    assert read_runs(["y.run", "x.csv"]).score.tolist() == [2.5, 1.5, 2]


def test_declared_scales_are_checked_on_reading():
    write("ann.qrels", "t 0 d 2\n")
    assert str(read_judgments("ann.qrels", scales={"a*": "0-3"}).scales[0]) == "0-3"
    with pytest.raises(QrowdError, match="assessor ann: value 2 is above the scale's maximum 1"):
        read_judgments("ann.qrels", scales={"ann": "binary"})


# ---- what is broken

PACKED = gzip.compress(RUN.encode())
FIELDS = "expected 'topic Q0 document rank score tag', found"
NUMBER = "expected a finite number as score, found"
GZIP = "damaged or truncated gzip"
BROKEN = {
    "empty.run": (b"", ": is empty"),
    "blank.run": (b" \n\n", ": is empty"),
    "nothing.run.gz": (gzip.compress(b""), ": is empty"),
    "comments.run": (b"# x\n#\n", ": holds no line of a run; expected 'topic Q0 document rank score tag'"),
    "short.run": (b"t Q0 d 1 2.5 tag\nt Q0 e 2 1.5\n", f", line 2: {FIELDS} 5 fields"),
    "word.run": (b"t Q0 d 1 x tag\n", f", line 1: {NUMBER} 'x'"),
    "nan.run": (b"t Q0 d 1 nan tag\n", f", line 1: {NUMBER} 'nan'"),
    "twice.run": (b"t Q0 d 1 2 x\nt Q0 d 2 1 x\n", ", line 2: document d is in the list of topic t twice"),
    "judgments.run": (QRELS.encode(), f", line 1: {FIELDS} 4 fields, like qrels; "),
    "truncated.run.gz": (PACKED[:-12], f": {GZIP} (Compressed file ended before the end"),
    "beheaded.run.gz": (PACKED[:6], f": {GZIP} ("),
    "corrupted.run.gz": (PACKED[:20] + b"\x55\xaa\x55" + PACKED[23:], f": {GZIP} ("),
    "checksum.run.gz": (PACKED[:-8] + bytes(8), f": {GZIP} (CRC check failed"),
    "trailing.run.gz": (PACKED + b"garbage", f": {GZIP} ("),
    "garbage.run": (bytes(range(256)) * 9, ": is not plain text: it holds zero bytes"),
    "ragged.csv": (b"topic,document,score\nt,d\n", ", line 2: expected 3 cells, as many as columns, found 2"),
    "broken.jsonl": (b'{"topic": \n', ", line 1: not JSON: "),
    "garbage.parquet": (b"garbage", ": not readable as Parquet: "),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_refused_in_one_line_that_names_it_even_among_good_ones(name):
    content, message = BROKEN[name]
    write(name, content)
    write("good.run", RUN)
    for paths in (name, ["good.run", name]):
        with pytest.raises(FileError) as error:
            read_runs(paths)
        assert str(error.value).startswith(name + message)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("zeros", [0, 3])
def test_members_of_a_gzip_file_are_read_one_after_the_other_with_and_without_zlib_ng(monkeypatch, installed, zeros):
    if not installed:
        monkeypatch.setitem(sys.modules, "zlib_ng.gzip_ng", None)
    member = gzip.compress(RUN.encode())
    write("three.run.gz", member + b"\0" * zeros + gzip.compress(b"") + member)
    assert read_bytes(Path("three.run.gz")) == 2 * RUN.encode()


@pytest.mark.parametrize("name", ["truncated.run.gz", "corrupted.run.gz", "checksum.run.gz", "trailing.run.gz"])
def test_damaged_gzip_is_refused_in_the_same_words_without_zlib_ng(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "zlib_ng.gzip_ng", None)
    content, message = BROKEN[name]
    write(name, content)
    with pytest.raises(FileError) as error:
        read_bytes(Path(name))
    assert str(error.value).startswith(name + message)


def test_a_run_given_as_judgments_is_recognised():
    write("bm25.run", RUN)
    with pytest.raises(FileError) as error:
        read_judgments("bm25.run")
    assert str(error.value) == (
        "bm25.run, line 1: expected 'topic iteration document grade', found 6 fields, like a run; "
        "were runs and judgments swapped? (judgments of TREC RAG: trec-rag:FILE)"
    )


def test_of_several_broken_files_the_first_is_named():
    for name in ("b.run", "a.run"):
        write(name, "x\n")
    for _ in range(5):
        with pytest.raises(FileError, match=r"^b.run, line 1"):
            read_runs(["b.run", "a.run"])


def test_a_folder_is_no_file():
    Path("folder").mkdir()
    with pytest.raises(FileError, match=r"^folder: is a folder; name the files in it, as in 'folder/\*.gz'$"):
        read_bytes(Path("folder"))


def test_a_file_that_may_not_be_read_is_named(monkeypatch):
    write("secret.run", RUN)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(FileError, match=r"^secret.run: cannot be read: permission denied$"):
        read_runs("secret.run")


# ---- recodings


def test_a_recoding_is_read_as_recode_takes_it():
    write("r.toml", '"umbrela-*" = 2\nann = {-2 = 0, "0.5" = 1}\n["*"]\n3 = 2.5\n')
    recoding = read_recoding("r.toml")
    assert recoding == {"umbrela-*": 2, "ann": {-2: 0, 0.5: 1}, "*": {3: 2.5}}
    assert list(recoding) == ["umbrela-*", "ann", "*"]
    write("ann.qrels", "t 0 d -2\nt 0 e 2\n")
    assert read_judgments("ann.qrels").recode({"ann": recoding["ann"]}).value.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ann = 2\nbob =\n", "r.toml, line 2: is not valid TOML: "),
        ('ann = "two"\n', "r.toml: 'ann' must be a threshold, or a table of values such as "),
        ("ann = {x = 1}\n", "r.toml: 'ann' must be a threshold, or a table of values such as "),
        ("ann = [1, 2]\n", "r.toml: 'ann' must be a threshold, or a table of values such as "),
        (b"\xff\xfe", "r.toml: is not valid TOML: "),
    ],
)
def test_what_is_no_recoding_is_refused(text, message):
    write("r.toml", text)
    with pytest.raises(FileError) as error:
        read_recoding("r.toml")
    assert str(error.value).startswith(message)


# ---- what is written


def folder():
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def test_text_and_bytes_are_written_as_they_are():
    write_whole("x.txt", "é\r\n\udcff")
    write_whole(Path("y.bin"), b"\x00\n")
    assert folder() == {"x.txt": b"\xc3\xa9\r\n\xff", "y.bin": b"\x00\n"}


@pytest.mark.parametrize("failing", ["writing", "replacing"])
@pytest.mark.parametrize("before", [{}, {"x.txt": b"old"}])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_half_written(monkeypatch, failing, before):
    for name, content in before.items():
        write(name, content)

    def full(*_):
        raise OSError(28, "No space left on device")

    def pieces():
        yield b"new "
        if failing == "writing":
            full()
        yield b"content"

    with monkeypatch.context() as broken:
        if failing == "replacing":
            broken.setattr(Path, "replace", full)
        with pytest.raises(FileError, match=r"^x.txt: cannot be written: no space left on device$"):
            write_whole("x.txt", pieces())
    assert folder() == before


def test_an_interrupted_write_leaves_nothing_behind_either(monkeypatch):
    write("x.txt", "old")

    def interrupt(path, target):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_whole("x.txt", "new")
    assert folder() == {"x.txt": b"old"}


@pytest.mark.parametrize(
    ("path", "problem"),
    [("none/x.txt", "no such file or directory"), ("file/x.txt", "not a directory"), ("folder", "is a directory")],
)
def test_a_place_that_cannot_be_written_to_is_named(path, problem):
    Path("folder").mkdir()
    write("file", "x")
    with pytest.raises(FileError, match=f"^{path}: cannot be written: {problem}$"):
        write_whole(path, "x")
    assert folder() == {"file": b"x"}


def test_a_link_stays_a_link():
    write("real.txt", "old")
    os.symlink("real.txt", "link.txt")
    write_whole("link.txt", "new")
    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_text() == "new"


def test_a_pipe_is_written_to_and_stays_a_pipe():
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    write_whole("pipe", "through")
    reader.join(10)
    assert read == [b"through"]
    assert Path("pipe").is_fifo()


# ---- real files


def per_assessor(judgments):
    return dict(zip(judgments.assessors, np.bincount(judgments.assessor).tolist(), strict=True))


def test_the_judges_of_dl21_are_read_as_untidy_as_they_are(dl21):
    judgments = read_judgments(dl21 / "judges" / "*.gz")
    assert (len(judgments.assessors), len(judgments.topics), len(judgments.documents)) == (18, 53, 10_824)
    counts = per_assessor(judgments)
    assert counts["umbrela-llama32"] == 43_312
    assert {n for name, n in counts.items() if name.startswith("nuggets")} == {8_956}
    assert judgments.n_repeats() == 43_312 - 10_828
    assert per_assessor(judgments.single())["umbrela-llama32"] == 10_828

    fractional = {
        name for name, scale in zip(judgments.assessors, judgments.scales, strict=True) if scale.kind == "fractions"
    }
    assert len(fractional) == 10
    highest = {name: judgments.value[judgments.assessor == a].max() for a, name in enumerate(judgments.assessors)}
    assert sum(value < 2 for value in highest.values()) == 12
    assert Counter(map(str, judgments.scales)) == {"binary": 3, "0..1": 7, "0..2": 2, "0..5": 1, "0-3": 3, "0-5": 2}
    assert all(
        scale.problem(judgments.value[judgments.assessor == a]) is None for a, scale in enumerate(judgments.scales)
    )

    coverage = judgments.coverage()
    assert [judgments.assessors[a] for a in np.flatnonzero((coverage == 0).any(axis=1))] == ["exam-binary-mean-llama32"]


def test_nist_judged_dl21_and_dl19_on_four_grades(dl21, dl19):
    for collection, n, n_topics in ((dl21, 10_828, 53), (dl19, 9_260, 43)):
        nist = read_judgments({"nist": collection / "qrels.nist.txt"})
        assert (len(nist), len(nist.topics), nist.n_repeats()) == (n, n_topics, 0)
        assert str(nist.scales[0]) == "0-3"
        assert set(nist.value.tolist()) == {0, 1, 2, 3}


@pytest.mark.nightly
@pytest.mark.parametrize(("collection", "n_systems", "n_topics"), [("dl21", 63, 53), ("dl19", 61, 43)])
def test_all_runs_are_read(request, collection, n_systems, n_topics):
    files = request.getfixturevalue(collection) / "runs"
    runs = read_runs(files)
    assert (len(runs.systems), len(runs.topics)) == (n_systems, n_topics)
    with gzip.open(sorted(files.iterdir())[-1]) as last:
        plain = [line.split() for line in last]
    mine = runs.system == n_systems - 1
    assert [runs.documents[d].encode() for d in runs.document[mine]] == [fields[2] for fields in plain]
    assert runs.score[mine].tolist() == [float(fields[4]) for fields in plain]


@pytest.mark.nightly
def test_2395_of_the_3339_lists_of_dl21_have_ties_and_one_run_contradicts_its_ranks(dl21):
    runs = read_runs(dl21 / "runs")
    ranked = runs.ranked()
    assert (int((ranked.lengths > 0).sum()), int(ranked.tied_lists().sum())) == (3_339, 2_395)
    assert runs.rank_contradictions == 53


def test_the_judges_and_people_of_dl19_are_read(dl19):
    judges = read_judgments(dl19 / "judges")
    assert (len(judges.assessors), len(judges.topics)) == (8, 43)
    people = read_judgments(dl19 / "humans" / "main.tsv")
    assert people.assessors == tuple(f"a{i}" for i in range(1, 9))
    assert len(people.topics) == 43
    split = people.select(topics="168216")
    assert sorted(per_assessor(split).values())[:6] == [2, 2, 4, 4, 4, 4]
    together = read_judgments(dl19 / "humans" / "agreement-round.tsv")
    assert (len(together), len(together.topics), len(together.documents)) == (8 * 188, 3, 188)
    assert (together.coverage() == 1).all()


@pytest.mark.nightly
def test_the_crowd_of_rf10_is_read_and_recoded(rf10):
    crowd = read_judgments(rf10 / "trec-rf10-data.txt.gz")
    assert (len(crowd), len(crowd.assessors), len(crowd.topics)) == (98_453, 766, 100)
    assert Counter(crowd.value.tolist()) == {2: 24_928, 1: 36_036, 0: 30_819, -2: 6_670}
    pairs = crowd.topic.astype(np.int64) * len(crowd.documents) + crowd.document
    assert np.unique(pairs).size == 20_232
    _, sizes = np.unique(pairs * 766 + crowd.assessor, return_counts=True)
    assert ((sizes > 1).sum(), crowd.n_repeats()) == (1_489, (sizes - 1).sum())
    recoded = crowd.recode({-2: 0})
    assert Counter(recoded.value.tolist()) == {2: 24_928, 1: 36_036, 0: 30_819 + 6_670}
    assert {str(scale) for scale in (*crowd.scales, *recoded.scales)} == {"0-2"}  # one table, one scale

    slotted = recoded.slots(5)
    plain = Counter(pairs.tolist())
    assert len(slotted) == sum(min(count, 5) for count in plain.values())
    assert {str(scale) for scale in slotted.scales} == {"0-2"}
    assert slotted.panel().values.shape == (20_232, 5)


def test_preferences_are_no_judgments(dl21):
    for name in ("crowd", "gpt4o"):
        with pytest.raises(FileError, match=rf"{name}.txt.gz, line 1: expected "):
            read_judgments(dl21 / "preferences" / f"{name}.txt.gz")


@pytest.mark.nightly
def test_a_real_table_read_by_pandas_gives_the_same_judgments(rf10):
    path = rf10 / "trec-rf10-data.txt.gz"
    frame = pd.read_csv(path, sep="\t", dtype=str)
    judgments = read_judgments(path)
    assert judgments.value.tolist() == frame["label"].astype(float).tolist()
    assert [judgments.documents[d] for d in judgments.document] == frame["docID"].tolist()
    assert [judgments.assessors[a] for a in judgments.assessor] == frame["workerID"].tolist()
