"""Journeys of a researcher with judges: starting a run, watching it, inspecting failures, retrying."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from jobs.models import Endpoint, Run
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.working import aside
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def rea():
    return factories.user("rea", researcher=True)


@pytest.fixture
def fake():
    with FakeLLM() as server:
        yield server


@pytest.mark.exhaustive
def test_a_judge_is_started_watched_and_finished(page_of, rea, fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=4)
    endpoint_of(fake, concurrency=2)
    fake.delay = 0.3
    page = page_of(rea)
    page.goto("/runs/")
    expect(page.get_by_role("heading", name="No run yet")).to_be_visible()
    page.get_by_role("link", name="New run").first.click()
    page.get_by_role("link", name=corpus.name).click()
    page.get_by_role("combobox", name="Judge").select_option("cpdscore_simple:without_reference")
    page.get_by_role("combobox", name="Endpoint").select_option("fake")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("The text of 4 dialogues goes to 127.0.0.1")).to_be_visible()
    page.get_by_role("button", name="Send and start").click()
    expect(page.get_by_text("0 of 24")).to_be_visible()
    worker = aside(finish)
    expect(page.get_by_text("running")).to_be_visible()
    expect(page.get_by_text("24 of 24")).to_be_visible()
    expect(page.locator("#progress .badge")).to_have_text("done")
    worker.join()
    assert Label.objects.count() == 24 * 6
    page.goto("/runs/")
    expect(page.get_by_role("row", name="cpdscore_simple")).to_contain_text("24 of 24")


@pytest.mark.exhaustive
def test_what_failed_is_shown_with_its_raw_reply_and_asked_again(page_of, rea, fake: FakeLLM) -> None:
    from judges.runs.plans import Judge

    fake.say = lambda prompt: "<b>no</b> idea"  # type: ignore[method-assign,assignment]
    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    aside(finish).join()
    page = page_of(rea)
    page.goto(f"/runs/{run.pk}/")
    expect(page.get_by_text("6 of 6 calls failed.")).to_be_visible()
    expect(page.get_by_text("no score for humanness").first).to_be_visible()
    page.get_by_text("Raw reply").first.click()
    expect(page.get_by_text("<b>no</b> idea").first).to_be_visible()
    del fake.say
    page.get_by_role("button", name="Retry failed calls").click()
    aside(finish).join()
    expect(page.locator("#progress .badge")).to_have_text("done")
    assert Run.objects.get().state == Run.State.DONE


@pytest.mark.exhaustive
def test_the_pages_fit_a_phone(page_of, rea, fake: FakeLLM) -> None:
    from judges.runs.plans import Judge

    run = begin(small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake)))
    page = page_of(rea, viewport=PHONE)
    for address in (
        "/runs/",
        "/runs/new/",
        f"/runs/new/?corpus={run.corpus_id}",
        f"/runs/{run.pk}/?show=all",
    ):
        page.goto(address)
        assert not too_wide(page), address


def test_an_administrator_adds_an_endpoint(page_of) -> None:
    page = page_of(factories.user("root", administrator=True))
    page.goto("/runs/")
    page.get_by_role("link", name="Endpoints").click()
    page.get_by_label("Name").fill("here")
    page.get_by_label("Base URL").fill("http://169.254.169.254/v1")
    page.get_by_label("Model", exact=True).fill("m")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("are refused")).to_be_visible()
    page.get_by_label("Base URL").fill("http://localhost:8000/v1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("here is saved.")).to_be_visible()
    assert Endpoint.objects.get().model == "m"
