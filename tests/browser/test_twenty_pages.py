"""Twenty pages of the demo at three widths, light and dark: none has to be scrolled sideways.

`CONCORD_PICTURES=pictures .venv/bin/python -m pytest tests/browser/test_twenty_pages.py` also saves each of
the 120 views in that folder, which git ignores. The README and the docs show some of those at 1440 pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.urls import reverse
from playwright.sync_api import Page

from annotation.models import Campaign, Corpus
from calibration.models import Gold
from demo.fake_model import running
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.fake_models import ENDPOINT
from jobs.models.run import Run
from judges.models import Bench
from tests.api_command import api
from tests.browser.pictures import Pictures
from tests.browser.test_importing import choose
from tests.browser.working import aside, work_off

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

VIEWPORTS = ({"width": 1440, "height": 900}, {"width": 1024, "height": 768}, {"width": 360, "height": 740})
SCHEMES = ("light", "dark")


@pytest.fixture
def demo(transactional_db: None) -> Iterator[None]:
    """The demo, with a draft of a prompt tried on a bench, and the fake model for as long as the test."""
    model = FakeModel(running.load("ordinary"))
    with LocalServer(lambda method, path, body, _: model.respond(method, path, body)) as server:
        aside(lambda: call_command("load_demo", stdout=StringIO(), fake_model=server.url)).join()
        bench = ("name=Overall quality", "corpus=Judge playground (demo)", "protocol=cpdscore_simple")
        draft = ("begin=replies as people see them@1", f"endpoint={ENDPOINT}", "targets:=20")
        aside(lambda: api("POST", "workbench/", *bench, account="researcher")).join()
        number = Bench.objects.get().pk
        aside(lambda: api("POST", f"workbench/{number}/drafts/", *draft, account="researcher")).join()
        work_off("calls")
        yield


def addresses() -> dict[str, tuple[str, str]]:
    """Return twenty pages by name: who looks, and the address."""
    desk, meetings = Corpus.objects.get(name="Demo desk"), Corpus.objects.get(name="Demo meetings")
    judged, bench = Corpus.objects.get(name="Judge playground (demo)"), Bench.objects.get()
    campaign = Campaign.objects.get(name="Demo: help at the desk")
    tagging = Campaign.objects.get(name="Demo: behaviours in meetings")
    dialogue = meetings.dialogues.order_by("pk")[0]
    run = Run.objects.filter(corpus=judged, kind="judge").latest("pk")
    researchers = {
        "corpora": reverse("corpora"),
        "overview": reverse("corpus", args=[desk.name]),
        "dialogues": reverse("corpus-dialogues", args=[meetings.name]),
        "dialogue": reverse("dialogue", args=[dialogue.pk]),
        "import": reverse("import-corpus"),
        "annotation": reverse("corpus-annotation", args=[desk.name]),
        "new-campaign": f"{reverse('new-campaign')}?corpus={desk.pk}",
        "campaign": reverse("campaign", args=[campaign.pk]),
        "watch": reverse("campaign-watch", args=[campaign.pk]),
        "scheme": reverse("new-scheme"),
        "judges": reverse("corpus-judges", args=[judged.name]),
        "new-run": f"{reverse('new-run')}?corpus={judged.pk}",
        "run": reverse("run", args=[run.pk]),
        "workbench": reverse("bench", args=[bench.pk]),
        "report": reverse("corpus-report", args=[judged.pk]),
        "gold": reverse("gold", args=[Gold.objects.get(corpus=desk).pk]),
    }
    return {
        **{name: ("researcher", address) for name, address in researchers.items()},
        "my-work": ("annotator", reverse("my-campaigns")),
        "annotate": ("annotator", reverse("work", args=[tagging.pk])),
        "endpoints": ("administrator", reverse("endpoints")),
        "people": ("administrator", reverse("people")),
    }


def show(name: str, address: str, page: Page) -> None:
    """Open a page; of the import, the preview of a table."""
    page.goto(address)
    if name == "import":
        choose(page)
        page.get_by_text("The first dialogue, as it will be stored").wait_for()


def test_no_page_has_to_be_scrolled_sideways(demo: None, page_of: Callable[..., Page]) -> None:
    pictures, too_wide = Pictures(), []
    for name, (username, address) in addresses().items():
        person: Any = User.objects.get(username=username)
        for viewport in VIEWPORTS:
            page = page_of(person, viewport=viewport)
            show(name, address, page)
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                view = f"{name}-{viewport['width']}-{scheme}"
                if page.evaluate("document.documentElement.scrollWidth") > viewport["width"]:
                    too_wide.append(view)
                pictures.take(view, page)
            page.context.close()
    assert too_wide == []
