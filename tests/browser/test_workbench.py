"""A researcher uses the workbench: edits a draft, runs it on five items, marks, keeps, compares."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from annotation.models.corpora import JudgeOpening
from calibration.models import ForAdjudication
from judges.models import DraftAnswer
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.working import aside
from tests.calibration.workbench_world import OWN, rated_bench, tried
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def fake():
    with FakeLLM() as server:
        yield server


def test_a_text_is_edited_tried_marked_kept_and_compared(page_of, rea, fake: FakeLLM) -> None:
    fake.model.noise, fake.delay = 0.9, 0.2
    bench = rated_bench(24)
    aside(lambda: tried(bench, fake, OWN)).join()
    endpoint_of(fake, name="other", concurrency=1)
    people = Label.objects.count()
    page = page_of(rea)
    page.goto(f"/corpora/{bench.corpus.name}/judges/")
    page.get_by_role("link", name="bench", exact=True).click()
    expect(page.get_by_text("20 of 20")).to_be_visible()
    page.get_by_label("User part").fill(f"{OWN.user}\n\nBe $kind.")
    page.get_by_role("combobox", name="Endpoint").select_option("other")
    page.get_by_role("button", name="Try on five").click()
    expect(page.get_by_text("there is no variable $kind")).to_be_visible()
    page.get_by_label("User part").fill(f"{OWN.user}\n\nBe kind.")
    page.get_by_role("button", name="Try on five").click()
    expect(page.get_by_text("goes to 127.0.0.1")).to_be_visible()
    page.get_by_role("button", name="Send and try").click()
    expect(page.get_by_text("0 of 5")).to_be_visible()
    worker = aside(finish)
    expect(page.get_by_text("5 of 5")).to_be_visible()
    worker.join()
    expect(page.get_by_role("heading", name="Agreement so far")).to_be_visible()
    page.get_by_text("Raw reply").first.click()
    page.evaluate("document.getElementById('draft').dataset.old = 'yes'")
    panel = f"/workbench/{bench.pk}/drafts/2/"
    page.evaluate(f"htmx.ajax('GET', '{panel}', {{target: '#draft', swap: 'outerHTML'}})")
    expect(page.locator("#draft[data-old]")).to_have_count(0)
    expect(page.locator("details[open] > summary", has_text="Raw reply")).to_have_count(1)
    assert (DraftAnswer.objects.count(), Label.objects.count()) == (25 * 6, people)
    page.get_by_role("link", name="Disagreements").click()
    first = page.locator("article").first
    first.get_by_label("Note").fill("they missed it")
    first.get_by_role("button", name="People wrong").click()
    expect(page.get_by_text("1 people wrong")).to_be_visible()
    page.locator("article").first.get_by_role("button", name="To adjudication").click()
    expect(page.get_by_text("It waits for adjudication.")).to_be_visible()
    assert ForAdjudication.objects.get().reason == "they missed it"
    page.get_by_role("link", name="Drafts", exact=True).click()
    page.get_by_text("Keep as a version").click()
    page.get_by_label("Name of the prompt").fill("kinder")
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.get_by_text("Kept as kinder@1")).to_be_visible()
    assert Label.objects.count() == people + 5 * 6
    page.get_by_role("link", name="Side by side").click()
    expect(page.get_by_role("row", name="kinder@1").first).to_be_visible()
    expect(page.get_by_role("heading", name="Overall").first).to_be_visible()


def test_a_version_is_made_tried_kept_compared_and_opened_on_test_by_keyboard_alone(
    page_of, rea, fake: FakeLLM
) -> None:
    bench = rated_bench(8)
    endpoint_of(fake)
    page = page_of(rea, color_scheme="dark")
    keys = page.keyboard
    page.goto(f"/workbench/{bench.pk}/")
    page.get_by_role("button", name="Take its text").press("Enter")
    page.get_by_label("User part").focus()
    keys.press("Control+End")
    keys.type("\n\nBe kind.")
    page.get_by_role("combobox", name="Endpoint").focus()
    keys.type("fake")
    page.get_by_role("button", name="Try on five").press("Enter")
    page.get_by_role("button", name="Send and try").press("Enter")
    expect(page.get_by_text("0 of 5")).to_be_visible()
    aside(finish).join()
    expect(page.get_by_text("5 of 5")).to_be_visible()
    page.get_by_text("Keep as a version").press("Enter")
    page.get_by_label("Name of the prompt").focus()
    keys.type("kinder")
    keys.press("Enter")
    expect(page.get_by_text("Kept as kinder@1")).to_be_visible()
    page.get_by_role("link", name="Side by side").press("Enter")
    expect(page.get_by_role("row", name="kinder@1").first).to_be_visible()
    page.goto(f"/runs/new/?corpus={bench.corpus_id}")
    page.get_by_role("checkbox", name="kinder@1").press("Space")
    expect(page.get_by_role("checkbox", name="fake")).to_be_checked()
    page.get_by_role("button", name="Review", exact=True).press("Enter")
    expect(page.get_by_text("opened once per judge").first).to_be_visible()
    assert not JudgeOpening.objects.exists()
    page.get_by_label("Open test for").focus()
    keys.type("the table of the paper")
    page.get_by_role("button", name="Review", exact=True).press("Enter")
    page.get_by_role("button", name="Send and start").press("Enter")
    aside(finish).join()
    expect(page.get_by_text("43 of 43")).to_be_visible()  # five of the 48 were asked as a draft
    opened = JudgeOpening.objects.get()
    assert (opened.reason, opened.by) == ("the table of the paper", rea)


def test_the_pages_of_a_bench_fit_a_phone(page_of, rea, fake: FakeLLM) -> None:
    fake.model.noise = 0.9
    bench = rated_bench(4)
    aside(lambda: tried(bench, fake, targets=5)).join()
    page = page_of(rea, viewport=PHONE)
    for room in ("", "disagreements/", "versions/", "checks/", "searches/"):
        page.goto(f"/workbench/{bench.pk}/{room}")
        assert not too_wide(page), room
    place = f"?corpus={bench.corpus_id}"
    for address in (f"/adjudication/{place}", f"/workbench/new/{place}"):
        page.goto(address)
        assert not too_wide(page), address
