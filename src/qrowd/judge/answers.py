"""Reading answers: the value must be the answer, not a digit somewhere in it.

What the server says is read before the text: no answer in time, an error, a refusal, then the finish reason. Reasoning
is never read. The text is read in this order; the first form that it has decides:

1. one JSON object with exactly the keys of the prompt, each once; it may stand alone in a Markdown code fence;
2. where one value is asked for: the value alone, or one line `key: value`; where several: a line `key: value` for each;
3. the last line, if it begins with the prompt's marker and the marker stands nowhere else.

The table of docs/prompts.md says what becomes of which answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import exp, isfinite
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
}
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")  # as in JSON
FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)
WRAPPINGS = ("***", "**", "*", "__", "_", "`", '"')
LEAST_MASS = 0.9
LONGEST_NUMBER = 40  # characters; whatever is longer is no number that a scale has


@dataclass(frozen=True)
class Reading:
    """What an answer says. values : in the order of the keys; empty unless the status is ok. detail : why it is not."""

    status: Status
    values: tuple[float, ...] = ()
    detail: str = ""


class NoValueError(Exception):
    """The text is no value, or none of the scale."""

    def __init__(self, detail: str, status: Status = "unparsable") -> None:
        super().__init__(detail)
        self.status = status


def read_reply(reply: Reply, prompt: Prompt, n: int = 1) -> Reading:
    """The values that a reply gives. n : number of documents of the question, or of its items where it has such."""
    ended = how_it_ended(reply)
    if ended is not None:
        return ended
    text = without_reasoning((reply.text or "").strip())
    if not text:
        return Reading("unparsable", detail="the answer is empty")
    try:
        return Reading("ok", values_of(text, prompt, n))
    except NoValueError as error:
        return Reading(error.status, detail=str(error))


def how_it_ended(reply: Reply) -> Reading | None:
    """The status of a reply that is no complete answer, whatever its text; None where the text decides."""
    reason = (reply.finish_reason or "").strip().lower()
    if reply.timed_out:
        return Reading("timeout", detail=reply.error or "no answer in time")
    if reply.error is not None:
        return Reading("error", detail=reply.error)
    if reply.http_status is not None and not 200 <= reply.http_status < 300:
        return Reading("error", detail=f"HTTP status {reply.http_status}")
    if reply.refusal:
        return Reading("refused", detail="the model refused")
    for status, reasons in ENDINGS.items():
        if reason in reasons:
            return Reading(status, detail=f"finish reason {reason}")
    if reason not in FINISHED:
        return Reading("unparsable", detail=f"finish reason {reason[:40]!r} is not known")
    return None


def without_reasoning(text: str) -> str:
    """The text after one marked block of reasoning at its beginning."""
    if text.startswith("<think>") and text.count("<think>") == text.count("</think>") == 1:
        return text.partition("</think>")[2].strip()
    return text


def unwrapped(text: str) -> str:
    """The text without emphasis, code or quotation marks around all of it."""
    for wrapping in WRAPPINGS:
        if len(text) > 2 * len(wrapping) and text.startswith(wrapping) and text.endswith(wrapping):
            return text[len(wrapping) : -len(wrapping)].strip()
    return text


def values_of(text: str, prompt: Prompt, n: int) -> tuple[float, ...]:
    """The values that the text is; n : as for `read_reply`."""
    keys = prompt.keys(n)
    fence = FENCE.fullmatch(text)
    if text.startswith("{") or fence:
        content = json_object(fence[1] if fence else text)
        if type(content.get(prompt.answer.reason)) is str:
            del content[prompt.answer.reason]
        if not keys or set(content) != set(keys):
            raise NoValueError(f"the keys of the object are not {', '.join(keys) or 'asked for'}")
        return tuple(json_value(content[key], prompt) for key in keys)
    if len(keys) > 1:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) != len(keys):
            raise NoValueError(f"expected {len(keys)} values")
        return tuple(labelled_value(line.strip(), key, prompt) for line, key in zip(lines, keys, strict=True))
    marker = prompt.answer.marker
    if marker is not None and marker.lower() in text.lower():
        last = text.splitlines()[-1].strip()
        if text.lower().count(marker.lower()) > 1 or not last.startswith(marker):
            raise NoValueError(f"{marker!r} does not stand once, at the beginning of the last line")
        return (text_value(unwrapped(last.removeprefix(marker).strip()), prompt),)
    text = unwrapped(text)
    if keys and ":" in text:
        return (labelled_value(text, keys[0], prompt),)
    return (text_value(text, prompt),)


def labelled_value(line: str, key: str, prompt: Prompt) -> float:
    """The value of a line `key: value`."""
    label, colon, value = line.partition(":")
    if not colon or label.strip().lower() != key.lower():
        raise NoValueError("the text is not the answer alone")
    return text_value(unwrapped(value.strip()), prompt)


def json_object(text: str) -> dict[str | None, Any]:
    """The only JSON object of the text."""

    def pairs(content: Sequence[tuple[str | None, Any]]) -> dict[str | None, Any]:
        if len({key for key, _ in content}) < len(content):
            raise NoValueError("a key stands twice in the object")
        return dict(content)

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


def json_value(value: object, prompt: Prompt) -> float:
    if isinstance(value, bool) and prompt.answer.format == "yes_no":
        return float(value)
    if not isinstance(value, str):
        raise NoValueError("the value in the object is no text or number")
    if isinstance(value, JsonNumber) and prompt.answer.format in WORDS:
        raise NoValueError("the value in the object is a number")
    return text_value(value.strip(), prompt)


def text_value(text: str, prompt: Prompt) -> float:
    """The value that the whole text is."""
    words = WORDS.get(prompt.answer.format)
    if words is not None:
        word = text.lower().removesuffix(".")
        if word not in words:
            raise NoValueError("the text is not the answer alone")
        return words[word]
    if not NUMBER.fullmatch(text) or len(text) > LONGEST_NUMBER:
        raise NoValueError("the text is not the answer alone")
    number = float(text)
    if prompt.answer.format == "number":
        valid = isfinite(number) and number > 0
    else:  # 2.00000000000000000001 is not 2
        valid = number in prompt.scale and Decimal(repr(number)) == Decimal(text)
    if not valid:
        raise NoValueError(f"{text} is not a value of the scale", "out_of_scale")
    return number + 0.0  # -0 is 0


def expected_grade(reply: Reply, prompt: Prompt) -> float | None:
    """The mean grade by the probabilities of the token that is the grade.

    None, never 0, where there is no such mean: the answer is not ok or holds several grades, the probabilities are not
    known, the grades have less than .9 of them together, the grade is not one token, or one grade begins another
    (1 and 10), so that the token does not say which is meant.
    """
    reading = read_reply(reply, prompt)
    if prompt.answer.format != "grade" or reading.status != "ok":
        return None
    grades = {f"{grade:g}": grade for grade in prompt.scale}
    if any(first != second and second.startswith(first) for first in grades for second in grades):
        return None
    choices = [choice for choice in reply.tokens if choice.token.strip() in grades]
    if len(choices) != 1 or grades[choices[0].token.strip()] != reading.values[0]:
        return None
    n_digits = sum(character.isdigit() for choice in reply.tokens for character in choice.token)
    if n_digits != sum(character.isdigit() for character in choices[0].token):
        return None
    alternatives = dict(choices[0].alternatives) | {choices[0].token: choices[0].logprob}
    if not all(logprob <= 1e-6 for logprob in alternatives.values()):  # also nan
        return None
    masses = [(grades[token.strip()], exp(p)) for token, p in alternatives.items() if token.strip() in grades]
    mass = sum(probability for _, probability in masses)
    if not LEAST_MASS <= mass <= 1.01:
        return None
    return sum(grade * probability for grade, probability in masses) / mass
