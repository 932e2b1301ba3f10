"""A saved study on pairs and rankings: computed, displayed, and written in every format."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.corpora import comparisons, splits
from annotation.models import Corpus, Item, Label, Occasion, Rater
from annotation.work import labels as recording
from annotation.work.labels import Answer
from calibration.comparisons.preferences import read as query
from calibration.errors import DefinitionError
from calibration.ratings.votes import among
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.studies import inputs
from calibration.studies import study_actions as studies
from tests import factories
from tests.calibration.test_preferences import world

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def corpus(module_database: None) -> Corpus:
    """Six dialogues with three systems in pairs; Ann always prefers ash to birch to cedar, Ben nearly so."""
    made = world()
    ben = Rater.objects.create(corpus=made, kind="human", name="ben")
    labels = list(Label.objects.filter(rater__name="ann").order_by("item_id"))
    other = {"first": "second", "second": "first"}
    answers = [
        Answer(one.item, one.question, "tie" if n == 0 else other[one.text] if n == 1 else one.text)
        for n, one in enumerate(labels)
    ]
    recording.record(rater=ben, answers=answers, occasion=Occasion.IMPORTED)
    return made


def _ref(corpus: Corpus) -> str:
    asked = Label.objects.filter(item__corpus=corpus).first().question  # type: ignore[union-attr]
    return f"{asked.version.scheme.key}@{asked.version.version}/{asked.key}"


def _study(corpus: Corpus, **definition: Any) -> Any:
    told = {"resamples": 200, "questions": [_ref(corpus)]} | definition
    return studies.create(name="which is better", corpus=corpus, definition=told, by=None)


def _result(corpus: Corpus, **definition: Any) -> Snapshot:
    return snapshot_of(studies.compute(study=_study(corpus, **definition), part="all", by=None))


def test_a_saved_study_says_which_system_is_preferred_as_the_page_of_preferences_does(
    corpus: Corpus, researcher: Client
) -> None:
    (table,) = _result(corpus).preferences
    keys = [sheet.key for sheet in table.sheets]
    assert keys == ["systems", "meetings", "position", "agreement", "panel"]
    systems = table.sheets[0]
    cells = {row.about: {c.name: c for c in row.cells if c} for row in systems.rows}
    rates = {name: of["preference_win_rate"] for name, of in cells.items()}
    told = researcher.get(f"/api/v1/corpora/{corpus.pk}/preferences/", {"resamples": 200}).json()
    (people,) = told["questions"][0]["voters"]
    for one in people["systems"]:
        ours = rates[one["system"]]
        theirs = one["win_rate"]
        assert (ours.value, ours.low, ours.high) == (theirs["value"], theirs["low"], theirs["high"])
    assert query({}, corpus, None).choices == _study_choices()


def test_a_study_narrowed_to_systems_reads_the_votes_that_compare_these_alone(corpus: Corpus) -> None:
    everything = inputs.read(_study(corpus), "all").compared
    narrow = studies.create(
        name="narrow", corpus=corpus, definition={"subset": {"systems": ["ash", "birch"]}}, by=None
    )
    (votes,) = inputs.read(narrow, "all").compared
    assert list(votes.votes) == among(everything[0].votes, ["ash", "birch"])
    assert 0 < len(votes.votes) < len(everything[0].votes)


def _study_choices() -> Any:
    from calibration.ratings.definitions import parse

    return parse({}).preferences


def test_the_automatic_report_has_preferences_too_even_of_one_person(researcher: Client) -> None:
    made = world()
    page = researcher.get(reverse("corpus-report", args=[made.pk]), follow=True).content.decode()
    assert "Which system is preferred?" in page
    assert "Systems, by people" in page
    assert "Nothing to compare yet" not in page


@pytest.mark.exhaustive
def test_every_form_has_the_figures(corpus: Corpus, researcher: Client) -> None:
    study = _study(corpus)
    report = studies.compute(study=study, part="all", by=None)
    page = researcher.get(reverse("report", args=[study.pk])).content.decode()
    for heading in ("Systems, by people", "Head to head, by people", "Agreement of two raters"):
        assert heading in page
    for form in ("md", "latex", "html"):
        text = RENDERINGS[form].write(report)
        assert "Systems, by people" in text
        assert "ash" in text
    rows = list(csv.DictReader(io.StringIO(RENDERINGS["csv"].write(report))))
    found = {row["raters"]: row["value"] for row in rows if row["name"] == "preference_win_rate"}
    assert {"people; ash", "people; birch", "people; cedar"} <= set(found)
    kept = json.loads(RENDERINGS["json"].write(report))
    assert kept["preferences"][0]["ref"] == _ref(corpus)
    assert kept["answers"][-1]["title"] == "Which system is preferred?"


def test_how_ties_are_read_is_part_of_the_definition(corpus: Corpus) -> None:
    study = _study(corpus, preferences={"ties": "davidson", "anchor": "ash"})
    (table,) = snapshot_of(studies.compute(study=study, part="all", by=None)).preferences
    assert "Davidson" in table.sheets[0].note
    assert "1000" in table.sheets[0].note


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("half", "an object with ties"),
        ({"tie": "half"}, "not 'tie'"),
        ({"ties": "thirds"}, "ties is one of half"),
        ({"anchor": 3}, "anchor is the name"),
    ],
)
def test_choices_that_are_none_are_refused_in_a_line(corpus: Corpus, told: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        _study(corpus, preferences=told)


def test_an_anchor_that_nobody_compared_is_said_in_the_report(corpus: Corpus) -> None:
    study = _study(corpus, preferences={"anchor": "oak"})
    report = studies.compute(study=study, part="all", by=None)
    assert ": no system 'oak' to start from" in RENDERINGS["md"].write(report)


@pytest.mark.exhaustive
def test_a_study_over_rankings_alone_is_made_by_the_form_and_the_command(researcher: Client) -> None:
    corpus = factories.corpus("ranked")
    for number in range(5):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=1)
        members = []
        for name in ("ash", "birch", "cedar"):
            line = [{"text": f"{name} {number}", "at": 1, "speaker": "B"}]
            own = factories.continuation(dialogue, f"k{name}", system=name, turns=line, mode="static")
            members.append((own.pk, own.turns.get().pk))
        comparisons.make(corpus=corpus, sets=[members])
    question = factories.scheme_version("preference_ranking").questions.get()
    items = Item.objects.filter(corpus=corpus, kind="ranking").order_by("pk")
    for name, order in {"ann": "0>1>2", "ben": "0>2>1"}.items():
        rater = Rater.objects.create(corpus=corpus, kind="human", name=name)
        answers = [Answer(item, question, order) for item in items]
        recording.record(rater=rater, answers=answers, occasion=Occasion.IMPORTED)
    page = researcher.get(f"{reverse('new-study')}?corpus={corpus.pk}")
    assert "Preferences: pairs and rankings" in page.content.decode()
    ref = _ref(corpus)
    told = {
        "name": "order",
        "questions": [ref],
        "map": "rank",
        "interval": "percentile",
        "resamples": 200,
        "seed": 0,
        "confidence": 0.95,
        "ties": "half",
        "both_bad": "drop",
    }
    made = researcher.post(f"{reverse('new-study')}?corpus={corpus.pk}", told, follow=True)
    assert made.status_code == 200
    text = made.content.decode()
    assert "Agreement on rankings" in text
    assert "both bad is left out" in text
    out = io.StringIO()
    call_command("study", "order", "--format", "json", stdout=out)
    (table,) = json.loads(out.getvalue())["preferences"]
    assert {sheet["key"] for sheet in table["sheets"]} >= {"systems", "rankings"}


@pytest.mark.exhaustive
def test_votes_of_test_come_in_once_test_was_opened(corpus: Corpus) -> None:
    rosa = factories.user("rosa", researcher=True)
    split = splits.draw(corpus=corpus, seed=1, test_share=0.5, by=rosa)
    study = _study(corpus)
    (dev,) = snapshot_of(studies.compute(study=study, part="dev", by=None)).preferences
    in_dev = 6 - len(splits.clusters(split=split, part="test"))
    assert dev.sheets[0].rows[0].n_clusters == in_dev
    studies.open_test(study=study, by=rosa, purpose="to publish")
    (test,) = snapshot_of(studies.compute(study=study, part="test", by=None)).preferences
    assert test.sheets[0].rows[0].n_clusters == 6 - in_dev


@pytest.mark.exhaustive
def test_another_vote_is_another_report(corpus: Corpus) -> None:
    study = _study(corpus)
    before = studies.compute(study=study, part="all", by=None)
    one = Label.objects.filter(rater__name="ann").order_by("pk").first()
    assert one is not None
    cem = Rater.objects.create(corpus=corpus, kind="human", name="cem")
    recording.record(rater=cem, answers=[Answer(one.item, one.question, "tie")], occasion=Occasion.IMPORTED)
    assert studies.compute(study=study, part="all", by=None).inputs_hash != before.inputs_hash


def test_a_corpus_without_comparisons_offers_no_choices_for_them(researcher: Client) -> None:
    corpus = factories.corpus()
    page = researcher.get(f"{reverse('new-study')}?corpus={corpus.pk}").content.decode()
    assert "Preferences: pairs" not in page
