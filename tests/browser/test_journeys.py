"""Journeys: from a file to exported gold on an empty Concord, with what it costs, and a reader with a link.

The goal counts for the person who sets up the study, with one account. The annotators' accounts and ratings
are made by functions and are not counted.
"""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect
from rest_framework.test import APIClient

from annotation.models import Campaign
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.effort import Effort
from tests.browser.working import aside, work_off
from tests.fake_llm import FakeLLM
from tests.judges.helpers import finish

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST_CLICKS, MOST_FIELDS, MOST_LOADS = 18, 10, 12
CHATS = [
    ("Where is my parcel?", "It is on its way.", "When will it come?", "On Friday, between 9 and 12."),
    ("Can I return shoes?", "Yes, within 30 days.", "Do I pay for it?", "I cannot help you with that."),
    ("My code does not work.", "Codes are great!", "It is SPRING24.", "It ended in May. Here is a new one."),
    ("Do you ship to Norway?", "We do, for 9 euros.", "How long?", "That is a good question."),
    ("I want my money back.", "I see.", "And?", "You get it back within five days."),
    ("Is the shop open today?", "Yes, until 8 pm.", "Thanks!", "You are welcome."),
]


def a_table(folder: Path) -> Path:
    """Write the chats as a table with columns of its own, a turn a row."""
    file = folder / "support.csv"
    with file.open("w", newline="") as target:
        rows = csv.writer(target)
        rows.writerow(["chat_no", "step", "sender", "message", "channel"])
        for number, chat in enumerate(CHATS, start=1):
            for step, message in enumerate(chat, start=1):
                rows.writerow([f"C{number}", step, ("customer", "bot")[step % 2 == 0], message, "web"])
    return file


def a_list_of_chats(folder: Path) -> Path:
    """Write the chats as JSON lines of messages with roles."""
    file = folder / "support.jsonl"
    lines = [
        {
            "id": f"C{number}",
            "messages": [
                {"role": ("user", "assistant")[step % 2], "content": text} for step, text in enumerate(chat)
            ],
        }
        for number, chat in enumerate(CHATS, start=1)
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


def rate_everything(campaign: Campaign, people: list[User]) -> None:
    """Let each person answer all tasks, beside the browser's event loop; they differ now and then."""

    def work() -> None:
        for place, person in enumerate(people):
            client = APIClient()
            client.force_authenticate(person)
            base, number = f"/api/v1/work/{campaign.pk}/", 0
            while task := client.post(f"{base}next/").json()["task"]:
                answers = {}
                for item in task["items"]:
                    number += 1
                    answers[str(item)] = answers_to(campaign, number, place)
                client.post(f"{base}{task['assignment']}/submit/", {"answers": answers}, format="json")

    aside(work).join()
    assert campaign.assignments.filter(state="submitted").count() == campaign.tasks.count() * len(people)


def answers_to(campaign: Campaign, number: int, place: int) -> dict[str, int]:
    """Return a person's answers to all questions about an item."""
    answers = {}
    for question in campaign.scheme_version.questions.all():
        value = number + place * (number % 4 == 0)
        answers[question.key] = value % 2 if question.level in ("binary", "tag") else 1 + value % 5
    return answers


@pytest.mark.parametrize("write", [a_table, a_list_of_chats])
def test_from_a_file_to_gold(page_of, tmp_path, write) -> None:
    people = [factories.user(name) for name in ("ann", "ben")]
    page = page_of(factories.user("ada", administrator=True))
    ada = Effort(page)
    with FakeLLM() as fake:
        page.goto("/")
        ada.attach(write(tmp_path))
        page.wait_for_url(re.compile(r"/corpora/import/\d+/$"))
        ada.press("Import 6 dialogues")
        expect(page.get_by_text("You may leave this page")).to_be_visible()
        work_off("jobs")
        ada.press("Ask people to rate", "link")
        ada.fill("Question", "How well does the reply help?")
        ada.fill("Tags, one a line", "Off topic\nRude: talks down to the customer\nVague")
        ada.press("Start")
        page.wait_for_url(re.compile(r"/campaigns/\d+/$"))
        campaign = Campaign.objects.get()
        assert campaign.tasks.count() == 12
        rate_everything(campaign, people)
        ada.open("More")
        ada.press("Run judges", "link")
        ada.open("Write a new prompt")
        ada.add("System part", "\nThe shop promises short and complete replies.")
        ada.press("Save and choose")
        expect(page.get_by_role("checkbox", name="support judge")).to_be_checked()
        ada.press("Add an endpoint")
        ada.choose("Fill in for", "vLLM")
        expect(page.get_by_label("Base URL")).to_have_value(re.compile("http"))
        ada.fill("Base URL", fake.url)
        ada.fill("Model", "fake-1")
        ada.press("Save")
        expect(page.get_by_role("checkbox", name="support judge")).to_be_checked()
        ada.press("Review")
        ada.press("Send and start")
        page.wait_for_url(re.compile(r"/runs/\d+/$"))
        aside(finish).join()
        ada.press("Report", "link", within=page.locator("main"))
        expect(page.get_by_role("button", name="Recompute")).to_be_visible()
        ada.press("Make gold labels", "link")
        ada.press("Make gold labels")
        with page.expect_download() as download:
            ada.press("CSV", "link")
    with download.value.path().open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * 4
    assert len(ada.clicks) <= MOST_CLICKS, ada
    assert len(ada.fields) <= MOST_FIELDS, ada
    assert len(ada.loads) <= MOST_LOADS, ada


def test_a_reader_with_a_link_reads_the_report_and_nothing_else(page_of) -> None:
    corpus = factories.corpus("Support chats")
    for name in ("d1", "d2", "d3"):
        factories.dialogue(corpus, name, turns=2)
    rea = factories.user("rea", researcher=True)
    people = [factories.user(name) for name in ("ann", "ben")]
    campaign = factories.campaign(corpus, annotators=people, raters=2, by=rea, name="First round")
    rate_everything(campaign, people)
    page = page_of(rea)
    page.goto(f"/campaigns/{campaign.pk}/")
    page.locator("main").get_by_role("link", name="Report", exact=True).click()
    page.get_by_role("link", name="Share", exact=True).click()
    page.get_by_role("button", name="Create link").click()
    address = page.locator("#new-link pre").inner_text().strip()

    reader = page_of(viewport=PHONE, color_scheme="dark")
    reader.goto(address)
    expect(reader.get_by_role("heading", level=1)).to_have_text("Do people agree with each other?")
    expect(reader.get_by_text("First round").first).to_be_visible()
    assert not too_wide(reader)
    assert reader.get_by_role("link", name=re.compile("Sign in|Corpora|Recompute")).count() == 0
    assert "ann" not in reader.locator("main").inner_text().split()
    links = reader.locator("a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert all(link.startswith("#") or "/shared/" in link for link in links), links
    for path in ("/corpora/", f"/campaigns/{campaign.pk}/", f"/campaigns/{campaign.pk}/report/"):
        reader.goto(path)
        assert "/sign-in/" in reader.url
