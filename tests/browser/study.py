"""A study as its researcher sets it up, monitors it and downloads its results, page by page."""

from __future__ import annotations

import csv
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.browser import travel_desk
from tests.browser.pictures import Pictures

CODE = "CONCORD7"
DIVIDES = "d08"
"""Dialogue whose reply divides people."""

PAUSE = 800
"""Milliseconds after which the editor has begun to check the typed text."""


@dataclass
class Study:
    """State of the study: the researcher's page, and the addresses for participants."""

    page: Page
    pictures: Pictures
    campaign: str = ""
    link: str = ""

    def write_scheme(self) -> None:
        page = self.page
        page.goto("/schemes/")
        page.get_by_role("link", name="New scheme").first.click()
        page.get_by_label("Title").fill("Help at the desk")
        page.get_by_label("Introduction").fill("Read the reply to the visitor’s question.")
        self._ask(1, "How helpful is it?", "ordinal")
        page.get_by_label("How value 1 reads").fill("no help at all")
        page.get_by_label("How value 5 reads").fill("all the visitor needs")
        self._ask(2, "Talks down", "tag")
        self._ask(3, "What is missing?", "text")
        page.get_by_label("Asked").last.select_option("q1")
        for value in ("1", "2"):
            page.get_by_role("group", name="is answered with").locator(f"[value='{value}']").check()
        page.get_by_label("Guidelines").fill("Rate what the visitor **learns**, not how it is said.")
        shown = page.frame_locator("iframe:not(.coming)")
        expect(shown.locator("[data-entry=what_is_missing]")).to_be_hidden()
        expect(shown.get_by_role("button", name="all the visitor needs")).to_be_visible()
        self.pictures.take("scheme", page, top="#questions")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text("Help at the desk is saved.")

    def _ask(self, number: int, wording: str, kind: str) -> None:
        self.page.wait_for_timeout(PAUSE)  # earlier input is being checked, and may move the button
        self.page.wait_for_load_state("networkidle")
        self.page.get_by_role("button", name="Add a question").click()
        expect(self.page.locator(f"#q{number}-wording")).to_be_focused()
        self.page.keyboard.type(wording)
        self.page.get_by_label("Answered by").last.select_option(kind)
        expect(self.page.locator(f"[name=q{number}-was]")).to_have_value(kind)
        expect(self.page.locator(".htmx-added")).to_have_count(0)  # htmx listens now

    def set_up(self) -> None:
        page = self.page
        page.get_by_role("banner").get_by_role("link", name="Corpora").click()
        page.get_by_role("link", name="Travel desk").first.click()
        page.get_by_role("link", name="New campaign").click()
        page.get_by_label("Name", exact=True).fill("Replies at the desk")
        page.get_by_label("Annotation scheme").select_option("help_at_the_desk@1")
        page.get_by_label("ada", exact=True).uncheck()  # its annotators come by a link
        page.get_by_label("Raters per item").fill("4")
        page.get_by_role("heading", name="More settings").click()
        page.get_by_label("Consent text").fill("Your answers are **published** under a pseudonym.")
        page.get_by_role("button", name="Save as a draft").click()
        self.campaign = page.url
        for occasion in ("training", "test", "test", "hidden checks", "hidden checks"):
            self._key(occasion)
        page.get_by_label("Pass mark of the test, %").fill("75")
        page.get_by_label("Tries at the test").fill("1")
        page.get_by_label("One hidden check in … tasks").fill("3")
        self.pictures.take("checks", page, top="h2:text('Settings')")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("The checks are set up.")).to_be_visible()

    def _key(self, occasion: str) -> None:
        """Answer the next task as its key: the right value, and that the reply does not talk down."""
        page = self.page
        page.goto(f"{self.campaign}checks/")
        page.get_by_role("link", name="Answer a task as its key").click()
        page.get_by_label("For", exact=True).select_option(label=occasion)
        talk = travel_desk.BY_REPLY[page.locator(".turn.item [data-said]").inner_text()]
        page.get_by_role("group", name="How helpful").locator(f"[value='{talk.helpful}']").check()
        page.get_by_role("group", name="Talks down").locator("[value='0']").check()
        page.get_by_label("Why").fill("The visitor learns all of it." if talk.helpful == 5 else "Too vague.")
        if occasion == "training":
            self.pictures.take("key", page, top=".pagehead")
        page.get_by_role("button", name="Save the key").click()
        expect(page.get_by_text("The key is saved.")).to_be_visible()

    def open(self, adjudicator: str) -> None:
        """Open the campaign, name its adjudicator, and create the join link."""
        page = self.page
        page.goto(self.campaign)
        expect(page.get_by_text("Opening makes 5 tasks for 4 raters each.")).to_be_visible()
        page.get_by_role("button", name="Open", exact=True).click()
        page.get_by_label("User name").fill(adjudicator)
        page.get_by_label("Role").select_option(label="Adjudicator")
        page.get_by_role("button", name="Give").click()
        page.get_by_role("link", name="Annotators by link").click()
        page.get_by_label("What it is for").fill("Prolific, first wave")
        page.get_by_label("Completion code").fill(CODE)
        page.get_by_label("Address to return to").fill(
            "https://app.prolific.com/submissions/complete?cc={code}"
        )
        page.get_by_role("button", name="Make the link").click()
        self.link = page.locator("pre").inner_text().strip()
        self.pictures.take("link", page, top=".pagehead")
        page.goto(f"{self.campaign}watch/")
        expect(page.get_by_text("0 of 20")).to_be_visible()

    def address_of(self, person: str) -> str:
        """Return the link as the platform completes it for one person."""
        return f"{self.link}?PROLIFIC_PID={person}&STUDY_ID=s1&SESSION_ID=s-{person}"

    def adjudicate_by(self, page: Page) -> None:
        """Begin a round on items without a majority; the adjudicator decides its only case."""
        own = self.page
        own.goto(self.campaign)
        own.get_by_text("More", exact=True).click()
        own.get_by_role("link", name="Adjudication").click()
        own.get_by_role("link", name="New round").first.click()
        own.get_by_role("button", name="Show what that picks").click()
        expect(own.get_by_role("heading", name="1 case on 1 item")).to_be_visible()
        own.get_by_role("button", name="Begin the round").click()
        expect(own.get_by_role("heading", level=1)).to_contain_text("Replies at the desk, adjudication")
        page.goto("/my/")
        page.get_by_role("link", name="Adjudication").click()
        page.get_by_role("link", name="Replies at the desk, adjudication").click()
        expect(page.locator("#here [data-said]")).to_have_text(travel_desk.TALKS[DIVIDES].reply)
        expect(page.locator("#reader")).to_be_focused()
        for rater in "ABCD":
            expect(page.get_by_role("rowheader", name=f"Rater {rater}")).to_be_visible()
        assert "participant-" not in page.content()
        assert "harbour" not in page.content()
        self.pictures.take("decide", page)
        page.keyboard.press("2")
        page.keyboard.press("r")
        page.keyboard.type("No time is given.")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("All cases are decided.")).to_be_visible()

    def make_gold(self) -> list[dict[str, str]]:
        page = self.page
        page.goto(self.campaign)
        page.get_by_text("More", exact=True).click()
        page.get_by_role("link", name="Make gold labels").click()
        page.get_by_role("button", name="Make gold labels").click()
        expect(page.get_by_role("heading", name="Labels", exact=True)).to_be_visible()
        self.pictures.take("gold", page)
        return self.downloaded("CSV")

    def downloaded(self, link: str, role: str = "link") -> list[dict[str, str]]:
        """Press a link or button that downloads a CSV file and return its rows."""
        with self.page.expect_download() as download:
            self.page.get_by_role(role, name=link).first.click()  # type: ignore[arg-type]
        with download.value.path().open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def labels(self) -> list[dict[str, str]]:
        """Download the campaign's labels."""
        number = self.campaign.rstrip("/").rpartition("/")[2]
        self.page.goto(f"/exports/?campaign={number}")
        return self.downloaded("CSV")

    def who_came(self) -> list[dict[str, str]]:
        """Download the payment list of the participants."""
        self.page.goto(self.campaign)
        self.page.get_by_role("link", name="Annotators by link").click()
        return self.downloaded("CSV for paying")

    def checked(self) -> list[dict[str, str]]:
        """Download the annotators' results in training, test and checks."""
        self.page.goto(f"{self.campaign}checks/")
        return self.downloaded("CSV")
