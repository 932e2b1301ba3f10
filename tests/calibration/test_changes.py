"""A report and gold show the number of labels added or changed since, and offer recomputation."""

from __future__ import annotations

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Label
from calibration.gold.derivation import make
from calibration.models import Gold
from calibration.ratings.scope import Changes, of_corpus, since
from calibration.studies import study_actions as studies
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db(transaction=True)  # a label ends at the time its transaction began


@pytest.fixture
def tagged() -> World:
    """Four turns tagged by three people."""
    built = world(dialogues=2, turns=2)
    built.ask("off_topic", "binary", [0, 1], scheme="tags")
    for name, values in (("ann", [1.0, 0.0, 1.0, 0.0]), ("ben", [1.0, 0.0, 0.0, 0.0]), ("cem", [0.0, 0.0])):
        built.say(name, "off_topic", values)
    return built


def _gold(built: World, **how: object) -> Gold:
    version = built.questions["off_topic"].version
    return make(corpus=built.corpus, campaign=None, scheme_version=version, rule="majority", by=None, **how)  # type: ignore[arg-type]


def _void(built: World, rater: str) -> None:
    labels = Label.objects.filter(rater__name=rater, superseded_at__isnull=True)
    labels.update(superseded_at=timezone.now())


def test_what_came_was_revised_and_was_voided_is_counted_once(tagged: World) -> None:
    scope, moment = of_corpus(tagged.corpus), timezone.now()
    assert not since(scope, moment)
    tagged.say("dee", "off_topic", [1.0, 1.0])
    assert since(scope, moment) == Changes(2, 0)
    tagged.say("ann", "off_topic", [0.0])  # one revised
    _void(tagged, "cem")  # two voided
    assert since(scope, moment) == Changes(2, 3)
    assert str(since(scope, moment)) == "2 labels came and 3 changed or were voided"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (Changes(1, 0), "1 label came"),
        (Changes(0, 1), "1 label changed or was voided"),
        (Changes(1001, 1), "more than 1,000 labels came and 1 changed or was voided"),
    ],
)
def test_changes_are_told_in_words(changes: Changes, words: str) -> None:
    assert str(changes) == words


def test_labels_of_other_questions_leave_gold_as_it_is(researcher: Client, tagged: World) -> None:
    gold = _gold(tagged)
    tagged.ask("polite", "binary", [0, 1], scheme="manners")
    tagged.say("ann", "polite", [1.0])
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "since this gold was made" not in page


def _pressed(client: Client, page: str) -> Gold:
    """Press the button beside the note, with the fields of its form."""
    (form,) = re.findall(r'<form method="post"[^>]*class="alert.*?</form>', page, re.S)
    address = html.unescape(re.search(r'action="([^"]*)"', form)[1])  # type: ignore[index]
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form):
        fields.setdefault(name, []).append(html.unescape(value))
    answer = client.post(address, fields)
    # Where items stay without a value, that is said first, and the same choice is then confirmed.
    if confirmed := re.search(r'name="confirmed" value="([^"]*)"', answer.content.decode()):
        answer = client.post(address, fields | {"confirmed": [html.unescape(confirmed[1])]})
    assert answer.status_code == 302, answer.content.decode()
    return Gold.objects.latest("pk")


def test_gold_says_what_changed_and_is_made_anew_of_everybody(researcher: Client, tagged: World) -> None:
    gold = _gold(tagged, options={"ties": "lowest"})
    tagged.say("dee", "off_topic", [1.0, 1.0])
    _void(tagged, "cem")
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert "2 labels came and 2 changed or were voided since this gold was made" in page
    told = researcher.get(reverse("api-gold", args=[gold.pk])).json()
    assert told["changes"] == {"came": 2, "changed": 2}
    anew = _pressed(researcher, page)
    assert anew != gold
    assert anew.options["raters"] == ["ann", "ben", "dee"]
    assert anew.options["ties"] == "lowest"
    assert "since this gold was made" not in researcher.get(reverse("gold", args=[anew.pk])).content.decode()


def test_gold_of_chosen_people_is_made_anew_of_the_same(researcher: Client, tagged: World) -> None:
    gold = _gold(tagged, raters=["ann", "ben"])
    tagged.say("dee", "off_topic", [1.0, 1.0])
    tagged.say("ann", "off_topic", [0.0])
    page = researcher.get(reverse("gold", args=[gold.pk])).content.decode()
    assert _pressed(researcher, page).options["raters"] == ["ann", "ben"]


@pytest.mark.exhaustive
def test_a_snapshot_of_a_report_says_what_changed_and_offers_to_compute_it_anew(
    researcher: Client, tagged: World
) -> None:
    study = studies.automatic(corpus=tagged.corpus)
    report = studies.compute(study=study, part="all", by=None)
    address = reverse("report", args=[study.pk]) + f"?snapshot={report.pk}"
    assert "Compute it anew" not in researcher.get(address).content.decode()
    _void(tagged, "cem")
    page = researcher.get(address).content.decode()
    assert "or no longer count: 2 labels changed or were voided." in page
    assert "Compute it anew" in page
