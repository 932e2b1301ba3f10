"""A metric with categories: its answers are texts, from run and label to report and export."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Label
from calibration.comparisons import profiles
from calibration.exports import labels as exports
from calibration.exports.writing import write
from calibration.ratings.scope import of_corpus
from calibration.studies import study_actions as studies
from jobs.models import Call, Run
from judges.metrics import METRICS, Metric, Score, Settings, Tools
from judges.metrics.kit.metric import DESCRIPTIVE, Aspect, unscored
from judges.metrics.kit.tools import Scene
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.scoring import Averages
from judges.runs.selection import Selection
from tests.calibration.world import World, world
from tests.factories import user
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db(transaction=True)
SAID = ["Tea?", "Yes!", "Fine.", "Now!"]
CATEGORIES = {"?": "question", "!": "cry"}


def tone(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """How a turn ends: as a question, a cry or a statement."""
    assert turn is not None
    text = scene.target(turn).text
    if not text:
        return unscored("the turn is empty")
    return Score(CATEGORIES.get(text[-1], "statement"))


TONE = Metric(
    key="tone",
    title="How a turn ends",
    kind="turn",
    aspect=Aspect("tone", "Tone of voice"),
    compute=tone,
    low=None,
    high=None,
    direction=DESCRIPTIVE,
    categories=("question", "cry", "statement"),
)


@pytest.fixture
def spoken(monkeypatch: pytest.MonkeyPatch) -> World:
    """Two dialogues whose turns say SAID, and a person who takes one cry for a statement."""
    monkeypatch.setitem(METRICS, "tone", TONE)
    built = world(dialogues=2, turns=4)
    for item in built.turns:
        turn = item.turn
        assert turn is not None
        turn.text = SAID[turn.position]
        turn.save()
    built.ask("ending", "nominal", ["question", "cry", "statement"], scheme="people")
    built.say("ann", "ending", ["question", "cry", "statement", "statement"] * 2)
    return built


def run_of(built: World) -> Run:
    run = run_actions.start(
        by=None, plan=metric_plan("tone", built.corpus), selection=Selection(built.corpus, include_self=True)
    )
    finish("metrics")
    run.refresh_from_db()
    return run


def test_its_labels_are_texts_on_a_nominal_question(spoken: World) -> None:
    run = run_of(spoken)
    assert (run.state, run.values, run.missing) == (Run.State.DONE, 8, 0)
    labels = Label.objects.filter(rater=run.rater).order_by("item__turn__position")
    assert set(labels.values_list("text", flat=True)) == {"question", "cry", "statement"}
    question = run.rater.labels.first().question  # type: ignore[union-attr]
    assert (question.level, question.values) == ("nominal", ["question", "cry", "statement"])


def test_a_report_compares_it_with_people_on_the_same_categories(spoken: World) -> None:
    run = run_of(spoken)
    report = studies.compute(study=studies.automatic(corpus=spoken.corpus), part="all", by=None)
    (question,) = report.result["questions"]
    pairs = {entry["name"]: entry for entry in question["pairs"]}
    assert set(pairs["cohen_kappa"]["raters"]) == {"ann", run.rater.name}
    # agree on 6 of 8; by chance 1/4*1/4 + 1/4*1/2 + 1/2*1/4
    assert pairs["cohen_kappa"]["value"] == pytest.approx((0.75 - 0.3125) / (1 - 0.3125))


def test_pages_export_and_profile_take_its_texts(spoken: World, client: Client, tmp_path) -> None:  # type: ignore[no-untyped-def]
    run = run_of(spoken)
    client.force_login(user(researcher=True))
    dialogue = spoken.corpus.dialogues.order_by("pk").first()
    assert dialogue is not None
    own = dialogue.continuations.get()
    page = client.get(reverse("profile-continuation", args=[own.pk])).content.decode()
    assert run.rater.name in page
    assert page.count(">question</span>") == 1
    assert "no value" not in page
    assert client.get(reverse("profile", args=[spoken.corpus.pk])).status_code == 200
    assert profiles.profile(spoken.corpus) == []
    with (tmp_path / "labels.csv").open("w+b") as file:
        write(exports.labels(of_corpus(spoken.corpus)), "csv", file)
        file.seek(0)
        assert f"{run.rater.name},question" in file.read().decode()


def test_a_category_that_was_not_declared_fails_its_call(
    spoken: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CATEGORIES, "?", "shout")
    run_of(spoken)
    assert not Label.objects.filter(rater__kind="metric").exists()
    call = Call.objects.first()
    assert call is not None
    assert "'shout' is not one of the categories" in call.error


def test_a_category_is_a_word_and_has_no_mean() -> None:
    with pytest.raises(ValueError, match="a category is a word"):
        Metric("n", "N", "turn", Aspect("a", "A"), tone, None, None, DESCRIPTIVE, categories=("1", "2"))
    averages = Averages()
    averages.add({"metric": "tone", "variant": "paper", "turn": 0, "system": "s", "value": "cry"})
    assert list(averages.lines()) == []
