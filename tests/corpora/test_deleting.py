"""Deleting a corpus or a person: complete, confirmed by an administrator, and logged."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from annotation.corpora import deletion as purging
from annotation.corpora import splits
from annotation.errors import DeletionRefused
from annotation.models import Assignment, Campaign, Corpus, Label, Rater, Scheme, Slot
from annotation.people import accounts, deletion
from annotation.work import labels
from config.models import Event
from tests import factories
from tests.importing.helpers import census, imported, label, line, written

pytestmark = pytest.mark.django_db


def corpus(tmp_path: Path, name: str = "c") -> Corpus:
    lines = [line(f"d{number}", labels=[label(), label(2, question="own")]) for number in range(3)]
    imported(written(tmp_path, *lines), name)
    return Corpus.objects.get(name=name)


def test_a_corpus_goes_with_everything_about_it_and_the_act_is_logged(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    kept = corpus(tmp_path, "kept")
    splits.fix(split=splits.draw(corpus=made, by=None), by=None)
    annotator, boss = factories.user(), factories.user(administrator=True)
    factories.campaign(made, annotators=[annotator], include_self=True)
    before = census()
    gone = purging.delete_corpus(corpus=made, by=boss, confirmation="c")
    after = census()
    assert (gone["annotation_label"], gone["annotation_dialogue"]) == (6, 3)
    fewer = {"Corpus": 1, "Dialogue": 3, "Turn": 6, "Item": 9, "Label": 6, "Rater": 1}
    assert {name: before[name] - after[name] for name in fewer} == fewer
    assert not Campaign.objects.exists()
    assert not Scheme.objects.filter(key="corpus:c:turn").exists()
    assert Label.objects.filter(item__corpus=kept).count() == 6
    event = Event.objects.get(verb="delete corpus")
    assert (event.by, event.subject, event.detail) == (boss, "c", gone)


@pytest.mark.exhaustive
def test_the_same_file_can_be_imported_again_afterwards(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    purging.delete_corpus(corpus=made, by=factories.user(administrator=True), confirmation="c")
    assert imported(tmp_path / "file.jsonl").created


def test_a_corpus_own_question_stays_where_another_corpus_took_it_up(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    imported(
        written(tmp_path, line(labels=[label(1, question="own")]), name="b.jsonl"),
        "b",
        scheme="corpus:c:turn",
    )
    purging.delete_corpus(corpus=made, by=factories.user(administrator=True), confirmation="c")
    assert Label.objects.get().question.version.scheme.key == "corpus:c:turn"


@pytest.mark.parametrize("role", [{}, {"researcher": True}])
def test_only_an_administrator_deletes(tmp_path: Path, role: dict[str, bool]) -> None:
    made, person = corpus(tmp_path), factories.user(**role)
    with pytest.raises(PermissionDenied):
        purging.delete_corpus(corpus=made, by=person, confirmation="c")
    with pytest.raises(PermissionDenied):
        deletion.delete_person(person=factories.user(), by=person, confirmation="x")
    assert Corpus.objects.exists()


def test_nothing_is_deleted_without_the_name(tmp_path: Path) -> None:
    made, boss = corpus(tmp_path), factories.user(administrator=True)
    with pytest.raises(DeletionRefused, match="type the name"):
        purging.delete_corpus(corpus=made, by=boss, confirmation="C")
    assert Label.objects.count() == 6


def test_a_persons_data_goes_and_their_slots_are_free_again(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    ana, boss = factories.user("ana"), factories.user(administrator=True)
    accounts.make(person=ana, name="x", scope="read", days=1)
    factories.campaign(made, annotators=[ana], include_self=True, by=ana)
    slot = Slot.objects.first()
    assert slot is not None
    Assignment.objects.create(
        slot=slot, task=slot.task, campaign=slot.campaign, user=ana, lease_expires="2030-01-01T00:00Z"
    )
    rater = labels.rater_of_person(user=ana)
    theirs = Label.objects.filter(rater__corpus=made)[:1].get()
    Label.objects.create(item=theirs.item, question=theirs.question, rater=rater, occasion="main", number=1)
    deletion.delete_person(person=ana, by=boss, confirmation="ana")
    assert not User.objects.filter(username="ana").exists()
    assert not Rater.objects.filter(pk=rater.pk).exists()
    assert not Slot.objects.filter(taken=True).exists()
    assert Campaign.objects.get().created_by is None
    assert Label.objects.count() == 6
    assert Event.objects.get(verb="delete person").subject == f"account {rater.user_id}"


def test_nobody_deletes_themselves() -> None:
    boss = factories.user(administrator=True)
    with pytest.raises(DeletionRefused, match="own account"):
        deletion.delete_person(person=boss, by=boss, confirmation=boss.username)


def test_labels_are_kept_by_the_database_outside_these_acts(tmp_path: Path) -> None:
    from django.db import IntegrityError, transaction

    corpus(tmp_path)
    with pytest.raises(IntegrityError), transaction.atomic():
        Label.objects.all()._raw_delete("default")  # type: ignore[attr-defined]
