"""A plug-in is one file and one line: an entry in one table appears on page, command and API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import call_command, load_command_class
from django.test import Client
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator

from annotation.api.corpora_serializers import ImportRequest
from annotation.formats import FORMATS
from annotation.pages.imports import ImportForm
from annotation.schemes import SCHEMES
from calibration.comparisons import metric_causes, profiles
from calibration.gold.rules import RULES, Option
from calibration.statistics import STATISTICS
from calibration.statistics.core.engine import InReports
from calibration.studies import study_actions as studies
from config.declared_input import declared_input
from judges.metrics import METRICS, Metric, Score, Settings, Tools
from judges.metrics.kit.metric import DESCRIPTIVE, Aspect, Cause, scored
from judges.metrics.kit.tools import Scene
from judges.protocols import PROTOCOLS
from judges.protocols.rules_baseline import RulesBaseline
from tests import factories
from tests.calibration.test_profiles import scored as given_scores
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def entries_that_come_later_are_declared() -> Iterator[None]:
    """What routes declare is read once a process; here tables get entries that other tests do not have."""
    declared_input.cache_clear()
    yield
    declared_input.cache_clear()


def loudness(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """The number of exclamation marks of a turn."""
    assert turn is not None
    return scored(scene.target(turn).text.count("!"), loudest=scene.position(turn))


LOUDNESS = Metric(
    key="loudness",
    title="Loudness of a turn",
    kind="turn",
    aspect=Aspect("tone", "Tone of voice"),
    compute=loudness,
    low=0.0,
    high=None,
    direction=DESCRIPTIVE,
    causes={"loudest": Cause("shouted in", "turn")},
    group="voices",
)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


@pytest.fixture
def rated() -> World:
    built = world(dialogues=4, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3], scheme="quality")
    for name in ("ann", "ben"):
        built.say(name, "quality", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    return built


def shown_at(client: Client, name: str, query: str = "") -> str:
    response = client.get(reverse(name) + query)
    assert response.status_code == 200
    return response.content.decode()


def test_a_metric_brings_its_heading_causes_and_group(
    researcher: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(METRICS, "loudness", LOUDNESS)
    corpus = factories.corpus()
    given_scores(corpus, "loudness", {"model-a": [2.0]}, loudest=1)

    form = shown_at(researcher, "new-run", f"?corpus={corpus.pk}")
    assert "Loudness of a turn" in form
    assert "tone of voice" in form
    assert [panel.title for panel in profiles.profile(corpus)] == ["Turns: tone of voice"]
    profile = researcher.get(reverse("profile", args=[corpus.pk])).content.decode()
    assert "Turns: tone of voice" in profile
    made = corpus.dialogues.get().continuations.get(system__name="model-a")
    assert metric_causes.values(made)[1][0].causes == ("shouted in turn 2",)
    told = {one["key"]: one for one in researcher.get(reverse("api-metrics")).json()}
    assert told["loudness"]["aspect"] == "tone"

    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    turns = [{"speaker": "A", "text": "tea?"}, {"speaker": "B", "text": "Yes!!"}]
    file.write_text(json.dumps({"id": "d", "turns": turns}) + "\n")
    call_command("score", str(file), "--output", str(out), "--metrics", "voices")
    assert [json.loads(line)["value"] for line in out.read_text().splitlines()] == [0.0, 2.0]


@pytest.mark.exhaustive
def test_a_statistic_is_offered_and_shown_with_its_wording(
    researcher: Client, monkeypatch: pytest.MonkeyPatch, rated: World
) -> None:
    words = InReports("Sameness of two raters", "Same", "s")
    own = replace(STATISTICS["percent_agreement"], key="sameness", title="Sameness", in_reports=words)
    monkeypatch.setitem(STATISTICS, "sameness", own)
    assert "Sameness" in shown_at(researcher, "new-study", f"?corpus={rated.corpus.pk}")
    study = studies.create(
        name="s", corpus=rated.corpus, definition={"statistics": ["sameness"], "resamples": 0}, by=None
    )
    studies.compute(study=study, part="all", by=None)
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    assert ">Same<" in page.replace("\n", "").replace(" ", "")


@pytest.mark.exhaustive
def test_a_gold_rule_brings_its_options_to_form_command_and_api(
    researcher: Client, monkeypatch: pytest.MonkeyPatch, rated: World
) -> None:
    speed = Option("slow", "How to choose.", {"slow": "with care", "fast": "at once"})
    depth = Option(0.5, "How deep to look.", low=0, high=1)
    own = replace(RULES["median"], key="last", title="Last word", options={"speed": speed, "depth": depth})
    monkeypatch.setitem(RULES, "last", own)
    assert "Last word" in shown_at(researcher, "new-gold", f"?corpus={rated.corpus.pk}")
    chosen = {"scheme": "quality@1", "rule": "last", "act": "preview"}
    form = researcher.post(f"{reverse('new-gold')}?corpus={rated.corpus.pk}", chosen).content.decode()
    assert "Speed" in form
    assert "with care" in form
    assert 'name="depth"' in form

    command = load_command_class("calibration", "export_gold").create_parser("manage.py", "export_gold")
    assert command.parse_args(["--rule", "last", "--speed", "slow"]).speed == "slow"
    assert "How deep to look. From 0 to 1 (0.5)" in " ".join(command.format_help().split())

    schema = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    assert any("last" in component.get("enum", ()) for component in schema.values())
    assert schema["GoldOptionsRequest"]["properties"]["depth"]["maximum"] == 1
    rules = {rule["key"]: rule for rule in researcher.get(reverse("api-gold-rules")).json()}
    assert [option["name"] for option in rules["last"]["options"]] == ["speed", "depth"]

    options = {"speed": "fast", "depth": 0.25}
    asked = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rule": "last", "options": options}
    made = researcher.post(reverse("api-golds"), asked, content_type="application/json")
    assert made.status_code == 201, made.content
    assert made.json()["options"] | options == made.json()["options"]
    page = researcher.get(reverse("gold", args=[made.json()["id"]])).content.decode()
    assert "Last word" in page
    assert "0.25" in page


def test_a_protocol_is_offered_everywhere(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    class Coin(RulesBaseline):
        """Rules under another name."""

        key = "coin"
        title = "Tossed coin"

    monkeypatch.setitem(PROTOCOLS, "coin", Coin())
    assert "Tossed coin" in shown_at(researcher, "new-run", f"?corpus={factories.corpus().pk}")
    assert "coin" in {one["key"] for one in researcher.get(reverse("api-protocols")).json()}
    command = load_command_class("judges", "run_judge").create_parser("manage.py", "run_judge")
    assert "coin" in next(a.choices for a in command._actions if a.dest == "protocol")


def test_a_scheme_is_offered_to_campaigns(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(SCHEMES["fed_dialogue"], key="own_fed", title="Our own FED")
    monkeypatch.setitem(SCHEMES, "own_fed", own)
    corpus = factories.corpus()
    factories.dialogue(corpus)
    assert "Our own FED" in shown_at(researcher, "new-campaign", f"?corpus={corpus.pk}")
    asked = {"name": "c", "corpus": corpus.name, "scheme": "own_fed"}
    made = researcher.post(reverse("api-campaigns"), asked, content_type="application/json")
    assert made.status_code == 201, made.content


def test_a_format_is_offered(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "own", replace(FORMATS["jsonl"], key="own", title="Our own lines"))
    page = shown_at(researcher, "import-corpus")
    assert "Our own lines" in page
    assert "own" in dict(ImportForm(format="own").fields["format"].choices)  # type: ignore[attr-defined]
    command = load_command_class("annotation", "import_corpus").create_parser("manage.py", "import_corpus")
    assert "own" in next(a.choices for a in command._actions if a.dest == "format")
    assert "own" in ImportRequest().fields["format"].choices
