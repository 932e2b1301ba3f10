"""Each table of a report has an address of its own, and a file in every form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from calibration.models import Report
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import keyed_tables, tables_of
from calibration.studies import study_actions as studies
from tests.calibration.levels_world import static
from tests.calibration.rated_world import SYSTEMS, Rated
from tests.calibration.test_preferences import world as preferred
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("x") & <b>50%</b> \\input{x} $y_1$'
ITEMS = 40


def _report(corpus: Corpus, **definition: Any) -> Report:
    study = studies.create(
        name="Our study", corpus=corpus, definition={"resamples": 20, **definition}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def _marks(place: int, every: int = 3) -> list[float]:
    return [float((n % every == 0) != (n % (7 + place) == 0)) for n in range(ITEMS)]


def _scores(place: int) -> list[float]:
    return [float(1 + (n * 7 + (n % (4 + place) == 0)) % 5) for n in range(ITEMS)]


def rated_by_all(judge: str = "gpt") -> World:
    """Tags and a scale, answered by people, two judges, a key and a metric, one of them twice."""
    built = world(dialogues=ITEMS // 2, turns=2)
    tags = {"rude": 3, "vague": 5}
    for key in tags:
        built.ask(key, "binary", [0, 1], scheme="tags", wording=key.title(), group="Behaviours", positive=1)
    for key, every in tags.items():
        for place, name in enumerate(("ann", "ben", "cid")):
            built.say(name, key, _marks(place, every)[:30])
        built.say(judge, key, _marks(3, every), kind="judge")
        built.say("llm", key, [*_marks(4, every)[:35], None], kind="judge")
        built.say("truth", key, _marks(5, every), kind="key")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, name in enumerate(("ann", "ben", "cid")):
        built.say(name, "quality", _scores(place))
    for sample in range(2):
        built.say(judge, "quality", _scores(3 + sample), kind="judge", sample=sample)
    built.ask("length", "ratio", wording="Length")
    built.say("words", "length", [float(n % 9) for n in range(ITEMS)], kind="metric")
    return built


def _everything() -> Report:
    linked = [{"question": "length@1/length", "map": "rank"}]
    questions = ["tags@1/rude", "tags@1/vague", {"question": "quality@1/quality", "answered_by": linked}]
    return _report(rated_by_all().corpus, questions=questions)


def _levels(question: str, **definition: Any) -> Report:
    return _report(Rated(static(systems=SYSTEMS)).corpus, questions=[question], **definition)


REPORTS: dict[str, Callable[[], Report]] = {
    "agreement": _everything,
    "automatic": lambda: studies.compute(
        study=studies.automatic(corpus=rated_by_all().corpus), part="all", by=None
    ),
    "levels": lambda: _levels("comperdial_turn/overall", level=["turn", "system"]),
    "levels of dialogues": lambda: _levels("comperdial_dialogue/overall", level=["dialogue", "system"]),
    "preferences": lambda: _report(preferred()),
    "hostile": lambda: _report(rated_by_all(HOSTILE).corpus),
}


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Report:
    """One report of each kind."""
    return REPORTS[request.param]()


def test_every_table_of_a_report_has_a_key_of_its_own(report: Report) -> None:
    result = snapshot_of(report)
    keys = [table.key for table in tables_of(result)]
    assert keys
    assert len(keys) == len(set(keys))
    assert all(re.fullmatch(r"[a-z0-9_-]+", key) for key in keyed_tables(result))


def test_each_table_of_the_page_has_an_anchor_and_a_menu(researcher: Client, report: Report) -> None:
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    anchors = re.findall(r'id="table-([^"]+)"', page)
    assert anchors
    assert len(anchors) == len(set(anchors))
    assert set(anchors) <= set(keyed_tables(snapshot_of(report)))
    for key in anchors:
        for form in ("md", "csv", "latex"):
            address = reverse("report-table", args=[report.study_id, key, form])
            assert f'href="{address}?snapshot={report.pk}"' in page
        assert f'href="#table-{key}"' in page
