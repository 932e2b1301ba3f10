"""A complete study in the browser, without a shell.

A researcher writes the questions and sets up a campaign with consent, training, a test and hidden checks.
Five people join by a link; one of them fails the test. The others rate everything and disagree once; an
adjudicator decides; gold and labels are exported, with exactly the answers given.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import factories
from tests.browser import travel_desk
from tests.browser.conftest import PHONE, ready
from tests.browser.people import OverHttp, enter, invited
from tests.browser.pictures import Pictures
from tests.browser.study import CODE, DIVIDES, Study

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

MAIN = ("d06", "d07", "d08", "d09", "d10")
HELPFUL, DOWN, MISSING = "how_helpful_is_it", "talks_down", "what_is_missing"


def judged(reply: str, *, strict: bool = False) -> dict[str, Any]:
    """What a careful person answers about a reply; a strict one thinks less of the reply that divides."""
    talk = travel_desk.BY_REPLY[reply]
    helpful = 2 if strict and talk is travel_desk.TALKS[DIVIDES] else talk.helpful
    told = {HELPFUL: helpful, DOWN: talk.talks_down}
    return told | ({MISSING: "The time."} if helpful <= 2 else {})


def press(page: Page, heading: str, button: str) -> None:
    """Read what comes before the next task, and go on."""
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
    page.get_by_role("button", name=button, exact=True).press("Enter")


def answer(page: Page, told: dict[str, Any]) -> None:
    """Answer the task in hand by keyboard and submit it."""
    ready(page)
    page.keyboard.press(str(told[HELPFUL]))
    if told[DOWN]:
        page.get_by_role("button", name="Talks down").press("Enter")
    if MISSING in told:
        page.locator(f"[data-entry={MISSING}]").fill(told[MISSING])
    page.keyboard.press("Control+Enter")


def said(page: Page) -> str:
    """The words of the reply in hand."""
    return page.locator(".turn.item [data-said]").inner_text()


def trained_in_browser(page: Page, address: str, pictures: Pictures) -> None:
    """Come by the link, agree, be corrected in the training, and pass the test."""
    page.goto(address)
    page.get_by_role("button", name="Begin").click()
    press(page, "Before you begin", "I agree")
    press(page, "First, some training", "Begin the training")
    answer(page, {HELPFUL: 3, DOWN: 0})
    expect(page.get_by_role("row", name="not right")).to_contain_text("5")
    expect(page.get_by_text("The visitor learns all of it.")).to_be_visible()
    pictures.take("feedback", page)
    press(page, "1 of 2 right", "Next")
    press(page, "The training is done", "Go on")
    press(page, "A short test", "Begin the test")
    for number in range(2):
        expect(page.locator("#progress-text")).to_contain_text(f"{number}")
        answer(page, judged(said(page)))
    press(page, "Passed. Welcome!", "Begin")


def rated_in_browser(page: Page, pictures: Pictures, *, strict: bool) -> None:
    """Rate what there is, and end at the completion code."""
    for done in range(7):
        expect(page.locator("#progress-text")).to_have_text(f"{done} of 7")
        if done == 3:
            pictures.take("task", page)
        answer(page, judged(said(page), strict=strict))
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    expect(page.get_by_text(CODE)).to_be_visible()
    end = page.get_by_role("link", name="Finish and return")
    expect(end).to_have_attribute("href", f"https://app.prolific.com/submissions/complete?cc={CODE}")


def trained_over_http(person: OverHttp, address: str) -> None:
    person.come(address)
    person.press("consent")
    person.press("training")
    person.submit(**judged(person.shown))
    assert "All right" in person.state["html"]
    person.press("feedback")
    person.press("trained")
    person.press("test")


def rated_over_http(person: OverHttp, *, strict: bool) -> None:
    for _ in range(2):
        person.submit(**judged(person.shown, strict=strict))
    person.press("passed")
    for done in range(7):
        assert person.state["progress"]["text"] == f"{done} of 7"
        person.submit(**judged(person.shown, strict=strict))
    assert CODE in person.state["html"]


def test_a_whole_study_without_a_shell(page_of: Any) -> None:
    travel_desk.corpus("Travel desk")
    admin = page_of(factories.user("olga", administrator=True))
    admin.goto("/")
    staff = {name: page_of() for name in ("rosa", "ada")}
    for name, role in (("rosa", "Researcher"), ("ada", "Annotator")):
        enter(staff[name], invited(admin, role), name)
    study = Study(staff["rosa"], Pictures())
    study.write_scheme()
    study.set_up()
    study.open(adjudicator="ada")

    for number, options in enumerate(({}, {"viewport": PHONE, "color_scheme": "dark"}), start=1):
        page = page_of(**options)
        pictures = study.pictures if number == 1 else Pictures(None)
        trained_in_browser(page, study.address_of(f"p{number}"), pictures)
        rated_in_browser(page, pictures, strict=number == 2)
    expect(study.page.get_by_text("10 of 20")).to_be_visible()
    study.pictures.take("watch", study.page)
    careless = OverHttp(page_of())
    trained_over_http(careless, study.address_of("p3"))
    for _ in range(2):
        careless.submit(**{HELPFUL: 1, DOWN: 0, MISSING: "Everything."})
    assert "Thank you for trying" in careless.state["html"]
    assert "50%; 75% would have passed" in careless.state["html"]
    for name in ("p4", "p5"):
        person = OverHttp(page_of())
        trained_over_http(person, study.address_of(name))
        rated_over_http(person, strict=name == "p5")
    expect(study.page.get_by_text("20 of 20")).to_be_visible()

    came = [(row["participant"], row["submitted"], row["state"], row["code"]) for row in study.who_came()]
    done = [(name, "7", "finished", CODE) for name in ("p1", "p2", "p4", "p5")]
    assert came == [*done[:2], ("p3", "0", "failed the test", ""), *done[2:]]
    study.adjudicate_by(staff["ada"])
    check_people(study)
    check_gold(study)
    check_labels(study)


def check_gold(study: Study) -> None:
    """Gold has one label for each item and question: the decision, else the answer of its scale's rule."""
    rows = {(row["dialogue"], row["question"]): row for row in study.make_gold()}
    assert len(rows) == 10
    assert {dialogue for dialogue, _ in rows} == set(MAIN)
    for (dialogue, question), row in rows.items():
        talk = travel_desk.TALKS[dialogue]
        wanted = talk.helpful if question == HELPFUL else talk.talks_down
        if (dialogue, question) == (DIVIDES, HELPFUL):
            assert (row["value"], row["source"], row["n_raters"]) == ("2", "adjudication", "1")
            assert "No time is given." in row["decisions"]
        else:
            assert (row["value"], row["n_raters"]) == (str(wanted), "4")
            assert row["source"] == ("median" if question == HELPFUL else "")


def check_labels(study: Study) -> None:
    """The labels are what four people answered in the main work, once each, under pseudonyms."""
    rows = study.labels()
    assert Counter((row["occasion"], row["question"]) for row in rows) == {
        ("main", HELPFUL): 20,
        ("main", DOWN): 20,
        ("main", MISSING): 6,
    }
    asked = [row for row in rows if row["question"] != MISSING]
    of_item = Counter((row["dialogue"], row["question"]) for row in asked)
    assert of_item == {(dialogue, question): 4 for dialogue in MAIN for question in (HELPFUL, DOWN)}
    of_rater = Counter(row["rater"] for row in asked)
    assert sorted(of_rater.values()) == [10] * 4
    assert not any("participant" in name for name in of_rater)
    for row in asked:
        talk = travel_desk.TALKS[row["dialogue"]]
        if (row["dialogue"], row["question"]) != (DIVIDES, HELPFUL):
            assert row["value"] == str(talk.helpful if row["question"] == HELPFUL else talk.talks_down)
    divided = [row["value"] for row in asked if (row["dialogue"], row["question"]) == (DIVIDES, HELPFUL)]
    assert Counter(divided) == {"4": 2, "2": 2}


def check_people(study: Study) -> None:
    """Who failed is told apart; everybody else met both hidden checks, and answered them right."""
    rows = study.checked()
    assert Counter((row["state"], row["test_score"], row["checks"], row["score"]) for row in rows) == {
        ("failed", "0.5", "0", ""): 1,
        ("working", "1.0", "2", "1.0"): 4,
    }
