"""Prolific's API, for one thing: to compare their list of submissions with our list of completions.

The API cannot complete a submission, and codes are known to everybody who took part, so a code alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from qrowd.errors import ArgumentError, QrowdError

if TYPE_CHECKING:
    import httpx

API = "https://api.prolific.com/api/v1/"
SHORTEST_REJECTION = 100  # characters
MOST_PAGES = 1000
HANDED_IN = frozenset({"AWAITING REVIEW", "APPROVED"})


class ProlificError(QrowdError):
    """Prolific did not answer, or not with what its documentation says."""


@dataclass(frozen=True)
class Submission:
    """One submission, as Prolific has it. participant : the PROLIFIC_PID. code : as entered, "" for none."""

    id: str
    participant: str
    status: str
    code: str


class Api:
    """Prolific's API with a researcher's token.

    client : an httpx.Client; it must not follow redirects, or the token would go along.
    """

    def __init__(self, token: str, *, client: httpx.Client | None = None, base: str = API) -> None:
        import httpx

        self.base, self._headers = base, {"Authorization": f"Token {token}"}
        self.client = client or httpx.Client(timeout=30, follow_redirects=False)

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study, over all pages.

        Raises
        ------
        ProlificError
            No answer, or one that makes no sense.
        """
        found: list[Submission] = []
        url: str | None = f"{self.base}submissions/"
        parameters: dict[str, str] | None = {"study": study}
        for _ in range(MOST_PAGES):
            if url is None:
                return found
            page = self._ask("GET", url, params=parameters)
            found += [_submission(row) for row in page.get("results", ())]
            url, parameters = self._next(page), None
        raise ProlificError(f"study {study}: more than {MOST_PAGES} pages of submissions")

    def transition(
        self, submission: str, action: str, *, message: str = "", category: str = "", code: str = ""
    ) -> Mapping[str, Any]:
        """Move a submission on. action : APPROVE or REJECT, with what each needs.

        Raises
        ------
        ArgumentError
            A rejection without its category, or with fewer than 100 characters of reasons.
        ProlificError
            No answer, or a refusal.
        """
        if action == "REJECT" and (len(message) < SHORTEST_REJECTION or not category):
            raise ArgumentError(
                f"message: a rejection says why in at least {SHORTEST_REJECTION} characters, and names a category"
            )
        content = {"action": action, "message": message, "rejection_category": category, "completion_code": code}
        url = f"{self.base}submissions/{submission}/transition/"
        return self._ask("POST", url, json={name: value for name, value in content.items() if value})

    def _ask(self, method: str, url: str, **options: Any) -> Mapping[str, Any]:
        import httpx

        try:
            response = self.client.request(method, url, headers=self._headers, **options)
            response.raise_for_status()
            content = response.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ProlificError(f"{method} {urlsplit(url).path}: {error}") from None
        if not isinstance(content, dict):
            raise ProlificError(f"{method} {urlsplit(url).path}: expected a JSON object")
        return content

    def _next(self, page: Mapping[str, Any]) -> str | None:
        """The next page; only on the same host, because the token goes there."""
        links = page.get("_links")
        link = links.get("next") if isinstance(links, dict) else None
        href = link.get("href") if isinstance(link, dict) else None
        if not isinstance(href, str) or not href:
            return None
        url = urljoin(self.base, href)
        if urlsplit(url)[:2] != urlsplit(self.base)[:2]:
            raise ProlificError(f"the next page is on another host: {url}")
        return url


def _submission(row: Any) -> Submission:
    try:
        participant = row.get("participant_id") or row.get("participant")
        code = row.get("study_code") or row.get("entered_code") or ""
        return Submission(str(row["id"]), str(participant), str(row["status"]).replace("_", " ").upper(), str(code))
    except (KeyError, AttributeError) as error:
        raise ProlificError(f"a submission without {error}") from None


# ---- reconciling


@dataclass(frozen=True)
class Reconciliation:
    """Their submissions against our completions.

    agreed : handed in there with the code we gave. unearned : handed in there, not completed here.
    wrong_code : completed here, handed in there with another code. unsubmitted : completed here, not handed in there.
    """

    agreed: tuple[Submission, ...]
    unearned: tuple[Submission, ...]
    wrong_code: tuple[Submission, ...]
    unsubmitted: tuple[str, ...]


def reconcile(submissions: Iterable[Submission], completions: Mapping[str, str]) -> Reconciliation:
    """Compare their list with ours.

    completions : the code we gave, by participant.
    """
    handed_in = [one for one in submissions if one.status in HANDED_IN]
    earned = [one for one in handed_in if one.participant in completions]
    return Reconciliation(
        agreed=tuple(one for one in earned if one.code == completions[one.participant]),
        unearned=tuple(one for one in handed_in if one.participant not in completions),
        wrong_code=tuple(one for one in earned if one.code != completions[one.participant]),
        unsubmitted=tuple(sorted(set(completions) - {one.participant for one in earned})),
    )
