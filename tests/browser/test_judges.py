"""Journeys of a researcher with judges: starting a run, watching it, inspecting failures, retrying."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from annotation.models import Label
from jobs.models import Endpoint, Run
from tests import factories
from tests.browser.conftest import PHONE, too_wide
from tests.browser.effort import Effort
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
    page.goto(f"/corpora/{corpus.name}/judges/")
    expect(page.get_by_role("heading", name="No run yet")).to_be_visible()
    page.get_by_role("link", name="Run judges").click()
    expect(page.get_by_role("checkbox", name="fake")).to_be_hidden()
    page.get_by_label("Search judges").fill("six scores without")
    expect(page.get_by_role("checkbox", name="G-Eval").first).to_be_hidden()
    page.get_by_role("checkbox", name="CPDScore-Simple: six scores").check()
    expect(page.get_by_role("checkbox", name="fake")).to_be_checked()
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_text("The text of 4 dialogues goes to 127.0.0.1")).to_be_visible()
    page.get_by_role("button", name="Send and start").click()
    expect(page.get_by_text("0 of 24")).to_be_visible()
    worker = aside(finish)
    expect(page.get_by_text("running")).to_be_visible()
    expect(page.get_by_text("24 of 24")).to_be_visible()
    expect(page.locator("#progress .badge")).to_have_text("done")
    worker.join()
    assert Label.objects.count() == 24 * 6
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(corpus.name)
    page.get_by_role("link", name="Judges", exact=True).click()
    expect(page.get_by_role("row", name="cpdscore_simple")).to_contain_text("24 of 24")


def test_a_prompt_is_written_in_the_form_of_a_run_and_asked_at_two_endpoints(
    page_of, rea, fake: FakeLLM
) -> None:
    corpus = small_corpus(dialogues=2)
    endpoint_of(fake)
    endpoint_of(fake, name="second", model="fake-2")
    scores = ("humanness", "fluency", "coherency", "consistency", "engagingness", "overall")
    fake.say = lambda prompt: "\n".join(f"{score} - 4" for score in scores)  # type: ignore[method-assign]
    page = page_of(rea)
    page.goto(f"/runs/new/?corpus={corpus.pk}")
    page.get_by_text("Write a new prompt").click()
    page.get_by_label("Name", exact=True).fill("kind judge")
    page.get_by_label("Start from the text of").select_option("cpdscore_simple_without_reference@1")
    text = page.get_by_label("User part")
    expect(text).to_have_value(re.compile("six scores"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("kind judge")
    text.press("Control+End")
    page.keyboard.type("Be kind. ")
    page.get_by_role("button", name="$facts").click()
    page.get_by_role("button", name="Save and choose").click()
    expect(page.get_by_role("checkbox", name="kind judge@1")).to_be_checked()
    page.get_by_role("checkbox", name="fake").check()
    page.get_by_role("checkbox", name="second").check()
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.get_by_role("heading", name="Review 2 runs")).to_be_visible()
    page.get_by_label("Judge", exact=True).select_option("kind judge@1 (cpdscore_simple) at second")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("The request body")).to_have_value(re.compile("fake-2.*Be kind", re.S))
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_role("checkbox", name="second")).to_be_checked()
    page.get_by_role("button", name="Review", exact=True).click()
    page.get_by_role("button", name="Send and start").click()
    expect(page.get_by_role("row", name="kind judge v1")).to_have_count(2)
    aside(finish).join()
    expect(page.get_by_text("24 of 24")).to_be_visible()
    page.goto("/prompts/kind%20judge/")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("checkbox", name="kind judge@1")).to_be_checked()
    expect(page.get_by_role("heading", level=1)).to_contain_text(corpus.name)


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
    page.get_by_text("Example", exact=True).click()
    expect(page.get_by_text("<b>no</b> idea").first).to_be_visible()
    page.get_by_text("Raw reply").first.click()
    expect(page.get_by_text("<b>no</b> idea").nth(1)).to_be_visible()
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
        f"/corpora/{run.corpus.name}/judges/",
        f"/runs/new/?corpus={run.corpus_id}",
        f"/runs/{run.pk}/?show=all",
    ):
        page.goto(address)
        assert not too_wide(page), address


def test_an_administrator_adds_an_endpoint(page_of) -> None:
    page = page_of(factories.user("root", administrator=True))
    page.goto("/prompts/")
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


def test_two_models_and_two_prompts_are_one_form_one_page_and_one_report(page_of, rea, fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=2)
    endpoint_of(fake, name="first")
    endpoint_of(fake, name="second", model="fake-2")
    page = page_of(rea, viewport=PHONE)
    effort = Effort(page)
    page.goto(f"/corpora/{corpus.name}/judges/")
    effort.press("Run judges", "link")
    for judge in ("CPDScore-Simple: six scores", "CPDScore-Detail: humanness"):
        effort.clicks.append(judge)
        page.get_by_role("checkbox", name=judge).first.check()
    for endpoint in ("first", "second"):
        effort.clicks.append(endpoint)
        page.get_by_role("checkbox", name=endpoint).check()
    effort.press("Review")
    expect(page.get_by_role("heading", name="Review 4 runs")).to_be_visible()
    expect(page.get_by_role("row", name="Together")).to_contain_text("48")
    assert not too_wide(page)
    effort.press("Send and start")
    expect(page.get_by_text("0 of 48")).to_be_visible()
    expect(page.get_by_role("row", name="CPDScore")).to_have_count(4)
    assert not too_wide(page)
    aside(finish).join()
    expect(page.get_by_text("48 of 48")).to_be_visible()
    effort.press("Report")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run set")
    assert len(effort.clicks) == 8, str(effort)
