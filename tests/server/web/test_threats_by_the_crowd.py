"""The threat table against the real application: a code is for work that was done."""

from server.web.siege import CODES, Fort


def test_a_code_is_shown_once_the_work_is_done_and_not_to_others_of_the_panel(place: Fort) -> None:
    worker = place.walker("stars", "panel", "w1").come()
    assert "CODE" not in worker.page.text
    assert CODES["completed"] in worker.walk().page.text
    assert worker.get(worker.door).status == 303  # who is signed in goes straight to the page
    assert CODES["completed"] in worker.get("/c/stars").text
    assert "CODE" not in place.walker("stars", "panel", "w2").come().page.text
