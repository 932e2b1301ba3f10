"""Requirements on a report: a pipeline stops, in one line each, where a judge is not good enough."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Label
from calibration.errors import RequirementError
from calibration.reports.requirements import Requirement, broken, check, junit, read
from calibration.studies import study_actions as studies
from jobs.models import WebhookEvent
from jobs.webhooks import add
from tests import factories
from tests.calibration.world import World, world

DOCS = Path(__file__).parents[2] / "docs" / "studies.md"


def figure(value: float | None, low: float | None = None, **more: object) -> dict:
    return {"name": "judge_cohen_kappa", "value": value, "low": low, "high": value, "reason": ""} | more


VERDICTS = [
    {
        **{"question": "helpful", "rater": "good", "state": "trust", "sentence": "It does.", "n_items": 50},
        **{"agreement": figure(0.8, 0.7), "people": figure(0.82, 0.7), "gap": figure(-0.02, -0.1)},
        "n_answered": 50,
    },
    {
        **{"question": "polite", "rater": "bad", "state": "do_not_trust", "sentence": "It guesses."},
        **{"agreement": figure(0.1, -0.1), "people": figure(0.8, 0.7), "gap": figure(-0.7, -0.9)},
        **{"n_answered": 40, "n_items": 50},
    },
]
STATISTICS = [
    {"name": "judge_mean_mcc", "raters": ["good", "ana", "ben"], "question": "helpful", **figure(0.7, 0.6)},
    {"name": "mcc", "raters": ["ana", "good"], "question": "helpful", **figure(0.1, 0.0)},
    {"name": "krippendorff_alpha", "raters": ["ana", "ben"], "question": "helpful", **figure(0.75, None)},
    {"name": "krippendorff_alpha", "raters": ["ana", "good"], "question": "helpful", **figure(0.2, 0.1)},
]
for entry, name in zip(
    STATISTICS, ["judge_mean_mcc", "mcc", "krippendorff_alpha", "krippendorff_alpha"], strict=True
):
    entry["name"] = name


@pytest.mark.parametrize(
    "text,line",
    [
        ("kappa.low >= 0.6", "it is −0.100 (bad on polite)"),
        ("kappa.low >= 0.6 of good", ""),
        ("kappa.low >= 0.6 on helpful", ""),
        ("kappa.low >= -1 of bad on polite", ""),
        ("verdict == trust", "the verdict is do_not_trust: It guesses. (bad on polite)"),
        ("verdict != do_not_trust of good", ""),
        ("gap > -0.15", "it is −0.700 (bad on polite)"),
        ("people >= .8", ""),
        ("answered >= 0.9", "it is 0.800 (bad on polite)"),
        ("mcc >= 0.65", ""),
        ("mcc.low >= 0.65", "it is 0.600 (good on helpful)"),
        ("kappa == 0.8", "it is 0.100 (bad on polite)"),
        ("rho > 0", "the report compares no judge with people in this way"),
        (
            "baseline > 0",
            "not defined: there is no such figure (good on helpful); "
            "not defined: there is no such figure (bad on polite)",
        ),
    ],
)
def test_a_requirement_holds_for_every_judge_and_question_or_says_where_not(text: str, line: str) -> None:
    lines = broken(check([read(text)], VERDICTS, STATISTICS))
    assert lines == ([f"{text}: {line}"] if line else [])


def test_a_figure_without_an_interval_meets_no_requirement_on_its_end() -> None:
    figures = [{"name": "krippendorff_alpha", "raters": ["ana", "ben"], "question": "q", **figure(0.75)}]
    figures[0]["name"] = "krippendorff_alpha"
    (line,) = broken(check([read("krippendorff_alpha.low > 0")], [], figures))
    assert line == "krippendorff_alpha.low > 0: not defined: it has no interval (ana and ben on q)"


@pytest.mark.parametrize(
    "text,reason",
    [
        ("kappa", "is no requirement"),
        ("kappa >= much", "much is not a number"),
        ("kappa.middle >= 0.1", "there is no kappa.middle"),
        ("answered.low >= 0.1", "it has no interval"),
        ("verdict == good", "compared by == or != with trust, not_yet, do_not_trust, cannot_say"),
        ("verdict >= trust", "compared by == or !="),
        ("verdict.low == trust", "compared by == or !="),
    ],
)
def test_a_requirement_that_says_nothing_is_refused(text: str, reason: str) -> None:
    with pytest.raises(RequirementError, match=reason):
        read(text)


@pytest.mark.parametrize("text", ["kapa > 0", "kappa > 0 of nobody", "kappa > 0 on rude"])
def test_a_name_that_the_report_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(RequirementError, match="the report has no"):
        check([read(text)], VERDICTS, STATISTICS)


def test_the_outcome_is_a_file_that_build_servers_read() -> None:
    checks = check([read("kappa.low >= 0.6"), read("answered > 0")], VERDICTS, STATISTICS)
    suite = ElementTree.fromstring(junit(checks, "a <b>\x01"))
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == "it is −0.100 (bad on polite)"
    assert [case.get("name") for case in suite][:2] == [
        "kappa.low >= 0.6 (good on helpful)",
        "kappa.low >= 0.6 (bad on polite)",
    ]


def test_a_requirement_is_read_whatever_stands_around_it() -> None:
    assert read(" gap.low>-.1  of  my judge  on  A question? ") == Requirement(
        "gap.low>-.1  of  my judge  on  A question?", "gap", "low", ">", -0.1, "my judge", "A question?"
    )


@pytest.fixture
def tagged(db: None) -> World:
    """Forty dialogues of two turns: three people, a judge like them and one that guesses."""
    built = world(dialogues=40, turns=2)
    built.ask("off_topic", "binary", [0, 1], wording="Off topic")
    for person, name in enumerate(("ann", "ben", "cid")):
        built.say(name, "off_topic", [float((n % 3 < 1) != (n % 17 == person)) for n in range(80)])
    built.say("good", "off_topic", [float((n % 3 < 1) != (n % 19 == 5)) for n in range(80)], kind="judge")
    built.say("guess", "off_topic", [float(n * 7 % 5 < 2) for n in range(80)], kind="judge")
    return built


def test_study_and_agree_stop_a_pipeline_with_the_same_lines(tagged: World, tmp_path: Path) -> None:
    corpus = tagged.corpus.name
    outcome = tmp_path / "outcome.xml"
    options = [
        "--require",
        "verdict == trust",
        "--require",
        "kappa.low >= 0.5",
        "--require",
        "mcc > 0.7 of good",
    ]
    out = io.StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("study", "--corpus", corpus, *options, "--junit", str(outcome), stdout=out)
    assert "Verdicts" in out.getvalue()
    lines = str(refused.value).splitlines()
    assert [line.split(":")[1].strip() for line in lines] == ["verdict == trust", "kappa.low >= 0.5"]
    assert all("(guess on Off topic)" in line and "good" not in line for line in lines)
    assert ElementTree.parse(outcome).getroot().get("failures") == "2"
    call_command("study", "--corpus", corpus, "--require", "verdict == trust of good", stdout=io.StringIO())

    path = tmp_path / "ratings.csv"
    call_command(
        "export_labels", "--corpus", corpus, "--format", "csv", "--output", str(path), stdout=io.StringIO()
    )
    with pytest.raises(CommandError) as refused:
        call_command("agree", str(path), "--questions", "off_topic", *options, stdout=io.StringIO())
    again = str(refused.value).splitlines()
    assert [line.split(":")[1].strip() for line in again] == ["verdict == trust", "kappa.low >= 0.5"]


def test_a_requirement_is_refused_before_anything_is_computed(tagged: World) -> None:
    with pytest.raises(CommandError, match=r"--require: .*is no requirement"):
        call_command("study", "--corpus", tagged.corpus.name, "--require", "kappa")
    with pytest.raises(CommandError, match="--junit goes with --require"):
        call_command("study", "--corpus", tagged.corpus.name, "--junit", "x.xml")
    assert not studies.automatic(corpus=tagged.corpus).reports.exists()


def test_a_verdict_that_changes_is_an_event_with_counts_and_no_names(tagged: World) -> None:
    root = factories.user("root", administrator=True)
    add(by=root, url="https://hooks.example/", events=["verdict.changed"])
    study = studies.automatic(corpus=tagged.corpus)
    first = studies.compute(study=study, part="all", by=root)
    assert not WebhookEvent.objects.exists()
    labels = Label.objects.filter(rater__name="good").order_by("pk")[:60]
    Label.objects.filter(pk__in=labels).update(superseded_at=timezone.now())
    second = studies.compute(study=study, part="all", by=root)
    assert second.pk != first.pk
    (event,) = WebhookEvent.objects.all()
    assert event.kind == "verdict.changed"
    assert (event.data["report"], event.data["before"]) == (second.pk, first.pk)
    ((change),) = event.data["changes"]
    assert change["from"] == "trust"
    assert change["verdicts"] == 1
    assert "good" not in json.dumps(event.data)


@pytest.mark.parametrize("place", ["GitHub Actions", "GitLab CI"])
def test_the_pipelines_of_the_docs_are_yaml_and_hold_a_report_against_requirements(place: str) -> None:
    text = DOCS.read_text(encoding="utf-8").split(f'title="{place}"')[1].split("```")[0].split("\n", 1)[1]
    pipeline = yaml.safe_load(text)
    commands = [line for line in json.dumps(pipeline).split("\\n") if "--require" in line]
    assert pipeline
    assert commands
