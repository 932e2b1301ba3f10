"""A report is stored completely, restored unchanged, and marked if it has an older format."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from calibration.errors import OlderFormat
from calibration.models import Report, Study
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import FORMAT, snapshot_of, to_json
from calibration.studies import study_actions as studies
from calibration.studies.computing import result_of
from calibration.studies.inputs import read
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """A tag and a scale, answered by three people, a judge and a metric."""
    built = world(dialogues=8, turns=2)
    built.ask("tag", "binary", [0, 1], wording="Tag")
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="Quality")
    for place, (name, kind) in enumerate(
        [("ann", "human"), ("ben", "human"), ("cid", "human"), ("gpt", "judge")]
    ):
        built.say(name, "tag", [float((n + (n % (3 + place) == 0)) % 2) for n in range(16)], kind=kind)
        built.say(name, "quality", [float(1 + (n * 7 + n % (2 + place)) % 5) for n in range(16)], kind=kind)
    built.say("bleu", "quality", [float(1 + n % 5) for n in range(16)], kind="metric")
    return built


def _study(built: World) -> Study:
    return studies.create(
        name="kept",
        corpus=built.corpus,
        definition={"resamples": 40, "questions": ["tag@1/tag", "quality@1/quality"]},
        by=None,
    )


def test_a_kept_report_is_what_was_computed(rated: World) -> None:
    study = _study(rated)
    computed = result_of(read(study, "all"))
    report = studies.compute(study=study, part="all", by=None)
    report.refresh_from_db()
    assert snapshot_of(report) == computed
    assert to_json(snapshot_of(report)) == report.result
    assert {len(question.figures) > 20 for question in computed.questions} == {True}


@pytest.mark.exhaustive
def test_a_report_of_an_older_format_is_computed_again_where_it_is_shown(
    rated: World, researcher: Client
) -> None:
    study = _study(rated)
    old = studies.compute(study=study, part="all", by=None)
    Report.objects.filter(pk=old.pk).update(result={"format": 1, "questions": []}, inputs_hash="of before")
    page = researcher.get(reverse("report", args=[study.pk]))
    assert page.status_code == 200
    assert page.context["report"].pk != old.pk
    assert page.context["report"].result["format"] == FORMAT
    answer = researcher.get(f"/api/v1/studies/{study.pk}/report/")
    assert answer.json()["id"] != old.pk


@pytest.mark.exhaustive
def test_an_earlier_report_of_an_older_format_says_so_and_is_downloaded_as_it_was_kept(
    rated: World, researcher: Client
) -> None:
    study = _study(rated)
    old = studies.compute(study=study, part="all", by=None)
    Report.objects.filter(pk=old.pk).update(result={"format": 1, "kept": ["as it was"]})
    page = researcher.get(reverse("report", args=[study.pk]) + f"?snapshot={old.pk}")
    assert page.status_code == 422
    text = page.content.decode()
    assert "was kept in format 1, which this version does not show" in text
    address = reverse("report-file", args=[study.pk, "json"]) + f"?snapshot={old.pk}"
    assert address in text
    kept = json.loads(b"".join(researcher.get(address)))
    assert kept["kept"] == ["as it was"]
    assert "answers" not in kept


@pytest.mark.exhaustive
@pytest.mark.parametrize("form", [form for form in RENDERINGS if form != "json"])
def test_no_other_file_is_made_of_a_report_of_an_older_format(rated: World, form: str) -> None:
    report = studies.compute(study=_study(rated), part="all", by=None)
    report.result = {"format": 1}
    with pytest.raises(OlderFormat):
        RENDERINGS[form].write(report)
