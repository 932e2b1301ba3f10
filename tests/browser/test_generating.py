"""The path from a writing model to the report on it, through the pages.

To take its pictures again, run
`CONCORD_PICTURES=docs/images/generate .venv/bin/python -m pytest tests/browser/test_generating.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Continuation, Corpus
from calibration.studies import study_actions as studies
from demo import continued, loading
from demo.fake_model.running import LocalServer, load
from demo.fake_model.serving import FakeModel, Response
from jobs.models import Run
from tests import factories
from tests.browser.conftest import PHONE, unfold
from tests.browser.pictures import Pictures
from tests.browser.working import aside, work_off
from tests.judges.helpers import finish

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def fake_url() -> Iterator[str]:
    """A fake model as the demo starts one."""
    model = FakeModel(load("ordinary"))

    def answer(method: str, path: str, body: Any, headers: dict[str, str]) -> Response:
        return model.respond(method, path, body)

    with LocalServer(answer) as server:
        yield server.url


def to_the_end(run: Run) -> None:
    aside(finish).join()
    run.refresh_from_db()


def test_a_model_writes_and_what_it_wrote_is_rated_and_counted(
    page_of: Callable[..., Page], fake_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(continued, "DIALOGUES", 14)
    rea = factories.user("rea", researcher=True)
    endpoint = loading.endpoint(fake_url, by=factories.user("ada", administrator=True))
    continued.load(by=rea, endpoint=endpoint, finish=to_the_end)
    corpus = Corpus.objects.get(name=continued.NAME)
    study = studies.automatic(corpus=corpus)
    studies.compute(study=study, part=studies.default_part(study), by=rea)
    pictures, page = Pictures(), page_of(rea)

    page.goto(reverse("corpus", args=[corpus.name]))
    page.get_by_role("link", name="Generation").click()
    page.get_by_role("link", name="CoCoEval").click()
    page.get_by_role("combobox", name="Endpoint").select_option(str(endpoint.pk))
    page.get_by_role("combobox", name="Prompting").select_option("taxonomy")
    page.get_by_label("Turns per call").fill("7")
    page.get_by_role("button", name="Review the cost").click()
    expect(page.locator(".errorlist")).to_contain_text("turns_per_call")
    page.get_by_label("Turns per call").fill("30")
    pictures.take("form", page)
    page.get_by_role("button", name="Review the cost").click()
    expect(page.get_by_role("heading", name="Review the cost")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text("14")
    pictures.take("estimate", page)
    page.get_by_role("button", name="Send and start").click()
    expect(page.get_by_text("0 of 14")).to_be_visible()
    worker = aside(finish)
    expect(page.locator("#progress .badge")).to_have_text("done")
    worker.join()
    pictures.take("run", page)
    assert Continuation.objects.filter(system__name="fake-1 taxonomy 30/call").count() == 14

    page.get_by_role("link", name="Dialogue by dialogue").click()
    page.get_by_role("link", name="meeting-01").click()
    expect(page.get_by_role("heading", name="Steps")).to_be_visible()
    page.get_by_role("link", name="What it wrote").click()
    expect(page.get_by_text("fake-1 taxonomy 30/call").first).to_be_visible()

    page.goto(f"/corpora/{corpus.pk}/counts/?by=prompting,turns_per_call")
    expect(page.get_by_text("Computing the figures.")).to_be_visible()
    work_off("jobs")  # of so many labels a worker computes them, and the page goes on by itself
    expect(page.get_by_role("heading", name="Corrected for the judge")).to_be_visible()
    pictures.take("counts", page, top="h2:text('Counts by behaviour')")
    page.goto(f"/studies/{study.pk}/report/")
    unfold(page, "Tables")
    marked = page.get_by_role("columnheader", name="Marked by judge").first
    marked.scroll_into_view_if_needed()
    expect(marked).to_be_visible()
    pictures.take("table7", page, top="section:has(th:text('Marked by judge'))")

    phone = page_of(rea, viewport=PHONE, color_scheme="dark")
    run = Run.objects.filter(kind="generate").latest("pk")
    generating = f"/runs/generate/?corpus={corpus.pk}"
    for address in (
        generating,
        f"{generating}&generator=cocoeval_continuation",
        f"/runs/{run.pk}/",
        f"/runs/productions/?run={run.pk}",
        f"/runs/productions/{run.productions.latest('pk').pk}/",
    ):
        phone.goto(address)
        wide = phone.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide, f"{address} is wider than the phone"
