"""Users' own schemes: saved, compared and archived; a scheme in use never changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation import scheme_actions, scheme_store
from annotation.campaigns import campaign_actions as campaigns
from annotation.errors import CampaignRefused, SchemeRefused
from annotation.models import Item, Scheme, SchemeVersion
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from annotation.schemes.files import definition_from, difference
from annotation.work import labels
from annotation.work.labels import Answer, record
from config.models import Event
from tests import factories

pytestmark = pytest.mark.django_db
DATA: dict[str, Any] = {
    "scheme": "made",
    "title": "Made",
    "item_kind": "turn",
    "guidelines": "Be kind.",
    "questions": [
        {"key": "n", "wording": "How many?", "level": "ratio", "maximum": 9, "whole": True},
        {"key": "kind", "wording": "Which?", "level": "nominal", "values": ["a", "b"]},
        {"key": "why", "wording": "Why b?", "level": "text", "show_if": {"question": "kind", "in": ["b"]}},
    ],
}
MADE = definition_from(DATA)


def test_a_scheme_is_stored_with_all_that_it_says_and_its_making_is_logged() -> None:
    by = factories.user(researcher=True)
    version = scheme_actions.create(by=by, definition=replace(MADE, about_open=True))
    assert scheme_store.definition_of(version) == replace(MADE, about_open=True)
    event = Event.objects.get()
    assert (event.by, event.verb, event.subject) == (by, "scheme: create", "made@1")


@pytest.mark.parametrize("key", ["fed_turn", "taken"])
def test_a_key_that_is_taken_is_refused(key: str) -> None:
    scheme_actions.create(by=None, definition=replace(MADE, key="taken"))
    with pytest.raises(SchemeRefused, match="choose another key"):
        scheme_actions.create(by=None, definition=replace(MADE, key=key))
    with pytest.raises(SchemeRefused, match="comes with Concord"):
        scheme_actions.save(by=None, definition=replace(MADE, key="fed_turn"), seen=None)


def test_an_unused_version_is_replaced_and_a_used_one_gets_a_successor() -> None:
    first = scheme_actions.create(by=None, definition=MADE)
    second = scheme_actions.save(by=None, definition=replace(MADE, title="Other"), seen=first.pk)
    assert (second.version, second.pk != first.pk) == (1, True)
    assert list(SchemeVersion.objects.values_list("pk", flat=True)) == [second.pk]
    campaign = factories.campaign(factories.corpus(), "made", opened=False)
    third = scheme_actions.save(by=None, definition=replace(MADE, title="Third"), seen=second.pk)
    assert third.version == 2
    campaign.refresh_from_db()
    assert (campaign.scheme_version_id, campaign.scheme_version.name) == (second.pk, "Other")
    assert Scheme.objects.get().title == "Third"
    assert scheme_store.definition_of(third) == replace(MADE, title="Third", version=2)
    assert scheme_actions.save(by=None, definition=replace(MADE, title="Third"), seen=None).pk == third.pk


def test_short_names_alone_are_changed_in_place_even_in_a_used_version() -> None:
    first = scheme_actions.create(by=None, definition=MADE)
    campaign = factories.campaign(factories.corpus(), "made", opened=False)
    named = replace(MADE, questions=(replace(MADE.questions[0], short_name="Number"), *MADE.questions[1:]))
    same = scheme_actions.save(by=None, definition=named, seen=first.pk)
    assert (same.pk, same.content_hash) == (first.pk, first.content_hash)
    assert scheme_store.definition_of(same) == named
    assert [question.title for question in same.questions.order_by("position")] == [
        "Number",
        "Which?",
        "Why b?",
    ]
    assert Event.objects.filter(verb="scheme: rename questions", subject="made@1").count() == 1
    campaign.refresh_from_db()
    assert campaign.scheme_version_id == first.pk


@pytest.mark.parametrize("short_name", ["x" * 81, " Number", "a  b", "a\nb", "a\x00b"])
def test_a_short_name_is_one_short_line(short_name: str) -> None:
    question = replace(MADE.questions[0], short_name=short_name)
    with pytest.raises(SchemeRefused, match="short_name"):
        scheme_actions.create(by=None, definition=replace(MADE, questions=(question, *MADE.questions[1:])))


def test_of_two_who_save_at_once_the_second_is_told_and_nothing_is_lost() -> None:
    first = scheme_actions.create(by=None, definition=MADE)
    kept = scheme_actions.save(by=None, definition=replace(MADE, title="One"), seen=first.pk)
    with pytest.raises(SchemeRefused, match="Somebody saved version 1 meanwhile"):
        scheme_actions.save(by=None, definition=replace(MADE, title="Two"), seen=first.pk)
    assert SchemeVersion.objects.get().pk == kept.pk
    assert SchemeVersion.objects.get().title == "One"


def test_every_room_that_points_at_a_version_counts_as_its_use() -> None:
    from annotation.models import Question
    from annotation.scheme_store import _to

    names = {rows.model.__name__ for model in (SchemeVersion, Question) for rows, _ in _to(model)}
    assert {"Campaign", "Run", "Bench", "Prompt", "Gold", "Label"} <= names


def test_a_problem_is_refused_before_anything_is_stored() -> None:
    with pytest.raises(SchemeRefused) as refused:
        scheme_actions.create(by=None, definition=replace(MADE, title="", questions=()))
    assert [problem.field for problem in refused.value.problems] == ["title", "questions"]
    assert not Scheme.objects.exists()


def test_an_archived_scheme_is_asked_by_no_new_campaign_until_it_is_restored() -> None:
    version = scheme_actions.create(by=None, definition=MADE)
    corpus = factories.corpus()
    scheme_actions.archive(by=None, scheme=version.scheme)
    with pytest.raises(CampaignRefused, match="archived"):
        factories.campaign(corpus, "made", opened=False)
    scheme_actions.archive(by=None, scheme=version.scheme, archived=False)
    assert factories.campaign(corpus, "made@1", opened=False).guidelines.get().text == "Be kind."
    with pytest.raises(SchemeRefused, match="cannot be archived"):
        scheme_actions.archive(by=None, scheme=factories.scheme_version().scheme)


def test_a_scheme_that_judges_store_is_nobodys_own_and_stays_as_it_is() -> None:
    stored = scheme_store.store(definition=replace(MADE, key="of_a_judge"))
    assert not [ref for _, group in scheme_store.choices() for ref, _ in group if "of_a_judge" in ref]
    for refused in (
        lambda: scheme_actions.save(
            by=None, definition=replace(MADE, key="of_a_judge", title="New"), seen=None
        ),
        lambda: scheme_actions.archive(by=None, scheme=stored.scheme),
    ):
        with pytest.raises(SchemeRefused, match="was not made here"):
            refused()
    assert scheme_store.find("of_a_judge") == stored


def test_a_campaign_names_a_version_that_there_is() -> None:
    scheme_actions.create(by=None, definition=MADE)
    with pytest.raises(CampaignRefused, match="There is no scheme “made@7”"):
        factories.campaign(factories.corpus(), "made@7", opened=False)


@pytest.mark.parametrize(("value", "taken"), [(0, True), (9, True), (9.5, False), (10, False), (-1, False)])
def test_the_database_refuses_a_number_outside_its_bounds(value: float, taken: bool) -> None:
    version = scheme_actions.create(by=None, definition=MADE)
    corpus = factories.corpus()
    factories.dialogue(corpus)
    question = version.questions.get(key="n")
    assert question.accepts(value) is taken
    item = Item.objects.filter(corpus=corpus, kind="turn").first()
    assert item is not None
    answer = Answer(item=item, question=question, value=value)
    rater = labels.rater_of_person(user=factories.user())
    if taken:
        assert record(rater=rater, answers=[answer], occasion="main")[0].number == value
        return
    with pytest.raises(IntegrityError, match="not on the scale"), transaction.atomic():
        record(rater=rater, answers=[answer], occasion="main")


def test_imported_questions_become_a_scheme_that_can_be_asked() -> None:
    corpus = factories.corpus("films")
    factories.dialogue(corpus)
    imported = SchemeDefinition(
        key="corpus:films:turn",
        version=1,
        title="Imported questions of films (turns)",
        item_kind="turn",
        unit="item",
        introduction="",
        questions=(
            QuestionDefinition("Overall score", "Overall score", "interval"),
            QuestionDefinition("overall_score", "overall_score", "nominal"),
            QuestionDefinition("note", "note", "nominal"),
        ),
    )
    version = scheme_store.store(definition=imported)
    items = list(Item.objects.filter(corpus=corpus, kind="turn").order_by("pk"))
    rater = labels.rater_of_person(user=factories.user())
    for item, score, word in zip(items, (1, 2, 5, 4), ("yes", "no", "yes", "no"), strict=False):
        pairs: list[tuple[str, float | str]] = [("Overall score", score), ("overall_score", word)]
        answers = [Answer(item, version.questions.get(key=key), value) for key, value in pairs]
        record(rater=rater, answers=answers, occasion="imported")
    made = scheme_actions.create_from_corpus(by=None, corpus=corpus, kind="turn", key="films", title="Films")
    rated, said, note = scheme_store.definition_of(made).questions
    assert (rated.key, rated.wording, rated.values) == ("overall_score", "Overall score", (1, 2, 3, 4, 5))
    assert (said.key, said.values) == ("question_2", ("no", "yes"))
    assert (note.level, note.values) == ("text", ())
    with pytest.raises(SchemeRefused, match="brought no questions"):
        scheme_actions.create_from_corpus(by=None, corpus=corpus, kind="dialogue", key="other")


def test_a_difference_says_what_came_went_moved_and_changed() -> None:
    number, kind, why = MADE.questions
    after = replace(
        MADE,
        title="New",
        questions=(
            kind,
            replace(number, maximum=5, help={"definition": "Count them."}),
            QuestionDefinition("extra", "More?", "text"),
        ),
    )
    assert [str(change) for change in difference(MADE, after)] == [
        "Scheme, title: “Made” → “New”",
        "Question why removed: “Why b?”",
        "Question extra added: “More?”",
        "Question kind moved from place 2 to place 1",
        "Question n, help definition: nothing → “Count them.”",
        "Question n, maximum: 9 → 5",
    ]
    assert difference(MADE, replace(MADE, version=7)) == []
    assert why.key == "why"


def test_guidelines_of_a_campaign_start_with_those_of_its_scheme() -> None:
    campaign = factories.campaign(factories.corpus(), "fed_turn", opened=False)
    assert campaign.guidelines.get().text == SCHEMES["fed_turn"].guidelines
    campaigns.set_guidelines(by=campaign.created_by, campaign=campaign, text="Mine.")  # type: ignore[arg-type]
    assert campaign.guidelines.get().text == "Mine."
