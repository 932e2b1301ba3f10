"""Every statistic in the table is available: in the form, on the page, in every file, and in `agree`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.text.display import number
from calibration.models import Report
from calibration.renderings import escaped
from calibration.reports import tables
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import Figure
from calibration.reports.snapshot import snapshot_of
from calibration.reports.view import SECTIONS
from calibration.statistics.table import STATISTICS, described
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
RATERS = {"ann": "human", "ben": "human", "cid": "human", "gpt": "judge", "llm": "judge"}
ITEMS = 40
GROUP = ("rude", "vague")


def tags(place: int) -> list[float]:
    """What a rater says of each item: mostly like the others."""
    return [float((n + (n % (5 + place) == 0)) % 2) for n in range(ITEMS)]


def scores(place: int) -> list[float]:
    """The same on a scale of five."""
    return [float(1 + (n * 7 + (n % (4 + place) == 0)) % 5) for n in range(ITEMS)]


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """A tag, a scale and a group of tags, answered by three people and two judges."""
    built = world(dialogues=ITEMS // 2, turns=2)
    for tag in GROUP:
        built.ask(tag, "binary", [0, 1], scheme="group", wording=tag, group="Group")
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, (name, kind) in enumerate(RATERS.items()):
        built.say(name, "tag", tags(place), kind=kind)
        built.say(name, "quality", scores(place), kind=kind)
        for shift, tag in enumerate(GROUP):
            built.say(name, tag, tags(place + shift), kind=kind)
    return built


def computed(built: World, key: str, metric: str = "") -> tuple[Report, list[Figure]]:
    """A report of one statistic, and the figures of it that have a value; a metric answers the scale."""
    linked = [{"question": metric, "map": "rank"}] if metric else []
    questions: list[Any] = ["tag@1/tag", {"question": "quality@1/quality", "answered_by": linked}]
    if key in STATISTICS and STATISTICS[key].of_sets:
        questions = [f"group@1/{tag}" for tag in GROUP]
    definition = {"statistics": [key], "resamples": 0, "questions": questions}
    study = studies.create(name=key, corpus=built.corpus, campaign=None, definition=definition, by=None)
    report = studies.compute(study=study, part="all", by=None)
    names = (key, f"people_{key}", f"judge_{key}", f"people_mean_{key}", f"judge_mean_{key}")
    snapshot = snapshot_of(report)
    figures = [figure for question in snapshot.questions for figure in question.figures]
    figures += [figure for tag_set in snapshot.sets for figure in tag_set.figures]
    return report, [figure for figure in figures if figure.name in names and figure.ok]


def _in_json(text: str, figures: list[Figure]) -> bool:
    kept = [entry for q in json.loads(text)["questions"] for entry in [*q["panel"], *q["pairs"], *q["gaps"]]]
    kept += [entry for q in json.loads(text)["questions"] for entry in q["replacement"]]
    kept += [entry for tag_set in json.loads(text)["sets"] for entry in tag_set["figures"]]
    found = {(entry["name"], entry["value"]) for entry in kept}
    return all((figure.name, figure.value) in found for figure in figures)


def _in_csv(text: str, figures: list[Figure]) -> bool:
    found = {(row["name"], row["value"]) for row in csv.DictReader(io.StringIO(text))}
    return all((figure.name, str(figure.value)) in found for figure in figures)


def _in_text(written: Callable[[float], str]) -> Callable[[str, list[Figure]], bool]:
    return lambda text, figures: any(written(figure.point) in text for figure in figures)


FOUND: dict[str, Callable[[str, list[Figure]], bool]] = {
    "json": _in_json,
    "csv": _in_csv,
    "md": _in_text(lambda value: f"{number(value, 3)} (no interval)"),
    "latex": _in_text(lambda value: f" {escaped(number(value, 3))} "),
    "html": _in_text(lambda value: f'<span class="fw-bold">{number(value, 3)}</span>'),
}


def test_every_form_of_a_report_is_looked_at_here() -> None:
    assert list(FOUND) == list(RENDERINGS)


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", [key for key, s in STATISTICS.items() if not s.needs_scale])
def test_a_statistic_of_order_is_beside_each_metric(researcher: Client, rated: World, key: str) -> None:
    rated.ask("score", "interval", [], wording="Score")
    rated.say("bleu", "score", [value + n / 99 for n, value in enumerate(scores(3))], kind="metric")
    report, _ = computed(rated, key, "score@1/score")
    table = tables.metrics(snapshot_of(report))
    assert table is not None
    (cell,) = table.rows[-1].cells
    assert cell is not None
    shown = number(cell.value, 3)
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert f'<span class="fw-bold">{shown}</span>' in page.partition("Metrics with people")[2]
    for form in ("md", "latex", "html"):
        assert shown in RENDERINGS[form].write(report)


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", described())
def test_a_statistic_that_a_study_asks_for_is_on_its_page_and_in_each_file(
    researcher: Client, rated: World, key: str
) -> None:
    report, figures = computed(rated, key)
    assert figures
    page = researcher.get(reverse("report", args=[report.study_id])).content.decode()
    assert any(f'<span class="fw-bold">{number(figure.value, 3)}</span>' in page for figure in figures)
    for form, is_found in FOUND.items():
        assert is_found(RENDERINGS[form].write(report), figures), form


def test_the_form_offers_every_statistic(researcher: Client, rated: World) -> None:
    page = researcher.get(reverse("new-study") + f"?corpus={rated.corpus.pk}")
    groups = page.context["form"].fields["statistics"].choices
    offered = {key: title for _, choices in groups for key, title in choices}
    assert offered == {key: statistic.title for key, statistic in described().items()}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same ratings as files, by scale."""
    folder = tmp_path_factory.mktemp("ratings")
    found = {}
    for scale, say in (("binary", tags), ("ordinal", scores)):
        lines = ["item,rater,kind,value"]
        for place, (name, kind) in enumerate(RATERS.items()):
            lines += [f"i{n},{name},{kind},{value:g}" for n, value in enumerate(say(place))]
        found[scale] = folder / f"{scale}.csv"
        found[scale].write_text("\n".join(lines) + "\n")
    return found


def agree(path: Path, scale: str, *options: str) -> str:
    out = io.StringIO()
    values = "0,1" if scale == "binary" else "1,2,3,4,5"
    call_command(
        "agree", str(path), "--scale", scale, "--values", values, "--resamples", "0", *options, stdout=out
    )
    return out.getvalue()


WRITTEN: dict[str, Callable[[float], str]] = {
    "--full": lambda value: number(value, 3),
    "--csv": str,
    "--html": lambda value: number(value, 3),
    "--latex": lambda value: f"${value:.3f}$",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", WRITTEN)
def test_agree_prints_every_statistic_in_every_form(files: dict[str, Path], form: str) -> None:
    entries: list[dict[str, Any]] = []
    said = ""
    for scale, path in files.items():
        entries += json.loads(agree(path, scale, "--json"))["statistics"]
        said += agree(path, scale, form)
    of_one_question = [key for key in described() if key not in STATISTICS or not STATISTICS[key].of_sets]
    for key in of_one_question:
        values = [entry["value"] for entry in entries if entry["name"] == key and entry["value"] is not None]
        assert values, key
        assert all(WRITTEN[form](value) in said for value in values), key


def test_every_section_of_a_report_is_shown_once_and_has_an_anchor_of_its_own() -> None:
    keys = [section.key for section in SECTIONS]
    assert len(keys) == len(set(keys)) > 5
