"""Personas are drawn, reviewed by two people, applied, and become the cast of dialogues without turns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.corpora.deletion import delete_corpus
from annotation.models import Campaign, Corpus, Label
from config.models import Event
from suites.collecting import inventory_actions, persona_actions
from suites.collecting.errors import PersonasRefused
from suites.collecting.models import Persona, PersonaHead, PersonaSet
from tests import factories
from tests.suites.collecting.inventories import INVENTORY, draw_set, open_review, review, store

pytestmark = pytest.mark.django_db

FINE: dict[str, Any] = {"consistent": 1, "negative": 0}
WRONG: dict[str, Any] = {"consistent": 0, "negative": 0}
BAD: dict[str, Any] = {"consistent": 1, "negative": 1, "negative_head": "first"}


@pytest.fixture
def people() -> tuple[User, User]:
    return factories.user("ana"), factories.user("ben")


@pytest.fixture
def researcher() -> User:
    return factories.user("ruth", researcher=True)


@pytest.fixture
def cast() -> PersonaSet:
    return draw_set()


def statuses(cast: PersonaSet) -> list[str]:
    return list(cast.personas.values_list("status", flat=True))


def test_a_draw_creates_a_corpus_with_one_dialogue_without_turns_for_each_persona(cast: PersonaSet) -> None:
    dialogues = list(cast.corpus.dialogues.order_by("key"))
    assert [dialogue.key for dialogue in dialogues] == ["persona-1", "persona-2", "persona-3", "persona-4"]
    persona = cast.personas.get(number=1)
    (participant,) = dialogues[0].participants
    assert (participant["name"], participant["profile"]) == (persona.name, persona.original)
    assert dialogues[0].metadata["first_description"] == persona.first.text
    assert not cast.personas.filter(first__negative=True).exists()


def test_two_people_review_every_persona_in_an_ordinary_campaign(
    cast: PersonaSet, people: tuple[User, User], researcher: User
) -> None:
    campaign = open_review(cast, *people)
    assert campaign.raters_per_item == 2
    corrected = "My name is Mara.\nI'm 40 years old.\nI have a cat."
    answers = {
        "persona-1": FINE,
        "persona-2": WRONG | {"corrected_text": corrected},
        "persona-3": BAD,
        "persona-4": WRONG,
    }
    review(campaign, people[0], answers)
    assert persona_actions.preview_reviews(cast).counts["undecided"] == 4
    review(campaign, people[1], answers | {"persona-2": WRONG})
    preview = persona_actions.preview_reviews(cast)
    assert preview.counts == {"accepted": 1, "corrected": 1, "rejected": 2, "undecided": 0}
    assert statuses(cast) == ["draft"] * 4

    persona_actions.apply_reviews(by=researcher, persona_set=cast)
    assert statuses(cast) == ["accepted", "corrected", "rejected", "rejected"]
    second = cast.personas.get(number=2)
    assert second.sentences == corrected.split("\n")
    assert (second.age, second.original != second.sentences) == (40, True)
    assert cast.personas.get(number=4).reason == "it contradicts itself, and nobody corrected it"
    assert cast.personas.get(number=3).first.negative
    event = Event.objects.get(verb="personas: apply reviews")
    assert (event.by, event.detail["accepted"], event.detail["rejected"]) == (researcher, 1, 2)
    persona_actions.apply_reviews(by=researcher, persona_set=cast)
    assert Event.objects.filter(verb="personas: apply reviews").count() == 1


def test_later_draws_skip_heads_that_the_reviewers_found_negative(
    cast: PersonaSet, people: tuple[User, User], researcher: User
) -> None:
    forger = cast.personas.get(number=1).first
    campaign = open_review(cast, *people)
    answers = {row.key: BAD if row.first == forger else FINE for row in cast.personas.all()}
    for person in people:
        review(campaign, person, answers)
    persona_actions.apply_reviews(by=researcher, persona_set=cast)
    assert PersonaHead.objects.get(inventory=cast.inventory, negative=True, pk=forger.pk)
    later = persona_actions.draw_set(by=researcher, inventory=cast.inventory, name="later", count=20, seed=1)
    assert forger not in {head for row in later.personas.all() for head in (row.first, row.second)}


def test_reviewers_who_differ_leave_a_persona_undecided_until_somebody_decides(
    cast: PersonaSet, people: tuple[User, User], researcher: User
) -> None:
    campaign = open_review(cast, *people)
    keys = [f"persona-{number}" for number in range(1, 5)]
    review(campaign, people[0], dict.fromkeys(keys, FINE))
    review(campaign, people[1], dict.fromkeys(keys, WRONG))
    applied = persona_actions.apply_reviews(by=researcher, persona_set=cast)
    assert {reason for _, reason in applied.undecided} == {"the reviewers differ in whether it is consistent"}
    first, second, third, _ = cast.personas.all()
    persona_actions.decide(by=researcher, persona=first, status="accepted")
    persona_actions.decide(by=researcher, persona=second, status="rejected")
    persona_actions.decide(by=researcher, persona=third, status="corrected", sentences=["I am Bo.", " "])
    assert statuses(cast) == ["accepted", "rejected", "corrected", "draft"]
    assert cast.personas.get(number=3).sentences == ["I am Bo."]
    for values in ({"status": "draft"}, {"status": "corrected"}, {"status": "corrected", "sentences": []}):
        with pytest.raises(PersonasRefused):
            persona_actions.decide(by=researcher, persona=first, **values)


def accept_all(cast: PersonaSet) -> None:
    cast.personas.update(status="accepted")


def test_accepted_personas_become_dialogues_without_turns_with_profiles(
    cast: PersonaSet, researcher: User
) -> None:
    cast.personas.exclude(number=3).update(status="accepted")
    cast.personas.filter(number=3).update(status="rejected")
    made = persona_actions.make_dialogues(by=researcher, persona_set=cast, name="talks", uses=2)
    assert made.dialogues == 2
    for dialogue in made.corpus.dialogues.all():
        numbers = dialogue.metadata["personas"]
        assert len(set(numbers)) == 2
        assert 3 not in numbers
        personas = [cast.personas.get(number=number) for number in numbers]
        assert [person["profile"] for person in dialogue.participants] == [row.sentences for row in personas]
        assert not dialogue.continuations.exists()
    assert list(cast.dialogues.all()) == [made.corpus]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"participants": 1}, "participants"),
        ({"participants": 7}, "participants"),
        ({"uses": 0}, "uses"),
        ({"seed": -1}, "seed"),
        ({"name": " "}, "name"),
        ({"name": "cast"}, "name"),
        ({"participants": 5}, ""),
    ],
)
def test_dialogues_that_cannot_be_made_are_refused_at_their_field(
    cast: PersonaSet, changes: dict[str, Any], field: str
) -> None:
    accept_all(cast)
    with pytest.raises(PersonasRefused) as refused:
        persona_actions.make_dialogues(by=None, persona_set=cast, **({"name": "talks"} | changes))
    assert refused.value.field == field
    assert not Corpus.objects.filter(name="talks").exists()


def test_the_gender_is_in_no_corpus_and_in_no_response(cast: PersonaSet, researcher: User) -> None:
    Persona.objects.update(gender="hush-gender", status="accepted")
    made = persona_actions.make_dialogues(by=researcher, persona_set=cast, name="talks")
    client = Client()
    client.force_login(researcher)
    addresses = [
        reverse("persona-set", args=[cast.pk]),
        reverse("persona", args=[cast.pk, 1]),
        reverse("api-persona-set", args=[cast.pk]),
        reverse("api-personas", args=[cast.pk]),
    ]
    for address in addresses:
        response = client.get(address)
        assert response.status_code == 200, address
        assert b"hush-gender" not in response.content
    stored = [*made.corpus.dialogues.values(), *cast.corpus.dialogues.values()]
    assert "hush-gender" not in json.dumps(stored, default=str)


def test_reviewers_see_what_was_flagged(people: tuple[User, User]) -> None:
    stored = store()
    stored.heads.update(tails={"experience": ["I am 99 years old"]})
    cast = persona_actions.draw_set(by=None, inventory=stored, name="old", count=1, seed=0)
    campaign = open_review(cast, people[0])
    client = Client()
    client.force_login(people[0])
    page = client.get(reverse("work", args=[campaign.pk]), follow=True).content.decode()
    assert "99 is not the age of" in page
    assert "first description" in page


def test_a_set_goes_with_its_corpus_and_stays_without_those_of_its_dialogues(
    cast: PersonaSet, people: tuple[User, User]
) -> None:
    campaign = open_review(cast, *people)
    review(campaign, people[0], {row.key: FINE for row in cast.personas.all()})
    accept_all(cast)
    made = persona_actions.make_dialogues(by=None, persona_set=cast, name="talks")
    administrator = factories.user(administrator=True)
    delete_corpus(by=administrator, corpus=made.corpus, confirmation="talks")
    assert list(cast.dialogues.all()) == []
    delete_corpus(by=administrator, corpus=cast.corpus, confirmation="cast")
    assert not Persona.objects.exists()
    assert PersonaHead.objects.exists()


@pytest.mark.parametrize("name", ["..", "x" * 101, "a/b", " "])
def test_a_draw_under_a_name_that_no_corpus_can_have_is_refused(name: str) -> None:
    with pytest.raises(PersonasRefused) as refused:
        persona_actions.draw_set(by=None, inventory=store(), name=name, count=1, seed=0)
    assert refused.value.field == "name"


def test_a_name_that_is_taken_and_an_inventory_with_gaps_are_refused(researcher: User) -> None:
    stored = store()
    with pytest.raises(PersonasRefused, match="already"):
        inventory_actions.create(by=researcher, name="small", inventory=INVENTORY)
    factories.corpus("taken")
    with pytest.raises(PersonasRefused, match="already"):
        persona_actions.draw_set(by=researcher, inventory=stored, name="taken", count=1, seed=0)
    stored.heads.filter(number=4).update(end_age=90)
    with pytest.raises(PersonasRefused, match="family sentence for age 65"):
        persona_actions.draw_set(by=researcher, inventory=stored, name="new", count=1, seed=0)


def test_the_same_seed_draws_the_same_personas_again() -> None:
    first, again = draw_set(6, "one"), draw_set(6, "two")
    other = draw_set(6, "three", seed=2)
    sentences = [list(cast.personas.values_list("original", flat=True)) for cast in (first, again, other)]
    assert sentences[0] == sentences[1] != sentences[2]
    assert first.inventory_sha256 == again.inventory_sha256


def task_of(client: Client, campaign: Campaign) -> dict[str, Any]:
    state = client.post(f"/api/v1/work/{campaign.pk}/next/", content_type="application/json").json()
    return dict(state["task"])


def submit_review(client: Client, campaign: Campaign, task: dict[str, Any], **answers: Any) -> None:
    (item,) = task["items"]
    answer = client.post(
        f"/api/v1/work/{campaign.pk}/{task['assignment']}/submit/",
        {"answers": {str(item): answers}},
        content_type="application/json",
    )
    assert answer.status_code == 200, answer.content


def test_a_correction_begins_with_the_sentences_of_the_persona_and_only_a_change_is_an_answer(
    cast: PersonaSet, people: tuple[User, User]
) -> None:
    campaign = open_review(cast, *people)
    client = Client()
    client.force_login(people[0])
    task = task_of(client, campaign)
    begun = task["start_texts"]["corrected_text"]
    assert begun.split("\n") in list(cast.personas.values_list("original", flat=True))
    page = client.get(reverse("work", args=[campaign.pk]))
    assert page.context["state"]["task"]["start_texts"] == {"corrected_text": begun}
    submit_review(client, campaign, task, consistent=0, negative=0, corrected_text=begun + "\r\n")
    assert not Label.objects.filter(question__key="corrected_text").exists()
    task = task_of(client, campaign)
    changed = task["start_texts"]["corrected_text"].replace("I'm", "I am")
    submit_review(client, campaign, task, consistent=0, negative=0, corrected_text=changed)
    assert Label.objects.get(question__key="corrected_text").text == changed


def test_two_different_corrections_are_for_the_researcher_or_an_adjudicator_to_decide(
    cast: PersonaSet, people: tuple[User, User], researcher: User
) -> None:
    campaign = open_review(cast, *people)
    for person, age in zip(people, (41, 42), strict=True):
        text = f"My name is Mara.\nI'm {age} years old."
        others = {f"persona-{number}": FINE for number in (2, 3, 4)}
        review(campaign, person, others | {"persona-1": WRONG | {"corrected_text": text}})
    client = Client()
    client.force_login(researcher)
    page = client.get(reverse("persona-set", args=[cast.pk])).content.decode()
    assert "the reviewers corrected it in different ways" in page
    persona_actions.apply_reviews(by=researcher, persona_set=cast)
    persona = cast.personas.get(number=1)
    assert persona.status == "draft"
    persona_actions.decide(by=researcher, persona=persona, status="corrected", sentences=["My name is Mara."])
    assert statuses(cast)[0] == "corrected"
