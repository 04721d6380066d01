"""Reading answers: the value must be the answer, not a digit somewhere in it.

What the server says is read before the text: no answer in time, an error, a refusal, then the finish reason. Reasoning
is never read. The text is read in this order; the first form that it has decides:

1. one JSON object with the keys of the prompt, each once, and perhaps an explanation; it may stand in a Markdown code
   fence and after a few set phrases such as "Here is my answer:";
2. where one value is asked for: the value alone, or after its name; where several: a line `key: value` for each;
3. what follows the prompt's marker, if that stands once, on the last line.

The forms are closed lists. A value with other text behind it, or without a marker beside it, is refused, since that
text may take it back. A text without a value that begins as refusals do is a refusal.
The table of docs/prompts.md says what becomes of which answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from qrowd.judge.exchange import Reply, Status
from qrowd.judge.prompts import Prompt

FINISHED = {"", "stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed"}
CUT_OFF = {
    *("length", "max_tokens", "max_output_tokens", "model_length", "max_length"),
    *("model_context_window_exceeded", "context_length_exceeded", "incomplete"),
}
REFUSED = {
    *("content_filter", "content_filtered", "refusal", "safety", "recitation", "blocklist", "prohibited_content"),
    *("spii", "guardrail_intervened", "sensitive", "moderation"),
}
FAILED = {"error", "abort", "aborted", "cancelled", "failed", "insufficient_system_resource"}
ENDINGS: dict[Status, set[str]] = {"error": FAILED, "refused": REFUSED, "cut_off": CUT_OFF}
WORDS = {
    "yes_no": {"yes": 1.0, "no": 0.0},
    "choice": {"a": 1.0, "b": 2.0, "document a": 1.0, "document b": 2.0},
    "outcome": {"a": 1.0, "b": 2.0, "tie": 3.0, "both bad": 4.0},
}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # as in JSON
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
WRAPPINGS = ("***", "**", "*", "__", "_", "`", '"', "'")
BOLD = re.compile(r"(?<!\w)\*\*([^*]+)\*\*(?!\w)")
INVISIBLE = "\ufeff\u200b"  # byte order mark, zero-width space
PREAMBLE = re.compile(  # of an object
    r"(?:(?:sure|certainly|of course|okay)[!.,:]?\s+)?"
    r"(?:(?:here is|here's|here\u2019s) (?:the|my|your) "
    r"(?:json )?(?:answer|grade|judgment|response|output|result|object)[:.]?|(?:final )?answer:|json:?)?\s*(?=\{|```)",
    re.IGNORECASE,
)
EXPLANATIONS = {"reason", "reasoning", "explanation", "rationale", "justification", "comment", "comments"}
QUALIFIERS = {"the", "my", "final", "overall", "relevance", "relevancy"}  # "the final relevance grade"
NOUNS = {  # names of a value that was asked for by another one; "the answer is 2" may answer the query
    "grade": {"grade", "score", "rating", "relevance", "judgment", "judgement", "overall"},
    "yes_no": {"judgment", "judgement"},
    "choice": {"answer", "choice", "preference"},
}
LABELLED = re.compile(r"(?:#+ *)?([^:=\d]{1,40}?)( *[:=] *| is | (?=\d))(\S.*)")
COMMENTED = re.compile(r"(\d+)(?: *\(([a-z ]+)\)| *[:=|] *([a-z ]+)| +[-\u2013\u2014] +([a-z ]+))\.?", re.IGNORECASE)
# words beside a grade that only repeat it: for the lowest, for all but the highest, for those above the middle
NEGATIVE = {"not", "irrelevant", "unrelated"}
WEAK = {"partial", "partially", "partly", "somewhat", "marginally", "slightly"}
STRONG = {"perfect", "perfectly", "high", "highly", "very", "full", "fully", "exact", "complete", "completely"}
COMMENTS = {"relevant", "relevance", "related", "match", "mostly", "fairly", "moderately"} | NEGATIVE | WEAK | STRONG
NEGATION = re.compile(r"\b(?:no|not|never|cannot|can['\u2019]t|won['\u2019]t)(?: \w+){0,2}[ \"'*(]*$", re.IGNORECASE)
REFUSAL = re.compile(  # "I'm sorry, but I can't rate this", "As an AI I am unable to judge it"
    r"(?:(?:(?:i['\u2019]m |i am )?(?:so |very )?sorry|i apologi[sz]e|unfortunately|no)[,.!:]? +(?:but +)?)?"
    r"(?:as an? (?:\w+ ){0,3}?\w+,? +)?i(?:['\u2019]m| am)? "
    r"(?:can(?:not| not|['\u2019]t)|unable to|not able to|won['\u2019]t|will not|(?:must )?decline to)(?: \w+)? "
    r"(?:answer|assess|assist|comply|decide|do|engage|evaluate|fulfil+|give|grade|help|judge|process|provide|rate)\b",
    re.IGNORECASE,
)
LONGEST_PREAMBLE = 100  # characters
LONGEST_VALUE = 60  # characters; whatever is longer is no number that a scale has


@dataclass(frozen=True)
class Reading:
    """What an answer says.

    values : in the order of the keys; empty unless the status is ok. detail : why it is not.
    """

    status: Status
    values: tuple[float, ...] = ()
    detail: str = ""


class NoValueError(Exception):
    """The text is no value, or none of the scale."""

    def __init__(self, detail: str, status: Status = "unparsable") -> None:
        super().__init__(detail)
        self.status = status


def read_reply(reply: Reply, prompt: Prompt, *, n_values: int = 1) -> Reading:
    """The values that a reply gives.

    Parameters
    ----------
    n_values
        How many are asked for where the question decides it: documents of a unit of magnitudes, or items.

    >>> from qrowd.judge import prompt
    >>> from qrowd.judge.exchange import Reply
    >>> read_reply(Reply(text='{"grade": 2}'), prompt("graded"))
    Reading(status='ok', values=(2.0,), detail='')
    >>> read_reply(Reply(text="error 429"), prompt("graded")).status
    'unparsable'
    """
    ended = how_it_ended(reply)
    if ended is not None:
        return ended
    text = answer_text(reply)
    if not text:
        return Reading("unparsable", detail="the answer is empty")
    try:
        values = values_of(text, prompt, n_values)
    except NoValueError as error:
        if error.status == "unparsable" and REFUSAL.match(text):
            return Reading("refused", detail="the text is a refusal")
        return Reading(error.status, detail=str(error))
    return Reading("ok", values)


def stated_reason(reply: Reply, prompt: Prompt) -> str:
    """The reason that an answer with status ok gives beside its value; "" where the prompt asks for none or none is."""
    content = object_text(answer_text(reply))
    if prompt.answer.reason is None or content is None:
        return ""
    reason = json_object(content).get(prompt.answer.reason.lower())
    return reason.strip() if type(reason) is str else ""


def how_it_ended(reply: Reply) -> Reading | None:
    """The status of a reply that is no complete answer, whatever its text; None where the text decides."""
    reason = (reply.finish_reason or "").strip().lower()
    if reply.timed_out:
        return Reading("timeout", detail=reply.error or "no answer in time")
    if reply.error is not None:
        return Reading("error", detail=reply.error)
    if reply.refusal:  # a content filter's has an HTTP status of its own
        return Reading("refused", detail="the model refused")
    if reply.http_status is not None and not 200 <= reply.http_status < 300:
        return Reading("error", detail=f"HTTP status {reply.http_status}")
    for status, reasons in ENDINGS.items():
        if reason in reasons:
            return Reading(status, detail=f"finish reason {reason}")
    if reason not in FINISHED:
        return Reading("unparsable", detail=f"finish reason {reason[:40]!r} is not known")
    return None


def answer_text(reply: Reply) -> str:
    """The text after one marked block of reasoning at its beginning, whose first mark may have stood in the request."""
    text = (reply.text or "").strip()
    opened = text.count("<think>")
    if text.count("</think>") == 1 and (opened == 0 or (opened == 1 and text.startswith("<think>"))):
        text = text.partition("</think>")[2]
    return text.strip().strip(INVISIBLE).strip()


def unwrapped(text: str) -> str:
    """The text without emphasis, code or quotation marks around all of it, or around its parts."""
    text = BOLD.sub(r"\1", text).strip()
    for wrapping in WRAPPINGS:
        if len(text) > 2 * len(wrapping) and text.startswith(wrapping) and text.endswith(wrapping):
            return text[len(wrapping) : -len(wrapping)].strip()
    return text


def values_of(text: str, prompt: Prompt, n_values: int) -> tuple[float, ...]:
    """The values that the text is."""
    keys = tuple(key.lower() for key in prompt.keys(n_values=n_values))
    content = object_text(text)
    if content is not None:
        return object_values(content, prompt, keys)
    if fence := FENCE.fullmatch(text):
        text = fence[1].strip()
    if len(keys) > 1:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) != len(keys):
            raise NoValueError(f"expected {len(keys)} values")
        return tuple(value_of_line(line.strip(), key, prompt) for line, key in zip(lines, keys, strict=True))
    if prompt.answer.marker is not None:
        marker = re.compile(r"(?<!\w)" + re.escape(prompt.answer.marker), re.IGNORECASE)
        if n := len(marker.findall(text)):
            before, *after = marker.split(unwrapped(text.splitlines()[-1].strip()))
            if n > 1 or not after or NEGATION.search(before):
                raise NoValueError(f"{prompt.answer.marker!r} does not stand once, on the last line, as a statement")
            return (text_value(unwrapped(after[0].strip()), prompt),)
    text = unwrapped(text)
    label, colon, value = text.partition(":")
    if colon and plain(label) in keys:
        return (text_value(unwrapped(value.strip()), prompt),)
    named = LABELLED.fullmatch(text)
    if named and is_name(named[1], prompt, sentence=named[2] == " is "):
        return (text_value(unwrapped(named[3].strip()), prompt, integer=True),)
    return (text_value(text, prompt),)


def plain(label: str) -> str:
    """A label in lower case, without marks around it."""
    return label.strip(" \"'`*").lower()


def is_name(label: str, prompt: Prompt, *, sentence: bool = False) -> bool:
    """Whether a text names the value that is asked for: "final score" for a grade.

    sentence : whether it stands in "the grade is 2"; such a sentence may answer the query, unless it names the key.
    """
    *qualifiers, noun = plain(label).replace("_", " ").replace("relevance category", "relevance").split() or [""]
    nouns = set() if sentence else NOUNS.get(prompt.answer.format, set())
    return QUALIFIERS.issuperset(qualifiers) and (noun in nouns or noun == (prompt.answer.key or "").lower() != "")


def value_of_line(line: str, key: str, prompt: Prompt) -> float:
    """The value of a line `key: value`."""
    label, colon, value = unwrapped(line.removeprefix("- ")).partition(":")
    if not colon or plain(label) != key:
        raise NoValueError("the text is not the answer alone")
    return text_value(unwrapped(value.strip()), prompt)


def object_values(text: str, prompt: Prompt, keys: tuple[str, ...]) -> tuple[float, ...]:
    """The values of an object, which may hold an explanation beside them."""
    content = json_object(text)
    explanations = EXPLANATIONS | ({prompt.answer.reason.lower()} if prompt.answer.reason else set())
    content = {
        key: value
        for key, value in content.items()
        if key in keys or not (key == "confidence" or (key in explanations and type(value) is str))
    }
    if keys and set(content) == set(keys):
        return tuple(json_value(content[key], prompt) for key in keys)
    if len(keys) <= 1 == len(content) and is_name(next(iter(content)), prompt):
        return (json_value(next(iter(content.values())), prompt, integer=True),)
    raise NoValueError(f"the keys of the object are not {', '.join(keys) or 'asked for'}")


def object_text(text: str) -> str | None:
    """The object that an answer is, without a code fence and a set phrase before it; None where it is none."""
    preamble = PREAMBLE.match(text[:LONGEST_PREAMBLE])
    text = text[preamble.end() :] if preamble else text
    if fence := FENCE.fullmatch(text):
        text = fence[1].strip()
    return text.removesuffix(".") if text.startswith("{") else None


def json_object(text: str) -> dict[str, Any]:
    """The only JSON object of the text, by keys in lower case; its quotation marks may be single ones."""

    def pairs(content: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        lowered = {key.strip().lower(): value for key, value in content}
        if len(lowered) < len(content):
            raise NoValueError("a key stands twice in the object")
        return lowered

    text = re.sub(r",\s*\}$", "}", text if '"' in text else text.replace("'", '"'))
    try:
        content = json.loads(
            text, object_pairs_hook=pairs, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber
        )
    except (ValueError, RecursionError):
        raise NoValueError("the text is not one JSON object") from None
    if not isinstance(content, dict):
        raise NoValueError("the text is not one JSON object")
    return content


class JsonNumber(str):
    """A number as it is written."""

    __slots__ = ()


def json_value(value: object, prompt: Prompt, *, integer: bool = False) -> float:
    """The value that an entry of an object is; integer : as for `text_value`."""
    if isinstance(value, bool) and prompt.answer.format == "yes_no":
        return float(value)
    if not isinstance(value, str):
        raise NoValueError("the value in the object is no text or number")
    if isinstance(value, JsonNumber) and prompt.answer.format in WORDS:
        raise NoValueError("the value in the object is a number")
    return text_value(value.strip(), prompt, integer=integer)


def text_value(text: str, prompt: Prompt, *, integer: bool = False) -> float:
    """The value that the whole text is.

    integer : whether only a whole number is read: under a name that was not asked for, 1.0 may be on another scale.
    """
    if len(text) > LONGEST_VALUE:
        raise NoValueError("the text is not the answer alone")
    words = WORDS.get(prompt.answer.format)
    if words is not None:
        word = text.lower().removesuffix(".")
        if word not in words:
            raise NoValueError("the text is not the answer alone")
        return words[word]
    if prompt.answer.format in ("grade", "grades"):
        text = without_comment(text, prompt.scale)
    text = text.removesuffix(".")
    if not NUMBER.fullmatch(text) or (integer and not text.lstrip("-").isdigit()):
        raise NoValueError("the text is not the answer alone")
    number = float(text)
    if prompt.answer.format == "number":
        valid = isfinite(number) and number > 0
    else:  # 2.00000000000000000001 is not 2
        valid = number in prompt.scale and Decimal(repr(number)) == Decimal(text)
    if not valid:
        raise NoValueError(f"{text} is not a value of the scale", "out_of_scale")
    return number + 0.0  # -0 is 0


def without_comment(text: str, scale: Sequence[float]) -> str:
    """The number of "2 (partly relevant)": words that only repeat a grade are left out, unless they contradict it."""
    match = COMMENTED.fullmatch(text)
    if not match:
        return text
    words, grade = set((match[2] or match[3] or match[4]).lower().split()), float(match[1])
    contradicted = (
        bool(words & NEGATIVE) != (grade == scale[0])
        or (words & WEAK and grade == scale[-1])
        or (words & STRONG and grade <= (scale[0] + scale[-1]) / 2 and not words & NEGATIVE)
    )
    return match[1] if words <= COMMENTS and not contradicted else text
