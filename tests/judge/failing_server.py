"""A server that fails in every way that a model's server has been seen to fail, and what each failure must become.

The text of a document names its case and the grade that a person would read in the answer, as in "case ten grade 2
number 17".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from judge.model_server import (
    CONTENT_FILTER,
    CUT_OFF,
    EMPTY_CHOICES,
    HALF,
    HANG,
    HTML,
    NULL,
    REFUSAL,
    RESET,
    TRUNCATED,
    Response,
    changed,
    completion,
    problem,
)

MARKER = "##final score:"
PROMPT = f"""
id = "scored"
version = "1"
source = "test"
licence = "CC0-1.0"
form = "graded"
scale = [0, 1, 2, 3]
user = '''
Query: {{topic}}
{{documents}}
Say why. Then end with "{MARKER} G".
'''

[answer]
format = "grade"
marker = "{MARKER}"
"""
PLACE = re.compile(r"case (\w+) grade (\d) number (\d+)")


@dataclass(frozen=True)
class Case:
    """How the server answers a question, and what must become of it.

    respond : the response to the nth attempt, from 0, at a question with this grade. status : in the end.
    """

    respond: Callable[[int, int], Response]
    status: str = "ok"


def said(form: str, status: str = "ok", **fields: Any) -> Case:
    """An answer with this text, in which @ is the grade."""
    return Case(lambda n, grade: completion(form.replace("@", str(grade)), **fields), status)


def always(response: Response, status: str = "error") -> Case:
    return Case(lambda n, grade: response, status)


def once(response: Response, times: int = 1) -> Case:
    """This response first, then the answer."""
    return Case(lambda n, grade: response if n < times else completion(str(grade)))


def used(**usage: Any) -> Case:
    """An answer with these counts of tokens."""
    return Case(lambda n, grade: changed(completion(str(grade)), usage=usage))


def body(**fields: Any) -> Response:
    return changed(completion("2"), **fields)


def choice(**fields: Any) -> Response:
    return body(choices=[{"index": 0, "finish_reason": "stop", **fields}])


ANSWERED = {
    "plain": said("@"),
    "object": said('{"grade": @}'),
    "fenced": said('```json\n{"grade": @}\n```'),
    "bold": said("**Grade:** @"),
    "named": said("Final grade: @."),
    "last_line": said(f"It has 3 of 7 facts.\n{MARKER} @"),
    "end_of_line": said(f"The passage does not say all of it, so {MARKER} @"),
    "bold_end_of_line": said(f"**So {MARKER} @**"),
    "thoughts": said("<think>1 or 2?</think>@"),
    "parts": Case(lambda n, grade: completion([{"type": "text", "text": str(grade)}])),
    "no_usage": Case(lambda n, grade: completion(str(grade), usage=False)),
    "negative_usage": used(prompt_tokens=-(10**18), completion_tokens=-1),
    "absurd_usage": used(prompt_tokens=10**18, completion_tokens=10**30),
    "wrong_usage": used(prompt_tokens="7", completion_tokens=[1]),
    "slow": Case(lambda n, grade: replace(completion(str(grade)), delay=0.2)),
    "limited_once": once(problem(429)),
    "limited_with_wait": once(problem(429, retry_after="0.2")),
    "limited_until_a_date": once(problem(429, retry_after="Mon, 23 Nov 2026 12:00:09 GMT")),
    "broken_once": once(HTML),
    "failed_once": once(problem(500)),
    "failed_three_times": once(problem(500), 3),
    "overloaded_once": once(problem(503)),
    "gateway_once": once(problem(502)),
    "timeout_once": once(problem(408)),
    "closed_once": once(RESET),
    "half_once": once(HALF),
    "silent_once": once(HANG),
}
UNREAD = {
    "half_grade": said("2.5", "out_of_scale"),
    "ten": said("10", "out_of_scale"),
    "negative": said("-1", "out_of_scale"),
    "scaled_marker": said(f"So {MARKER} 7", "out_of_scale"),
    "range": said("1-2", "unparsable"),
    "two_answers": said(f"{MARKER} 1\n{MARKER} 2", "unparsable"),
    "taken_back": said(f"{MARKER} 2\nBut it is a 1.", "unparsable"),
    "denied": said(f"This is not {MARKER} 3", "unparsable"),
    "year": said("It is of 2024.", "unparsable"),
    "error_in_text": said("error 429", "unparsable"),
    "page_in_text": said("<html><body>2</body></html>", "unparsable"),
    "long_text": said("It has 3 facts. " * 6_000, "unparsable"),
    "null": always(NULL, "unparsable"),
    "empty": said("", "unparsable"),
    "blank": said(" \n", "unparsable"),
    "number": always(choice(message={"role": "assistant", "content": 2}), "unparsable"),
    "content_object": always(choice(message={"role": "assistant", "content": {"grade": 2}}), "unparsable"),
    "tool": said("2", "unparsable", finish="tool_calls"),
    "cut_off": always(CUT_OFF, "cut_off"),
    "filtered": always(CONTENT_FILTER, "refused"),
    "filtered_request": always(problem(400, code="content_filter"), "refused"),
    "refused": always(REFUSAL, "refused"),
    "refused_in_words": said("Sorry, as an AI I can not judge this.", "refused"),
}
FAILED = {
    **{f"status_{status}": always(problem(status)) for status in (400, 403, 404, 408, 409, 413, 422, 500, 501)},
    "redirect": always(Response(status=302, headers={"location": "http://127.0.0.1:9/v1"})),
    "no_content": always(Response(status=204)),
    "page": always(HTML),
    "truncated": always(TRUNCATED),
    "text": always(Response(b"2")),
    "list": always(Response(b"[2]")),
    "deep": always(Response(b"[" * 200_000)),
    "binary": always(Response(bytes(range(256)))),
    "bodiless": always(Response()),
    "no_choices": always(EMPTY_CHOICES),
    "null_choices": always(body(choices=None)),
    "choices_object": always(body(choices={"0": "2"})),
    "choices_of_text": always(body(choices=["2"])),
    "no_message": always(choice()),
    "message_of_text": always(choice(message="2")),
    "error_object": always(body(error={"message": "overloaded", "code": 500})),
    "error_text": always(body(error="no")),
    "huge": always(Response(b" " * (17 * 2**20))),
    "closed": always(RESET),
    "half": always(HALF),
    "silent": always(HANG, "timeout"),
    "trickle": always(replace(completion("2"), pace=0.4), "timeout"),
}
CASES = ANSWERED | UNREAD | FAILED


def text_of(number: int) -> str:
    """The document of a question; the cases take turns, and each grade comes with each case."""
    name, grade = list(CASES)[number % len(CASES)], number // len(CASES) % 4
    return f"case {name} grade {grade} number {number}"


def expected(number: int) -> tuple[str, tuple[float, ...]]:
    """(status, values) of a question, whatever happened meanwhile; errors and timeouts are "failed"."""
    name, grade, _ = PLACE.search(text_of(number)).groups()  # type: ignore[union-attr]
    status = CASES[name].status
    return shown(status), (float(grade),) if status == "ok" else ()


def shown(status: str) -> str:
    """A status; whether a slow machine sends a large body within a second is not the point here."""
    return "failed" if status in ("error", "timeout") else status


class Failing:
    """The script of such a server. asked : {number: how often}."""

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()

    def __call__(self, n: int, request: dict[str, Any]) -> Response:
        place = PLACE.search(json.dumps(request["messages"][-1]["content"]))
        assert place is not None
        name, grade, number = place[1], int(place[2]), int(place[3])
        self.asked[number] += 1
        return CASES[name].respond(self.asked[number] - 1, grade)
