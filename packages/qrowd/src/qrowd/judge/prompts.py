"""Prompts as data: what a model is asked, in which form it answers, and what of the answer is the judgment.

A prompt is a TOML file; those of qrowd stand in the folder `prompts`, all in qrowd's own words. A published text stays
in its own file, which the TOML file names with its hash.

docs/prompts.md describes the keys of a file and the placeholders of its templates.

The delimiters hold a hash of the documents' texts: no document can know it, and the same question stays the same
request. Where a document holds something like a delimiter, its "<" becomes "‹".
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache, cached_property
from itertools import count
from math import isfinite
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, get_args

from qrowd.errors import ArgumentError, FileError
from qrowd.files import parse_toml, read_bytes
from qrowd.judge.exchange import Message

Form = Literal["graded", "binary", "magnitude", "preference", "nuggets", "exam"]
AnswerFormat = Literal["grade", "grades", "yes_no", "number", "choice", "outcome"]
CHOICES = {"yes_no": ["yes", "no"], "choice": ["A", "B"], "outcome": ["A", "B", "tie", "both bad"]}
ITEMIZED = ("nuggets", "exam")
FORMATS: dict[str, tuple[AnswerFormat, ...]] = {
    "graded": ("grade", "grades"),
    "binary": ("yes_no", "grade"),
    "magnitude": ("number",),
    "preference": ("choice", "outcome"),
    "nuggets": ("grades",),
    "exam": ("grades",),
}
LABELS = {"magnitude": None, "preference": ("A", "B")}  # of documents; None: numbers; the only one has none
PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
OPTIONAL = ("description", "narrative")


@dataclass(frozen=True)
class Answer:
    """The form of an answer.

    format : "grade", one value of the scale; "grades", one for each item; "yes_no"; "number", one above 0 for each
    document; "choice", A or B; "outcome", also a tie or both bad. key : of the JSON object with one value.
    items : its keys where there are several (default: "1", "2", ...). marker : the last line may be this followed by
    the value, after text that is not read.
    reason : a key of the JSON object for text that is not read. judgment : which of several values is the judgment: an
    item, or their "mean" or "max".
    """

    format: AnswerFormat
    key: str | None = None
    items: tuple[str, ...] = ()
    marker: str | None = None
    reason: str | None = None
    judgment: str | None = None


@dataclass(frozen=True)
class Prompt:
    """What a model is asked.

    id, version : name it. source, licence, notice : whose words they are. form : kind of question. scale : grades from
    low to high; empty for numbers and choices. system, user : templates. parameters : sent with each request.
    delimiters : whether documents stand between delimiters; a text that does not speak of them is sent without.
    """

    id: str
    version: str
    source: str
    licence: str
    form: Form
    user: str
    answer: Answer
    scale: tuple[float, ...] = ()
    system: str | None = None
    notice: str | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    delimiters: bool = True

    @cached_property
    def sha256(self) -> str:
        """Of all its content; comments and layout of its file do not count."""
        content = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def messages(
        self, topic: str | Mapping[str, str | None], documents: Sequence[str], *, items: Sequence[str] | None = None
    ) -> tuple[Message, ...]:
        """The messages that ask about these documents.

        Parameters
        ----------
        topic
            Its text, or its texts by name: topic, description, narrative.
        documents
            Texts in the order in which they are shown: one; two, A first, for a preference; any number for
            magnitudes.
        items
            Nuggets, exam questions or criteria.

        Raises
        ------
        ArgumentError
            An empty text, or another number of documents or items than the form takes.
        """
        items = items or ()
        texts = {"topic": topic} if isinstance(topic, str) else dict(topic)
        if not (texts.get("topic") or "").strip():
            raise ArgumentError("topic: its text is missing; nothing can be asked without it")
        if isinstance(documents, str):
            raise ArgumentError("documents: expected a list of texts, found one text")
        expected = {"magnitude": "1 or more", "preference": "2"}.get(self.form, "1")
        if not documents or (expected != "1 or more" and len(documents) != int(expected)):
            raise ArgumentError(f"documents: prompt {self.id!r} takes {expected}, found {len(documents)}")
        for number, text in enumerate(documents, 1):
            if not text.strip():
                raise ArgumentError(f"documents: the text of document {number} is missing")
        if (self.form in ITEMIZED) != bool(items):
            raise ArgumentError(
                f"items: prompt {self.id!r} takes {'at least one' if self.form in ITEMIZED else 'none'}, "
                f"found {len(items)}"
            )
        values = {
            **{name: texts.get(name) or None for name in ("topic", *OPTIONAL)},
            "documents": delimited(documents, LABELS.get(self.form, ("",))) if self.delimiters else documents[0],
            "items": "\n".join(f"{number}. {text}" for number, text in enumerate(items, 1)),
            "n": str(len(items) or len(documents)),
        }
        templates = [("system", self.system), ("user", self.user)]
        return tuple(Message(role, filled(template, values)) for role, template in templates if template)

    def keys(self, *, n_values: int = 1) -> tuple[str, ...]:
        """The keys of the JSON object that hold the values, in order.

        Parameters
        ----------
        n_values
            How many are asked for where the question decides it: documents of a unit of magnitudes, or items.
        """
        if self.answer.items:
            return self.answer.items
        if self.answer.format in ("grades", "number"):
            return tuple(str(number) for number in range(1, n_values + 1))
        return () if self.answer.key is None else (self.answer.key,)

    def schema(self, *, n_values: int = 1) -> dict[str, Any] | None:
        """JSON schema of the answer; None where it is text. Parameters: those of `keys`.

        >>> prompt("binary").schema()["properties"]
        {'relevant': {'type': 'string', 'enum': ['yes', 'no']}}
        """
        value: dict[str, Any] = {"type": "number"}
        if self.answer.format in CHOICES:
            value = {"type": "string", "enum": CHOICES[self.answer.format]}
        elif self.answer.format != "number":
            integers = all(grade == int(grade) for grade in self.scale)
            grades = [int(grade) if integers else grade for grade in self.scale]
            value = {"type": "integer" if integers else "number", "enum": grades}
        keys = self.keys(n_values=n_values)
        if not keys:
            return None
        reason = {} if self.answer.reason is None else {self.answer.reason: {"type": "string"}}
        properties = {**reason, **{key: dict(value) for key in keys}}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    def judgment(self, values: Sequence[float]) -> float:
        """The one value of several that is the judgment, as `answer.judgment` says.

        >>> prompt("nuggets").judgment((2, 1, 0, 0))
        0.75
        """
        if self.answer.judgment == "mean":
            return sum(values) / len(values)
        if self.answer.judgment == "max":
            return max(values)
        return values[self.answer.items.index(self.answer.judgment)] if self.answer.judgment else values[0]


AnyPrompt = Prompt | str


def filled(template: str, values: Mapping[str, str | None]) -> str:
    """The template with its values put in once: what stands in a value is never read as a placeholder."""
    lines = [
        line
        for line in template.strip().splitlines()
        if all(values.get(name) is not None for name in PLACEHOLDER.findall(line) if name in OPTIONAL)
    ]
    return PLACEHOLDER.sub(lambda match: values[match[1]] or "", "\n".join(lines))


def delimited(documents: Sequence[str], labels: Sequence[str] | None = None) -> str:
    """The documents between delimiters that no document can hold. labels : 1, 2, ... by default."""
    digest = hashlib.sha256()
    for text in documents:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(content) + content)
    nonce = digest.hexdigest()[:12]
    blocks = []
    for label, text in zip(labels or count(1), documents, strict=False):
        name = f"document {label} {nonce}".replace("  ", " ")
        safe = re.sub(r"<(?=[\s/]*document\b)", "‹", text, flags=re.IGNORECASE).replace(nonce, "-" * len(nonce))
        blocks.append(f"<{name}>\n{safe.strip()}\n</{name}>")
    return "\n\n".join(blocks)


def prompt(name: str | PathLike[str]) -> Prompt:
    """A prompt of qrowd by its id, or one of the user by the path of its TOML file.

    >>> prompt("graded").scale
    (0.0, 1.0, 2.0, 3.0)

    Raises
    ------
    ArgumentError
        A name that is neither a prompt of qrowd nor ends in .toml.
    FileError
        A file that is missing or no prompt; names the key.
    """
    if not isinstance(name, str) or name.endswith(".toml"):
        return parse_prompt(read_bytes(Path(name)), fspath(name))
    ids = [entry.id for entry in built_in_prompts()]
    if name not in ids:
        raise ArgumentError(
            f"prompt {name!r}: choose one of {', '.join(ids)}, or the path of a file that ends in .toml"
        )
    return built_in_prompts()[ids.index(name)]


def prompts_of(prompts: AnyPrompt | Sequence[AnyPrompt]) -> tuple[Prompt, ...]:
    """Prompts from their names or files, or as they are; of one or several."""
    several: Any = prompts if isinstance(prompts, list | tuple) else [prompts]
    return tuple(one if isinstance(one, Prompt) else prompt(one) for one in several)


@cache
def built_in_prompts() -> tuple[Prompt, ...]:
    """The prompts that qrowd brings, by id.

    >>> [one.id for one in built_in_prompts()][:3]
    ['aspects', 'binary', 'exam']
    """
    from importlib import resources

    folder = resources.files("qrowd.judge").joinpath("prompts")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(parse_prompt(file.read_bytes(), file.name) for file in files)


def parse_prompt(content: bytes, path: str) -> Prompt:
    """The prompt that a TOML text describes.

    Raises
    ------
    FileError
        Naming the file and the key.
    """
    table = parse_toml(content, path)
    answer_table = table.get("answer")
    if not isinstance(answer_table, dict):
        raise FileError(path, "answer: expected a table [answer] with format and key")
    check_keys(path, table, "", ("id", "version", "source", "licence", "form"), PROMPT_KEYS)
    table = {**table, "user": template_of(path, table)}
    check_keys(path, answer_table, "answer.", ("format",), ANSWER_KEYS)
    check_word(path, "form", table["form"], get_args(Form))
    check_word(path, "answer.format", answer_table["format"], FORMATS[table["form"]])
    answer = Answer(**{**answer_table, "items": tuple(answer_table.get("items", ()))})
    scale = (0.0, 1.0) if answer.format == "yes_no" else tuple(float(grade) for grade in table.get("scale", ()))
    result = Prompt(
        **{
            **{key: value for key, value in table.items() if key in {one.name for one in fields(Prompt)}},
            "answer": answer,
            "scale": scale,
        }
    )
    check_templates(path, result)
    check_answer(path, result, "scale" in table)
    return result


def template_of(path: str, table: Mapping[str, Any]) -> str:
    """The text of the user's message: `user`, or that of `user_file` with the names of its `placeholders` replaced."""
    if ("user" in table) == ("user_file" in table):
        raise FileError(path, "user: expected the text in user, or the name of its file in user_file")
    for key in ("user_sha256", "placeholders"):
        if key in table and "user" in table:
            raise FileError(path, f"{key}: only a text in user_file takes it; remove it")
    if "user" in table:
        return str(table["user"])
    file = Path(path).parent / table["user_file"]
    try:
        content = file.read_bytes()
        text = content.decode("utf-8")
    except OSError as error:
        raise FileError(path, f"user_file: {file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FileError(path, f"user_file: {file} is not UTF-8") from None
    digest = hashlib.sha256(content).hexdigest()
    if table.get("user_sha256", digest) != digest:
        raise FileError(path, f"user_sha256: {file} is another text; its SHA-256 is {digest}")
    names = table.get("placeholders", {})
    for name, ours in names.items():
        check_word(path, f"placeholders.{name}", ours, ("topic", *OPTIONAL, "documents", "items", "n"))
    return PLACEHOLDER.sub(lambda match: f"{{{names.get(match[1], match[1])}}}", text)


PROMPT_KEYS: dict[str, type] = {
    **dict.fromkeys(("id", "version", "source", "licence", "form", "user", "system", "notice"), str),
    **dict.fromkeys(("user_file", "user_sha256"), str),
    **dict.fromkeys(("answer", "parameters", "placeholders"), dict),
    "scale": list,
    "delimiters": bool,
}
ANSWER_KEYS: dict[str, type] = {
    **dict.fromkeys(("format", "key", "marker", "reason", "judgment"), str),
    "items": list,
}


def check_keys(
    path: str, table: Mapping[str, Any], prefix: str, required: tuple[str, ...], types: Mapping[str, Any]
) -> None:
    """Refuse a key that is missing, not known, or of the wrong type."""
    for key in required:
        if key not in table:
            raise FileError(path, f"{prefix}{key} is missing")
    for key, value in table.items():
        if key not in types:
            raise FileError(path, f"{prefix}{key} is not a key of a prompt; choose from {', '.join(types)}")
        kind = {str: "a text", list: "a list", dict: "a table", bool: "true or false"}[types[key]]
        if not isinstance(value, types[key]) or (types[key] is str and not value.strip()):
            raise FileError(path, f"{prefix}{key}={value!r}: expected {kind}{' in quotes' if kind == 'a text' else ''}")
        if key == "scale" and not all(type(grade) in (int, float) and isfinite(grade) for grade in value):
            raise FileError(path, f"scale={value!r}: expected numbers from low to high")
        if key == "items" and not all(isinstance(item, str) and item for item in value):
            raise FileError(path, f"{prefix}items={value!r}: expected texts in quotes")


def check_word(path: str, key: str, word: str, words: Sequence[str]) -> None:
    """Refuse a word that is none of the words that a key takes."""
    if word not in words:
        raise FileError(path, f"{key}={word!r}: choose one of {', '.join(words)}")


def check_templates(path: str, prompt: Prompt) -> None:
    """Refuse unknown placeholders and missing ones."""
    needed = ("topic", "documents", *(("items",) if prompt.form in ITEMIZED else ()))
    names = (*needed, *OPTIONAL, "n")
    for key, template in (("system", prompt.system or ""), ("user", prompt.user)):
        for name in PLACEHOLDER.findall(template):
            if name not in names:
                choices = ", ".join(f"{{{word}}}" for word in names)
                raise FileError(path, f"{key}: placeholder {{{name}}} is not one of {choices}")
    for name in needed:
        if name not in PLACEHOLDER.findall(prompt.user):
            raise FileError(path, f"user: placeholder {{{name}}} is missing")


def check_answer(path: str, prompt: Prompt, has_scale: bool) -> None:
    """Refuse an answer whose values or keys are not clear."""
    answer, scale = prompt.answer, prompt.scale
    graded = answer.format in ("grade", "grades")
    if graded and (len(scale) < 2 or list(scale) != sorted(set(scale))):
        raise FileError(path, "scale: expected two or more numbers from low to high, such as [0, 1, 2, 3]")
    if not prompt.delimiters and prompt.form in ("magnitude", "preference"):
        raise FileError(path, f"delimiters: the form {prompt.form} asks about several documents and needs them")
    if has_scale and not graded:
        raise FileError(path, f"scale: answers of format {answer.format!r} take none; remove it")
    if prompt.form == "binary" and scale != (0, 1):
        raise FileError(path, "scale: the form binary takes [0, 1]")
    several = answer.format == "grades"
    if answer.items and (not several or prompt.form in ITEMIZED):
        raise FileError(path, "answer.items: only the form graded with answer.format = 'grades' takes named items")
    if several and prompt.form == "graded" and not answer.items:
        raise FileError(path, "answer.items is missing: name the aspects that are graded")
    if several:
        check_word(path, "answer.judgment", answer.judgment or "", (*answer.items, "mean", "max"))
    elif answer.judgment is not None:
        raise FileError(path, "answer.judgment: only answers with several grades take it; remove it")
    for key in ("key", "marker"):
        if answer.format in ("grades", "number") and getattr(answer, key) is not None:
            raise FileError(path, f"answer.{key}: answers of format {answer.format!r} take none; remove it")
    try:
        json.dumps(prompt.parameters, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise FileError(path, f"parameters: {error}; expected numbers, texts, true, false, lists and tables") from None
    keys = [*answer.items, *([answer.key] if answer.key else []), *([answer.reason] if answer.reason else [])]
    if len({key.lower() for key in keys}) < len(keys):
        raise FileError(path, f"answer: the keys {', '.join(keys)} must differ")
