"""Each table of a report has an address of its own, and a file in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from calibration.models import Report
from calibration.reports.renderings import TABLE_RENDERINGS, TableOfReport
from calibration.reports.snapshot import snapshot_of
from calibration.reports.tables import question_key, table_key
from calibration.reports.view import keyed_tables, tables_of
from calibration.studies import study_actions as studies
from tests.calibration.levels_world import static
from tests.calibration.rated_world import SYSTEMS, Rated
from tests.calibration.test_preferences import world as preferred
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("x") & <b>50%</b> \\input{x} $y_1$'
ITEMS = 40
PEOPLE = ("ann", "ben", "cid")


def _report(corpus: Corpus, **definition: Any) -> Report:
    study = studies.create(
        name=f"study of {corpus.name}", corpus=corpus, definition={"resamples": 20, **definition}, by=None
    )
    return studies.compute(study=study, part="all", by=None)


def _marks(place: int, every: int = 3) -> list[float]:
    return [float((n % every == 0) != (n % (7 + place) == 0)) for n in range(ITEMS)]


def _scores(place: int) -> list[float]:
    return [float(1 + (n * 7 + (n % (4 + place) == 0)) % 5) for n in range(ITEMS)]


def rated_by_all(judge: str = "gpt", name: str = "talks") -> World:
    """Tags and a scale, answered by people, two judges, a key and a metric, some of them twice."""
    built = world(name, dialogues=ITEMS // 2, turns=2)
    tags = {f"{name}_rude": 3, f"{name}_vague": 5}
    for key in tags:
        built.ask(key, "binary", [0, 1], scheme=name, wording=key, group="Behaviours", positive=1)
    for key, every in tags.items():
        for place, person in enumerate(PEOPLE):
            built.say(person, key, _marks(place, every)[:30])
        built.say(judge, key, _marks(3, every), kind="judge")
        built.say("llm", key, [*_marks(4, every)[:35], None], kind="judge")
        built.say("truth", key, _marks(5, every), kind="key")
    quality, length = f"{name}_quality", f"{name}_length"
    built.ask(quality, "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, person in enumerate(PEOPLE):
        built.say(person, quality, _scores(place))
    for sample in range(2):
        built.say(judge, quality, _scores(3 + sample), kind="judge", sample=sample)
    built.ask(length, "ratio", wording="Length")
    built.say("words", length, [float(n % 9) for n in range(ITEMS)], kind="metric")
    return built


def _everything(name: str) -> Report:
    linked = [{"question": f"{name}_length@1/{name}_length", "map": "rank"}]
    quality = {"question": f"{name}_quality@1/{name}_quality", "answered_by": linked}
    questions = [f"{name}@1/{name}_rude", f"{name}@1/{name}_vague", quality]
    return _report(rated_by_all(name=name).corpus, questions=questions)


def _levels(question: str, **definition: Any) -> Report:
    return _report(Rated(static(systems=SYSTEMS)).corpus, questions=[question], **definition)


def _automatic() -> Report:
    study = studies.automatic(corpus=rated_by_all(name="automatic").corpus)
    return studies.compute(study=study, part="all", by=None)


REPORTS: dict[str, Callable[[], Report]] = {
    "agreement": lambda: _everything("chosen"),
    "automatic": _automatic,
    "hostile names": lambda: _report(rated_by_all(HOSTILE, "hostile").corpus),
    "levels of turns": lambda: _levels("comperdial_turn/overall", level=["turn", "system"]),
    "levels of dialogues": lambda: _levels("comperdial_dialogue/overall", level=["dialogue", "system"]),
    "preferences": lambda: _report(preferred()),
}


@pytest.fixture(scope="module", params=REPORTS)
def report(request: pytest.FixtureRequest, module_database: None) -> Iterator[Report]:
    """One report of each kind."""
    with transaction.atomic():
        yield REPORTS[request.param]()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def everything(module_database: None) -> Report:
    """A report with every section of agreement."""
    return _everything("every")


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


def _read(client: Client, report: Report, key: str, form: str, query: str = "") -> str:
    answer = client.get(reverse("report-table", args=[report.study_id, key, form]) + query)
    assert answer.status_code == 200
    assert answer["Content-Disposition"].startswith("attachment")
    return answer.content.decode()


def test_each_table_has_a_file_in_each_form(report: Report) -> None:
    tables = keyed_tables(snapshot_of(report))
    for key, table in tables.items():
        source = TableOfReport(report, table)
        files = {form: rendering.write(source) for form, rendering in TABLE_RENDERINGS.items()}
        latex = files["latex"]
        assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 1
        assert rf"\label{{tab:{key}}}" in latex
        assert r"\input{x}" not in latex
        rows = list(csv.DictReader(io.StringIO(files["csv"])))
        assert len(rows) == sum(cell is not None for row in table.rows for cell in row.cells)
        assert not any(cell.startswith("=") for row in rows for cell in row.values())
        content = json.loads(files["json"])
        assert (content["key"], content["title"]) == (key, table.title)
        assert [row["row"] for row in content["rows"]] == [row.question for row in table.rows]
        text = files["md"]
        assert sum(line.startswith("| ") for line in text.splitlines()) >= len(table.rows) + 2
        assert "<b>" not in text
        assert report.inputs_hash in text


def test_a_table_file_holds_the_figures_unrounded(researcher: Client, everything: Report) -> None:
    table = keyed_tables(snapshot_of(everything))["agreement-scales"]
    rows = list(csv.DictReader(io.StringIO(_read(researcher, everything, table.key, "csv"))))
    cells = [cell for row in table.rows for cell in row.cells if cell]
    assert [row["value"] for row in rows] == ["" if c.value is None else str(c.value) for c in cells]
    content = json.loads(_read(researcher, everything, table.key, "json"))
    assert [f["value"] for row in content["rows"] for f in row["figures"].values()] == [
        c.value for c in cells
    ]


def test_the_verdicts_are_a_table_with_files(researcher: Client, everything: Report) -> None:
    verdicts = snapshot_of(everything).verdicts
    assert verdicts
    rows = json.loads(_read(researcher, everything, "verdicts", "json"))["rows"]
    assert [row["row"] for row in rows] == [verdict.title for verdict in verdicts]
    for row, verdict in zip(rows, verdicts, strict=True):
        assert row["compared"].startswith(f"{verdict.rater}: ")
        agreement = row["figures"].get("agreement")
        assert (agreement and agreement["value"]) == (verdict.agreement and verdict.agreement.value)
        assert row["figures"]["answered"]["value"] == verdict.n_answered / verdict.n_items
    assert verdicts[0].sentence in json.loads(_read(researcher, everything, "verdicts", "json"))["remarks"][0]


def test_a_key_that_no_table_has_is_not_found(researcher: Client, everything: Report) -> None:
    for key, form in (("agreement-scales", "exe"), ("unknown", "csv")):
        address = reverse("report-table", args=[everything.study_id, key, form])
        assert researcher.get(address).status_code == 404
        answer = researcher.get(f"/api/v1/studies/{everything.study_id}/report/tables/{key}.{form}")
        assert answer.status_code == 404
        assert answer.json()["detail"] == f"This report has no table {key} in the format {form}."


def test_an_earlier_report_keeps_its_tables(researcher: Client) -> None:
    built = rated_by_all(name="early")
    report = _report(built.corpus)
    before = _read(researcher, report, "agreement-scales", "csv")
    built.say("dot", "early_quality", _scores(9))
    newer = studies.compute(study=report.study, part="all", by=None)
    assert newer.pk != report.pk
    assert _read(researcher, report, "agreement-scales", "csv") != before
    query = f"?snapshot={report.pk}"
    assert _read(researcher, report, "agreement-scales", "csv", query) == before
    address = f"/api/v1/studies/{report.study_id}/report/tables/agreement-scales.csv"
    assert researcher.get(address + query).content.decode() == before


def test_the_api_lists_the_tables_and_gives_their_files(researcher: Client, everything: Report) -> None:
    address = f"/api/v1/studies/{everything.study_id}/report/tables/"
    listed = researcher.get(address).json()
    tables = keyed_tables(snapshot_of(everything))
    assert [(own["key"], own["title"]) for own in listed] == [(t.key, t.title) for t in tables.values()]
    for form in TABLE_RENDERINGS:
        assert researcher.get(f"{address}metrics.{form}").content.decode() == _read(
            researcher, everything, "metrics", form
        )


def test_a_study_without_a_report_has_no_tables(researcher: Client) -> None:
    study = studies.create(name="none yet", corpus=world("empty").corpus, definition={}, by=None)
    answer = researcher.get(f"/api/v1/studies/{study.pk}/report/tables/")
    assert answer.status_code == 404
    assert "compute it first" in answer.json()["detail"]


def test_tables_are_for_those_who_may_see_the_report(client: Client, everything: Report) -> None:
    client.force_login(user(researcher=False))
    api = f"/api/v1/studies/{everything.study_id}/report/tables/"
    assert client.get(api).status_code in {403, 404}
    for form in TABLE_RENDERINGS:
        address = reverse("report-table", args=[everything.study_id, "metrics", form])
        assert client.get(address).status_code in {302, 403, 404}
        assert client.get(f"{api}metrics.{form}").status_code in {403, 404}


def test_the_data_of_a_chart_is_copied_as_markdown(researcher: Client, everything: Report) -> None:
    page = researcher.get(reverse("report", args=[everything.study_id])).content.decode()
    keys = re.findall(r'id="chart-([^"]+)"', page)
    assert keys
    for key in keys:
        address = reverse("report-chart", args=[everything.study_id, key, "md"])
        assert f'href="{address}?snapshot={everything.pk}" data-copies-file' in page
        text = researcher.get(address).content.decode()
        assert "| question | series |" in text


def test_names_that_look_alike_have_different_keys() -> None:
    names = ["GPT 4", "gpt-4", "gpt 4", "gpt_4", "ä", "ö", ""]
    keys = {table_key("tags", name, "consistent") for name in names}
    assert len(keys) == len(names)
    assert table_key("tags", question_key("talks@1/polite")) == "tags-talks-1-polite"
