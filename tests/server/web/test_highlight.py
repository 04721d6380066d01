"""The topic's words are marked in every form, and nothing else changes."""

import re
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from qrowd_server.web.document_pages import SAME_START, STEMMERS, mark, stem, stemmer_of, terms


def unmarked(html: str) -> str:
    return re.sub("</?mark>", "", html)


@given(st.text(max_size=80), st.text(max_size=30))
def test_without_its_marks_the_text_is_what_it_was(text: str, title: str) -> None:
    escaped = escape(text)
    assert unmarked(mark(escaped, title).html) == escaped


@given(st.lists(st.sampled_from(["leaves", "bird", "birds", "cold", "leaving", "tree"]), max_size=10))
def test_counts_say_how_many_marks_there_are(words: list[str]) -> None:
    found = mark(" ".join(words), "birds leave")
    assert dict(found.counts) == {
        "birds": sum(word.startswith("bird") for word in words),
        "leave": sum(word.startswith("leav") for word in words),
    }
    assert found.html.count("<mark>") == sum(n for _, n in found.counts)


def test_a_word_is_found_in_capitals_and_in_other_forms() -> None:
    assert mark("SWALLOW swallowed swallows' shallow", "swallows").html == (
        "<mark>SWALLOW</mark> <mark>swallowed</mark> <mark>swallows</mark>' shallow"
    )


WORDS = st.from_regex(r"[A-Za-z]{1,9}(ing|ed|s|ies|ly|ness|er)?", fullmatch=True) | st.sampled_from(
    ["skis", "skies", "dying", "lying", "tying", "idly", "news", "succeed", "Yes", "İ", "ﬁ", "Ä"]
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=4), st.sampled_from(SAME_START))
def test_words_with_another_first_letter_need_no_stem(words: list[str], title: list[str], language: str) -> None:
    found = mark(" ".join(words), " ".join(title), language)
    marked = {stem(word, language) for word in title} & set(terms(" ".join(title), language))
    assert found.html.count("<mark>") == sum(stem(word, language) in marked for word in words)


def test_tags_and_entities_are_never_marked() -> None:
    html = "<p>amp &amp; &#x27; x27 <code>code</code></p>"
    assert mark(html, "amp code x27").html == (
        "<p><mark>amp</mark> &amp; &#x27; <mark>x27</mark> <code><mark>code</mark></code></p>"
    )


def test_words_that_say_nothing_are_not_marked_unless_there_is_nothing_else() -> None:
    assert list(terms("what is the cause of it").values()) == ["cause"]
    assert list(terms("who is who").values()) == ["who", "is"]


def test_a_language_has_its_own_forms() -> None:
    assert stemmer_of("de-CH") == "german"
    assert "<mark>Vogel</mark>" in mark("Der Vogel fliegt", "Vögel im Herbst", "german").html
    assert stemmer_of("") == "english"


def test_an_unknown_language_marks_words_as_they_are() -> None:
    assert stemmer_of("xx") == ""
    assert mark("birds bird", "Bird", "").html == "birds <mark>bird</mark>"


def test_every_stemmer_listed_exists() -> None:
    assert all(isinstance(stem("autumn", name), str) for name in STEMMERS)


@given(st.text(alphabet="abT &;<>p_", max_size=60), st.text(alphabet="abT ", max_size=12))
def test_marks_are_those_of_a_search_that_looks_at_each_word_by_itself(text: str, title: str) -> None:
    html = escape(text, quote=False)
    stems = terms(title)
    counts = dict.fromkeys(stems, 0)

    def marked(match: re.Match[str]) -> str:
        word = match[0]
        if word[0] in "<&" or stem(word) not in stems:
            return word
        counts[stem(word)] += 1
        return f"<mark>{word}</mark>"

    html_marked = re.sub(r"<[^<>]*>|&#?\w+;|[^\W_]+", marked, html)
    found = mark(html, title)
    assert found.html == html_marked
    assert found.counts == tuple((word, counts[stemmed]) for stemmed, word in stems.items())
