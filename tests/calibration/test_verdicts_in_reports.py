"""A verdict is the same in the report's page, its files, its API and the command on the same ratings."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Label, Rater
from calibration.ratings import definitions
from calibration.ratings.definitions import DefinitionError
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import snapshot_of
from calibration.statistics.verdicts import TITLES
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

PEOPLE = ("ann", "ben", "cid")


@pytest.fixture
def tagged() -> World:
    """Forty dialogues of two turns: three people, a judge like them and one that guesses; a metric."""
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(PEOPLE):
        built.say(name, "off_topic", [float((n % 3 < 1) != (n % 17 == person)) for n in range(80)])
    built.say("good", "off_topic", [float((n % 3 < 1) != (n % 19 == 5)) for n in range(80)], kind="judge")
    built.say("guess", "off_topic", [float(n * 7 % 5 < 2) for n in range(80)], kind="judge")
    return built


def test_every_form_of_a_report_gives_the_same_verdicts(tagged: World, tmp_path: Path, capsys) -> None:
    report = studies.compute(study=studies.automatic(corpus=tagged.corpus), part="all", by=None)
    result = snapshot_of(report)
    states = {verdict.rater: verdict.state for verdict in result.verdicts}
    assert states == {"good": "trust", "guess": "do_not_trust"}
    payload = json.loads(RENDERINGS["json"].write(report))["verdicts"]
    assert {entry["rater"]: entry["state"] for entry in payload} == states
    assert {"question", "rater", "state", "reasons", "sentence", "next"} <= set(payload[0])
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    in_csv = {row["raters"]: row["name"] for row in rows if row["name"].startswith("verdict_")}
    for rater, state in states.items():
        assert in_csv[rater] == f"verdict_{state}"
    for form in ("md", "latex", "html"):
        text = RENDERINGS[form].write(report)
        for verdict in result.verdicts:
            assert TITLES[verdict.state] in text
            assert verdict.next_step in text
    path = tmp_path / "ratings.csv"
    lines = ["item,rater,value,kind,cluster"]
    for label in Label.objects.filter(question=tagged.questions["off_topic"]).select_related(
        "rater", "item__continuation__dialogue"
    ):
        dialogue = label.item.continuation.dialogue.key
        lines.append(f"{label.item_id},{label.rater.name},{label.value},{label.rater.kind},{dialogue}")
    path.write_text("\n".join(lines), encoding="utf-8")
    call_command("agree", str(path), "--scale", "binary", "--json")
    printed = json.loads(capsys.readouterr().out)["verdicts"]
    assert {entry["rater"]: entry["state"] for entry in printed} == states
    for entry, own in zip(printed, payload, strict=True):
        assert entry["gap"]["value"] == pytest.approx(own["gap"]["value"], abs=1e-12)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"gap": 2}, "verdict: gap is a number from 0 to 1, not 2"),
        ({"people": 1}, "verdict: people is a whole number from 2 to 20, not 1"),
        ({"width": 1}, "verdict is an object with gap, agreement"),
        ("strict", "verdict is an object with gap, agreement"),
        ({"baselines": "yes"}, "verdict: baselines is true or false"),
        ({"alternative_test": "maybe"}, "alternative_test is ignored, enough or needed, not 'maybe'"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused_in_one_line(raw, message: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        definitions.parse({"verdict": raw})
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_study_with_a_stricter_rule_has_another_verdict_and_another_hash(tagged: World) -> None:
    plain = studies.create(name="plain", corpus=tagged.corpus, campaign=None, definition={}, by=None)
    strict = studies.create(
        name="strict", corpus=tagged.corpus, campaign=None, definition={"verdict": {"clusters": 60}}, by=None
    )
    reports = [studies.compute(study=study, part="all", by=None) for study in (plain, strict)]
    states = [{v.rater: v.state for v in snapshot_of(report).verdicts} for report in reports]
    assert states[0]["good"] == "trust"
    assert states[1]["good"] == "cannot_say"
    assert reports[0].inputs_hash != reports[1].inputs_hash
    assert snapshot_of(reports[1]).definition.verdict.clusters == 60


def test_the_links_of_verdicts_lead_to_their_next_step_under_the_rater_s_own_name(
    tagged: World, researcher: Client
) -> None:
    Rater.objects.filter(name="guess").update(short_name="Dice v1")
    study = studies.automatic(corpus=tagged.corpus)
    studies.compute(study=study, part="all", by=None)
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    table = page.split('id="verdicts"', 1)[1].split("</table>")[0]
    assert "Dice v1" in table
    links = [html.unescape(href) for href in re.findall(r'href="([^"]+)"', table)]
    assert any("/items/?" in link and "a=guess" in link for link in links), links
    assert all(researcher.get(link).status_code == 200 for link in links if link.startswith("/"))
    crumbs = re.search(r'href="(/corpora/[^"]+)"', page)
    assert crumbs
    assert researcher.get(crumbs.group(1)).status_code == 200
