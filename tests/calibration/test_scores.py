"""Scores in people's terms in a report: learned only on dev, shown in every format, with their method."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.models import Corpus, Label
from calibration.models import Report, Study
from calibration.renderings import escaped
from calibration.reports import scores as section
from calibration.reports.renderings import RENDERINGS
from calibration.reports.results import Scores
from calibration.reports.snapshot import snapshot_of
from calibration.statistics.scores import ERRORS, MARKS
from calibration.studies import study_actions as studies
from tests.calibration.conftest import Compiled
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
DIALOGUES = 20
DEFINITION = {
    "questions": [
        {
            "question": "polite@1/polite",
            "answered_by": [{"question": "score@1/score", "map": {"kind": "rank"}}],
        },
        {
            "question": "quality@1/quality",
            "answered_by": [{"question": "stars@1/stars", "map": {"kind": "rank"}}],
        },
    ],
    "resamples": 60,
}


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Three people and a metric on politeness; two people on quality, 0 to 4, and a judge on 1 to 5."""
    built = world(dialogues=DIALOGUES, turns=3)
    n = DIALOGUES * 3
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.5
    built.ask("polite", "binary", [0, 1], positive=1, wording="Polite")
    built.ask("score", "ratio", wording="Score")
    built.ask("quality", "ordinal", [0, 1, 2, 3, 4], wording="Quality")
    built.ask("stars", "ordinal", [1, 2, 3, 4, 5], wording="Stars")
    for name in ("ann", "ben", "cem"):
        built.say(name, "polite", (truth ^ (rng.random(n) < 0.1)).astype(float).tolist())
    built.say("gauge", "score", np.round(truth + rng.random(n) * 1.2, 2).tolist(), kind="metric")
    grade = rng.integers(0, 5, n)
    for name in ("ann", "ben"):
        built.say(name, "quality", np.clip(grade + rng.integers(-1, 2, n), 0, 4).astype(float).tolist())
    built.say("star judge", "stars", np.clip(grade + 1, 1, 5).astype(float).tolist(), kind="judge")
    return built


@pytest.fixture(scope="module")
def study(rated: World) -> Study:
    """A study that reads both scores by order."""
    return studies.create(name="scores", corpus=rated.corpus, definition=DEFINITION, by=None)


def _scores(report: Report) -> Scores:
    found = snapshot_of(report).scores
    assert found is not None
    return found


@pytest.fixture(scope="module")
def report(study: Study) -> Report:
    """Its report on everything: there is no split."""
    return studies.compute(study=study, part="all", by=None)


@pytest.mark.exhaustive
def test_without_a_split_everything_is_cross_fitted_and_said_so(report: Report) -> None:
    found = _scores(report)
    assert not found.held_out
    assert {(one.rater, one.rule) for one in found.marks} == {
        ("gauge", "balanced_accuracy"),
        ("gauge", "mcc"),
    }
    assert [figure.name for figure in found.marks[0].figures] == list(MARKS)
    assert {one.map for one in found.maps if one.rater == "star judge"} >= {"as_is", "linear", "rank"}
    assert all("cross-fitted over 5 folds" in f.method for one in found.marks for f in one.figures)
    said = [text for view in section.views(snapshot_of(report)) for text in view.remarks]
    assert any("Cross-fitted over 5 folds of dialogues" in text for text in said)


@pytest.mark.exhaustive
def test_a_linear_map_of_declared_scales_learns_nothing(report: Report) -> None:
    (linear,) = [one for one in _scores(report).maps if (one.rater, one.map) == ("star judge", "linear")]
    assert linear.n_learned == 0
    assert linear.figures[0].value < 1


def test_dev_is_cross_fitted_and_test_reads_what_dev_teaches(rated: World, study: Study) -> None:
    splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)
    dev = studies.compute(study=study, part="dev", by=None)
    assert not _scores(dev).held_out
    studies.open_test(study=study, by=None, purpose="the paper")
    test = studies.compute(study=study, part="test", by=None)
    found = _scores(test)
    assert found.held_out
    by_rule = {one.rule: one.threshold for one in _scores(dev).marks}
    assert {one.rule: one.threshold for one in found.marks} == by_rule
    assert found.marks[0].least is None
    assert found.marks[0].n_learned == _scores(dev).marks[0].n_learned
    said = [text for view in section.views(snapshot_of(test)) for text in view.remarks]
    assert any("Learned on the dev part of this study and shown on test" in text for text in said)


def _turned_on(part: str, rated: World) -> None:
    """Have people say the opposite of one part's politeness."""
    held = splits.clusters(split=splits.lock_of(rated.corpus), part=part)
    about = Label.objects.filter(
        question__key="polite", item__continuation__dialogue__cluster__in=held, superseded_at__isnull=True
    ).select_related("item", "rater")
    for name in ("ann", "ben", "cem"):
        said = {label.item: 1 - label.number for label in about if label.rater.name == name}
        rated.say(name, "polite", said)


@pytest.mark.exhaustive
def test_what_people_say_on_test_teaches_nothing_and_changes_the_hash(rated: World, study: Study) -> None:
    splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)
    studies.open_test(study=study, by=None, purpose="the paper")
    before = studies.compute(study=study, part="test", by=None)
    _turned_on("test", rated)
    after = studies.compute(study=study, part="test", by=None)
    assert [m.threshold for m in _scores(after).marks] == [m.threshold for m in _scores(before).marks]
    assert _scores(after).marks[0].figures[0].value != _scores(before).marks[0].figures[0].value
    _turned_on("dev", rated)
    again = studies.compute(study=study, part="test", by=None)
    assert again.inputs_hash != after.inputs_hash
    assert _scores(again).marks[0].rising is not _scores(after).marks[0].rising


@pytest.mark.exhaustive
def test_dev_without_labels_teaches_nothing_on_test(rated: World, study: Study) -> None:
    splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)
    held = splits.clusters(split=splits.lock_of(rated.corpus), part="dev")
    gone = Label.objects.filter(rater__name="gauge", item__continuation__dialogue__cluster__in=held)
    gone.update(superseded_at="2026-01-01T00:00Z")
    studies.open_test(study=study, by=None, purpose="the paper")
    found = _scores(studies.compute(study=study, part="test", by=None))
    assert {one.reason for one in found.marks} == {"no item of dev has both this score and people’s answers"}
    assert all(one.figures == () for one in found.marks)


def test_the_csv_has_every_figure_unrounded_and_the_json_the_typed_data(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    found = _scores(report)
    (recall,) = [row for row in rows if row["name"] == "threshold_mcc_recall"]
    wanted = next(one for one in found.marks if one.rule == "mcc").figures[1]
    assert (float(recall["value"]), recall["raters"]) == (wanted.value, "gauge")
    names = {row["name"] for row in rows}
    assert {f"map_ordinal_{error}" for error in ERRORS} | {"isotonic_brier", "platt_resolution"} <= names
    assert any(name.startswith("isotonic_bin_") for name in names)
    kept = json.loads(RENDERINGS["json"].write(report))["scores"]
    assert kept["marks"][0]["threshold"] == found.marks[0].threshold
    assert kept["probabilities"][0]["bins"][0]["n"] == found.probabilities[0].bins[0].n


@pytest.mark.exhaustive
def test_markdown_and_the_web_page_have_the_tables(report: Report) -> None:
    markdown = RENDERINGS["md"].write(report)
    for title in (
        "Thresholds by best balanced accuracy",
        "Thresholds by best MCC",
        "Scores as probabilities",
    ):
        assert f"## {title}" in markdown
    assert "star judge, linear, end to end" in markdown
    page = RENDERINGS["html"].write(report)
    assert "Reliability of gauge on Polite" in page
    assert "Scores on people’s scale" in page


def test_latex_compiles(report: Report, compiled: Compiled) -> None:
    written = RENDERINGS["latex"].write(report)
    assert escaped("star judge, by rank") in written
    assert r"gauge $\geq$" in written
    compiled(written, packages="booktabs,graphicx")


@pytest.mark.exhaustive
def test_the_page_shows_the_rule_that_is_asked_for_and_the_diagram(
    researcher: Client, report: Report, study: Study
) -> None:
    address = reverse("report", args=[study.pk])
    page = researcher.get(address).content.decode()
    assert "Thresholds by best balanced accuracy" in page
    assert "Thresholds by best MCC" not in page
    other = researcher.get(address, {"rule": "mcc"}).content.decode()
    assert "Thresholds by best MCC" in other
    drawn = researcher.get(reverse("report-chart", args=[study.pk, "reliability-1", "svg"]))
    assert drawn.content.startswith(b"<svg")
    data = researcher.get(reverse("report-chart", args=[study.pk, "reliability-1", "csv"]))
    assert data.content.decode().splitlines()[0].startswith("question,series,x,value,low,high")


def test_a_report_without_scores_has_no_such_section(rated: World) -> None:
    only = {"questions": ["polite@1/polite"], "resamples": 20}
    study = studies.create(name="people", corpus=rated.corpus, definition=only, by=None)
    report = studies.compute(study=study, part="all", by=None)
    assert snapshot_of(report).scores is None
    assert "Threshold" not in RENDERINGS["md"].write(report)


@pytest.mark.exhaustive
def test_hostile_names_are_text_everywhere(rated: World) -> None:
    rated.ask("bad", "ratio", wording="Bad")
    name = "=cmd()|<script>alert(1)</script> \\input{x}"
    rated.say(name, "bad", [float(n % 7) for n in range(60)], kind="metric")
    link = {"question": "bad@1/bad", "map": {"kind": "rank"}}
    definition = {"questions": [{"question": "polite@1/polite", "answered_by": [link]}], "resamples": 20}
    study = studies.create(name="hostile", corpus=rated.corpus, definition=definition, by=None)
    report = studies.compute(study=study, part="all", by=None)
    assert "<script>alert" not in RENDERINGS["html"].write(report)
    assert r"\input{x}" not in RENDERINGS["latex"].write(report)
    cells = [row["raters"] for row in csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report)))]
    assert all(not cell.startswith("=") for cell in cells)


@pytest.mark.exhaustive
@pytest.mark.shared
def test_gpt4_on_fed_meets_peoples_majority(shared_data: Path) -> None:
    from annotation.corpora.import_file import import_path

    import_path(path=shared_data / "fed/fed_data.json", format="fed", corpus="fed", into=False, by=None)
    judged = shared_data / "fed_gpt4_judge/fed_gpt4_annotations.json"
    import_path(path=judged, format="fed_gpt4", corpus="fed", into=True, by=None)
    link = {"question": "fed_gpt4@1/coh", "map": {"kind": "rank"}}
    definition = {"questions": [{"question": "fed_dialogue@1/consistent", "answered_by": [link]}]}
    study = studies.create(
        name="fed", corpus=Corpus.objects.get(name="fed"), definition=definition | {"resamples": 50}, by=None
    )
    found = _scores(studies.compute(study=study, part="all", by=None)).marks[0]
    items = [
        item for item in json.loads((shared_data / "fed/fed_data.json").read_text()) if "response" not in item
    ]
    said = [[v for v in item["annotations"]["Consistent"] if not isinstance(v, str)] for item in items]
    shares = [np.mean(values) for values in said]
    truth = np.array([share > 0.5 for share in shares])
    assert (found.threshold, found.rising, found.n_ties) == (3.5, True, sum(s == 0.5 for s in shares))
    assert found.figures[0].n_items == len(truth) - found.n_ties


@pytest.mark.exhaustive
def test_agree_learns_thresholds_and_maps_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    lines = ["item,rater,value,cluster,kind"]
    for n in range(80):
        truth = rng.random() < 0.5
        lines += [f"i{n},p{k},{int(truth ^ (rng.random() < 0.1))},d{n // 4},human" for k in range(3)]
        lines += [f"i{n},gauge,{rng.normal() + 2 * truth:.3f},d{n // 4},metric"]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    call_command("agree", path, "--scale", "binary", "--threshold", "--json", "--resamples", "50")
    found = json.loads(capsys.readouterr().out)
    assert {one["rule"] for one in found["thresholds"]} == {"balanced_accuracy", "mcc"}
    assert set(found["thresholds"][0]["figures"]) == set(MARKS)
    assert {one["method"] for one in found["probabilities"]} == {"isotonic", "platt"}
    call_command("agree", path, "--scale", "binary", "--threshold", "--resamples", "50")
    assert "gauge at least" in capsys.readouterr().out
    call_command("agree", path, "--scale", "interval", "--scale-maps", "--json", "--resamples", "50")
    assert {one["map"] for one in json.loads(capsys.readouterr().out)["scale_maps"]} >= {"rank", "mean"}
    people = tmp_path / "people.csv"
    people.write_text("\n".join(line for line in lines if "metric" not in line) + "\n")
    with pytest.raises(CommandError, match="column kind says metric"):
        call_command("agree", people, "--scale", "binary", "--threshold")
