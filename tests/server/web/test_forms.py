"""From bytes to what the assessor wants."""

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.protocols.events import (
    ACTIONS,
    Action,
    AskOrganisers,
    CannotTell,
    Consent,
    GoOn,
    GoTo,
    Judge,
    JudgeLine,
    LookUp,
    MarkBad,
    Postpone,
    Prefer,
    Rate,
    ReadReply,
    Refusal,
    Reply,
    Undo,
)
from qrowd_server.web.forms import MAX_FIELDS, action_of, once, parse_form
from qrowd_server.web.problems import Problem

WANTED: list[tuple[dict[str, str], Action]] = [
    ({"do": "consent", "agreed": "1"}, Consent(True)),
    ({"do": "consent", "agreed": "0"}, Consent(False)),
    ({"do": "consent"}, Consent(False)),
    ({"do": "line", "line": "2", "text": ".5"}, JudgeLine(2, ".5")),
    ({"do": "go_on"}, GoOn()),
    ({"do": "reply", "option": "0"}, Reply(0)),
    ({"do": "judge", "position": "3", "text": "0,5", "reason": "so", "active": "1.5"}, Judge(3, "0,5", "so", 1.5)),
    ({"do": "judge", "position": "3"}, Judge(3, "", "", None)),
    ({"do": "postpone", "position": "1"}, Postpone(1)),
    ({"do": "cannot_tell", "position": "1", "reason": "cut off"}, CannotTell(1, "cut off")),
    ({"do": "go_to", "position": "7"}, GoTo(7)),
    ({"do": "prefer", "pair": "4", "choice": "left"}, Prefer(4, "left")),
    ({"do": "prefer", "pair": "4", "choice": "right", "definitely": "1"}, Prefer(4, "right", True)),
    ({"do": "prefer", "pair": "4", "choice": "duplicates", "active": "2"}, Prefer(4, "duplicates", False, 2.0)),
    ({"do": "bad", "pair": "0", "side": "right"}, MarkBad(0, "right")),
    ({"do": "undo", "pair": "5"}, Undo(5)),
    ({"do": "look_up"}, LookUp()),
    ({"do": "rate", "confidence": "5", "understanding": "1", "comment": "fine"}, Rate(5, 1, "fine")),
    ({"do": "ask_organisers", "message": "Is a list enough?"}, AskOrganisers("Is a list enough?")),
    ({"do": "read_reply", "number": "2"}, ReadReply(2)),
]


@pytest.mark.parametrize(("form", "action"), WANTED)
def test_each_form_asks_for_its_action(form: dict[str, str], action: Action) -> None:
    assert action_of(parse_form(urlencode(form).encode())) == action


def test_there_is_a_form_for_every_action() -> None:
    assert {type(action) for _, action in WANTED} == set(Action.__args__)
    assert {form["do"] for form, _ in WANTED} == set(ACTIONS)


@pytest.mark.parametrize(
    ("form", "code", "field"),
    [
        ({"do": "reply"}, "missing", "option"),
        ({"do": "reply", "option": ""}, "missing", "option"),
        ({"do": "prefer", "pair": "1"}, "missing", "choice"),
        ({"do": "rate", "understanding": "1"}, "missing", "confidence"),
        ({"do": "rate", "confidence": "1"}, "missing", "understanding"),
        ({"do": "judge", "position": "0", "text": "1" * 201}, "long", "text"),
        ({"do": "judge", "position": "0", "text": "1", "reason": "x" * 2001}, "long", "reason"),
        ({"do": "rate", "confidence": "1", "understanding": "1", "comment": "x" * 2001}, "long", "comment"),
    ],
)
def test_what_somebody_left_out_or_wrote_too_long_is_told_beside_the_field(
    form: dict[str, str], code: str, field: str
) -> None:
    with pytest.raises(Refusal) as told:
        action_of(form)
    assert (told.value.code, told.value.field) == (code, field)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"do": ""},
        {"do": "delete"},
        {"do": "judge"},
        {"do": "judge", "position": "-1"},
        {"do": "judge", "position": "1.0"},
        {"do": "judge", "position": "٣"},
        {"do": "judge", "position": "1" * 10},
        {"do": "judge", "position": "1\n"},
        {"do": "prefer", "pair": "1", "choice": "both"},
        {"do": "bad", "pair": "1"},
        {"do": "bad", "pair": "1", "side": "up"},
        {"do": "rate", "confidence": "6", "understanding": "1"},
        {"do": "rate", "confidence": "0", "understanding": "1"},
    ],
)
def test_what_no_page_of_ours_sends_makes_no_sense(form: dict[str, str]) -> None:
    with pytest.raises(Problem) as told:
        action_of(form)
    assert (told.value.status, told.value.code) == (400, "malformed")


@pytest.mark.parametrize(
    "body",
    [
        b"do=judge&do=go_on",
        b"a=%00",
        b"%00=a",
        b"\xff=1",
        b"a=%ff",
        b"&".join(b"f%d=1" % i for i in range(MAX_FIELDS + 1)),
    ],
)
def test_a_body_that_can_be_read_in_two_ways_or_none_is_refused(body: bytes) -> None:
    with pytest.raises(Problem) as told:
        parse_form(body)
    assert told.value.status == 400


@pytest.mark.parametrize("active", ["", "nan", "inf", "-1", "1e300", "soon"])
def test_a_browsers_clock_that_makes_no_sense_says_nothing(active: str) -> None:
    assert action_of({"do": "judge", "position": "0", "active": active}) == Judge(0, "")


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=40), max_size=10))
def test_a_form_arrives_as_it_was_filled_in(form: dict[str, str]) -> None:
    if any("\x00" in text for pair in form.items() for text in pair):
        with pytest.raises(Problem):
            parse_form(urlencode(form, errors="surrogatepass").encode())
    else:
        read = parse_form(urlencode(form).encode())
        assert read == {k: v.replace("\r\n", "\n").replace("\r", "\n") for k, v in form.items()}


def test_two_thousand_characters_are_counted_as_they_are_read() -> None:
    reason = "line\r\n" * 400
    form = parse_form(urlencode({"do": "judge", "position": "0", "reason": reason}).encode())
    assert action_of(form) == Judge(0, "", "line\n" * 400)


@given(st.text(alphabet="ab=&+;%25C3A4é\x00", max_size=30).map(str.encode))
def test_a_form_is_read_as_urllib_reads_it(body: bytes) -> None:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
        expected: object = once(pairs)
    except (Problem, UnicodeDecodeError):
        expected = Problem
    try:
        assert parse_form(body) == expected
    except Problem:
        assert expected is Problem
