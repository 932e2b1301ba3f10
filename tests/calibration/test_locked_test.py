"""The test part is locked: no export and no second split reveals it without a logged look."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import Split, TestLook
from calibration.gold import derivation
from calibration.models import Export, Gold, Report, Study
from calibration.reports.view import looks
from calibration.studies.study_actions import compute, create
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db


@pytest.fixture
def rated() -> World:
    """Eight dialogues of two turns, rated by two people; four of them are test."""
    built = world(dialogues=8, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [float(1 + n % 3) for n in range(16)])
    built.say("ben", "quality", [float(1 + n % 2) for n in range(16)])
    return built


@pytest.fixture
def split(rated: World) -> Split:
    return splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)


@pytest.fixture
def api() -> APIClient:
    made = APIClient()
    made.force_authenticate(user(researcher=True))
    return made


def _rows(answer: object) -> list[dict[str, str]]:
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def _gold(rated: World) -> Gold:
    version = rated.questions["quality"].version
    return derivation.make(corpus=rated.corpus, campaign=None, scheme_version=version, rule="mean", by=None)


def test_an_export_of_a_split_corpus_gives_dev_and_fixes_the_split(
    researcher: Client, rated: World, split: Split
) -> None:
    rows = _rows(researcher.get(reverse("export-labels", args=["csv"]) + f"?corpus={rated.corpus.pk}"))
    assert {row["part"] for row in rows} == {"dev"}
    assert len(rows) == 16
    assert not TestLook.objects.exists()
    split.refresh_from_db()
    assert split.fixed_at is not None
    assert Export.objects.get().part == "dev"


def test_without_a_split_an_export_has_all_rows_and_an_empty_part(researcher: Client, rated: World) -> None:
    rows = _rows(researcher.get(reverse("export-labels", args=["csv"]) + f"?corpus={rated.corpus.pk}"))
    assert (len(rows), {row["part"] for row in rows}) == (32, {""})


def test_taking_test_out_on_the_page_is_a_look_with_its_purpose(
    researcher: Client, rated: World, split: Split
) -> None:
    address = reverse("export-labels", args=["csv"]) + f"?corpus={rated.corpus.pk}"
    refused = researcher.post(address, {"part": "all", "purpose": " "}, follow=True)
    assert "test is locked" in refused.content.decode()
    assert not TestLook.objects.exists()
    rows = _rows(researcher.post(address, {"part": "all", "purpose": "the data release"}))
    assert {part: sum(row["part"] == part for row in rows) for part in ("dev", "test")} == {
        "dev": 16,
        "test": 16,
    }
    assert TestLook.objects.get().purpose == "export: the data release"


def test_the_page_offers_test_only_where_there_is_one(researcher: Client, rated: World) -> None:
    address = reverse("exports") + f"?corpus={rated.corpus.pk}"
    assert "Take test out" not in researcher.get(address).content.decode()
    splits.draw(corpus=rated.corpus, by=None)
    assert "Take test out" in researcher.get(address).content.decode()


def test_over_http_test_needs_post_and_a_purpose(api: APIClient, rated: World, split: Split) -> None:
    address, where = "/api/v1/exports/labels.csv", {"corpus": rated.corpus.pk}
    assert {row["part"] for row in _rows(api.get(address, where))} == {"dev"}
    assert api.get(address, where | {"part": "test", "purpose": "x"}).status_code == 400
    assert api.post(address, where | {"part": "test"}, format="json").status_code == 400
    unused = api.post(address, where | {"part": "dev", "purpose": "the paper"}, format="json")
    assert unused.json()["fields"] == {"purpose": ["A purpose is for part test or all: no other is opened."]}
    assert not TestLook.objects.exists()
    body = where | {"part": "test", "purpose": "the paper"}
    assert {row["part"] for row in _rows(api.post(address, body, format="json"))} == {"test"}
    assert TestLook.objects.count() == 1


def test_the_command_writes_dev_and_takes_test_with_a_purpose(
    rated: World, split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.jsonl"
    said = ["export_labels", "--corpus", "talks", "--format", "jsonl", "--output", str(path)]
    call_command(*said)
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["rows"], last["part"]) == (16, "dev")
    with pytest.raises(CommandError, match="test is locked"):
        call_command(*said, "--part", "all")
    call_command(*said, "--part", "all", "--purpose", "the release")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["part"] for line in lines} == {"dev", "test"}
    assert TestLook.objects.count() == 1


def test_gold_is_locked_in_the_same_way(
    researcher: Client, api: APIClient, rated: World, split: Split
) -> None:
    made = _gold(rated)
    address = reverse("gold-file", args=[made.pk, "csv"])
    assert {row["part"] for row in _rows(researcher.get(address))} == {"dev"}
    assert {row["part"] for row in _rows(api.get(f"/api/v1/gold/{made.pk}/labels.csv"))} == {"dev"}
    assert not TestLook.objects.exists()
    assert len(_rows(researcher.post(address, {"part": "all", "purpose": "the release"}))) == 16
    assert TestLook.objects.count() == 1
    assert "Take test out" in researcher.get(reverse("gold", args=[made.pk])).content.decode()


def test_a_second_split_that_opens_test_needs_a_purpose_and_is_a_look(rated: World, split: Split) -> None:
    with pytest.raises(SplitRefused, match="test clusters of the split main would be dev in other"):
        splits.draw(corpus=rated.corpus, by=None, seed=9, name="other")
    assert not Split.objects.filter(name="other").exists()
    splits.draw(corpus=rated.corpus, by=None, seed=9, name="other", purpose="a second seed")
    assert TestLook.objects.get(split=split).purpose == "drawing the split other: a second seed"
    split.refresh_from_db()
    assert split.fixed_at is not None


def test_a_second_split_that_opens_nothing_is_no_look(rated: World, split: Split) -> None:
    splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.75, name="wider")
    assert not TestLook.objects.exists()


def test_over_http_a_second_split_is_refused_without_a_purpose(
    api: APIClient, rated: World, split: Split
) -> None:
    address, body = f"/api/v1/corpora/{rated.corpus.name}/splits/", {"name": "other", "seed": 9}
    answer = api.post(address, body, format="json")
    assert (answer.status_code, "say what for" in answer.json()["detail"]) == (400, True)
    assert api.post(address, body | {"purpose": "seeds"}, format="json").status_code == 201
    assert TestLook.objects.count() == 1


def test_a_report_on_another_split_prints_the_looks_at_the_lock(rated: World, split: Split) -> None:
    splits.draw(corpus=rated.corpus, by=None, seed=9, name="other", purpose="a second seed")
    study: Study = create(name="second", corpus=rated.corpus, definition={"split": "other"}, by=None)
    report: Report = compute(study=study, part="dev", by=None)
    assert [look.purpose for look in looks(report)] == ["drawing the split other: a second seed"]


@pytest.mark.exhaustive
def test_pages_show_no_answers_about_test_before_the_first_look(researcher: Client, rated: World) -> None:
    split, made = splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5), _gold(rated)
    dialogues = {
        part: rated.corpus.dialogues.filter(cluster__in=splits.clusters(split=split, part=part))
        for part in ("dev", "test")
    }

    def page_of(part: str) -> str:
        return researcher.get(reverse("dialogue", args=[dialogues[part][0].pk])).content.decode()

    def gold_page() -> str:
        return researcher.get(reverse("gold", args=[made.pk])).content.decode()

    assert "Locked" not in page_of("dev")
    assert "ann" in page_of("dev").partition('id="answers"')[2]
    assert "Locked: this dialogue is in the test part" in page_of("test")
    assert "ann" not in page_of("test").partition('id="answers"')[2].replace("answer", "")
    assert "Locked: 8 labels of the test part" in gold_page()
    assert gold_page().count("turn=") == 8
    splits.open_test(split=split, by=None, purpose="table 2")
    assert "ann" in page_of("test").partition('id="answers"')[2]
    assert gold_page().count("turn=") == 16
    assert "Locked" not in gold_page() + page_of("test")
