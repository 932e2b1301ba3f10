"""The commands of calibration: their output, and a one-line message for each error."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora import splits
from annotation.models import TestLook
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Four dialogues rated by two people."""
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.say("ann", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    built.say("ben", "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 2.0, 2.0])
    return built


def _said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_study_prints_a_corpus_s_report_as_json(rated: World) -> None:
    told = json.loads(_said("study", "--corpus", "talks", "--format", "json"))
    assert told["corpus"] == "talks"
    assert told["questions"][0]["key"] == "quality"
    assert told["answers"][0]["title"] == "How well do people agree?"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "form,holds", [("csv", "krippendorff_alpha"), ("md", "| Quality |"), ("latex", r"\toprule")]
)
def test_study_prints_other_forms(rated: World, form: str, holds: str) -> None:
    assert holds in _said("study", "--corpus", "talks", "--format", form)


@pytest.mark.exhaustive
def test_study_prints_a_page_that_stands_alone(rated: World) -> None:
    page = _said("study", "--corpus", "talks", "--format", "html")
    assert "<style>" in page
    assert not any(mark in page for mark in ("<script", "<link", "src=")), "nothing is loaded"
    assert set(re.findall(r"url\(.{6}", page)) <= {'url("data:'}


def test_study_names_a_saved_study(rated: World) -> None:
    from calibration.studies import study_actions as studies

    studies.create(name="ours", corpus=rated.corpus, definition={}, by=None)
    assert "# ours" in _said("study", "ours")


@pytest.mark.parametrize(
    "arguments,message",
    [
        (["study", "none"], "no study 'none'"),
        (["study"], "name either --corpus or --campaign"),
        (["study", "--corpus", "x"], "no corpus 'x'; there are talks"),
        (["study", "--campaign", "x"], "no campaign 'x'; there are none yet"),
        (["export_labels", "--corpus", "x"], "no corpus 'x'"),
        (
            ["export_labels", "--corpus", "talks", "--output", "/nowhere/labels.csv"],
            "No such file or directory",
        ),
        (["export_gold", "--gold", "9"], "there is no gold 9"),
        (["export_gold", "--corpus", "talks", "--scheme", "x"], "name one scheme with --scheme"),
        (["export_gold", "--corpus", "talks", "--raters", "zoe"], "no rater 'zoe'"),
    ],
)
def test_a_mistake_is_answered_in_one_line(rated: World, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        _said(*arguments)
    assert "\n" not in str(refused.value)


def test_study_opens_test_only_with_a_purpose(rated: World) -> None:
    splits.draw(corpus=rated.corpus, by=None)
    with pytest.raises(CommandError, match="say what test is opened for"):
        _said("study", "--corpus", "talks", "--part", "test")
    assert "the paper" in _said("study", "--corpus", "talks", "--part", "test", "--purpose", "the paper")
    assert TestLook.objects.count() == 1


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_export_labels_writes_a_file_and_says_its_hash(rated: World, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"labels.{form}"
    last = json.loads(_said("export_labels", "--corpus", "talks", "--format", form, "--output", str(path)))
    assert last["rows"] == 16
    assert last["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_export_gold_chooses_and_writes_with_provenance(rated: World, tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    last = json.loads(_said("export_gold", "--corpus", "talks", "--rule", "mean", "--output", str(path)))
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert (last["rule"], last["rows"], last["scheme"]) == ("mean", 8, "quality@1")
    assert rows[6]["value"] == "1.5"
    assert {row["inputs_hash"] for row in rows} == {last["inputs_hash"]}


def test_export_gold_follows_the_scale_and_says_how_many_items_stay_without_a_value(
    rated: World, tmp_path: Path
) -> None:
    rated.ask("act", "nominal", ["ask", "tell"], scheme="acts")
    rated.say("ann", "act", ["ask", "ask", "tell", None])
    rated.say("ben", "act", ["ask", "tell", "tell", None])
    wanted = {
        "quality": ("median", "Median: 0 of 8 items stay without a value"),
        "acts": ("majority", "2 of 4 items stay without a value, 1 of them because answers tie"),
    }
    for scheme, (rule, line) in wanted.items():
        out, errors = io.StringIO(), io.StringIO()
        path = str(tmp_path / f"{scheme}.csv")
        how = ("export_gold", "--corpus", "talks", "--scheme", scheme, "--output", path)
        call_command(*how, stdout=out, stderr=errors)
        (last,) = out.getvalue().splitlines()
        assert json.loads(last)["rule"] == rule
        assert line in errors.getvalue()
