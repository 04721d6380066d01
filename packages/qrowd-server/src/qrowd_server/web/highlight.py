"""The words of a topic's title, marked where a document says them, as they are or in another form of the same stem.

Forms are found by Snowball's stemmers. Words that say nothing of the topic ("the", "what") are not marked.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import cache, lru_cache

import snowballstemmer  # type: ignore[import-untyped]

STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "et": "estonian",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
UNTOLD = frozenset(
    re.findall(
        r"\w+",
        "a about an and are as at be by can do does did for from had has have how i in into is it its me my of on "
        "or our should so than that the their them there these this those to us was we were what when where which who "
        "whom why will with would you your not no but if",
    )
)
WORD = re.compile(r"(<[^<>]*+>|&#?\w++;|[^\W_]++)")
WORD_OF_ASCII = re.compile(r"(<[^<>]*+>|&#?[0-9A-Za-z_]++;|[0-9A-Za-z]++)")  # the same there, in two thirds of the time
AT_ONCE = 4096  # words; until they are found, no other thread has a turn
LONGEST = 60  # letters of a word that has other forms
_stemming = threading.Lock()  # a Snowball stemmer holds the word it works on


@dataclass(frozen=True)
class Marked:
    """Harmless HTML with `<mark>` around the topic's words, and how often each of them was found."""

    html: str
    counts: tuple[tuple[str, int], ...] = ()


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str = "english") -> str:
    """What all forms of a word have in common; the word in lower case where the language is not known."""
    if language not in STEMMERS.values() or len(word) > LONGEST:
        return word.lower()
    with _stemming:
        return str(_stemmer(language).stemWord(word.lower()))


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(language)


def stemmer_of(tag: str) -> str:
    """The stemmer for a language tag such as `en` or `de-CH`: English where nothing is said, none ("") if unknown."""
    return STEMMERS.get(tag.split("-")[0].lower(), "") if tag else "english"


@lru_cache(maxsize=4096)
def terms(title: str, language: str = "english") -> dict[str, str]:
    """The words of a title worth marking: stem -> the word as the title first says it."""
    words = [word for word in WORD.findall(title) if word[0] not in "<&"]
    telling = [word for word in words if word.lower() not in UNTOLD and (len(word) > 1 or not word.isascii())]
    stems: dict[str, str] = {}
    for word in telling or words:
        stems.setdefault(stem(word, language), word)
    return stems


def mark(html: str, title: str, language: str = "english") -> Marked:
    """HTML whose text speaks of the title's words, with these marked; tags and entities stay as they are.

    html : escaped text, or what `campaigns.sanitise.clean` returns: every `<` begins a tag.
    """
    stems, pattern = terms(title, language), WORD_OF_ASCII if html.isascii() else WORD
    counts, pieces, rest, n = dict.fromkeys(stems, 0), list[str](), html, AT_ONCE
    while n == AT_ONCE:
        *parts, rest = pattern.split(rest, AT_ONCE)  # a word, tag or entity at each odd place
        words = parts[1::2]
        n = len(words)
        stem_of = {word: stem(word, language) for word in set(words) if word[0] not in "<&"}
        marked = {word: stemmed for word, stemmed in stem_of.items() if stemmed in stems}
        for place, word in enumerate(words) if marked else ():
            if word in marked:
                counts[marked[word]] += 1
                parts[2 * place + 1] = f"<mark>{word}</mark>"
        pieces.append("".join(parts))
    return Marked("".join([*pieces, rest]), tuple((stems[stemmed], n) for stemmed, n in counts.items()))
