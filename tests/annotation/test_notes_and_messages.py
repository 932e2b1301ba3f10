"""Notes on turns, and messages: kept with history, visible to researchers, never to other annotators."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.errors import NoteRefused, NotTaskHolder, ThreadClosed
from annotation.models import Bookmark, Item, Message, Thread, TurnNote
from annotation.work import messages, notes, screens
from annotation.work import task_actions as labelling
from annotation.work.notes import notes_of_item as of_item
from annotation.work.notes import notes_of_turns as of_turns
from tests import factories

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def rei():
    return factories.user("rei", researcher=True)


@pytest.fixture
def ana():
    return factories.user("ana")


@pytest.fixture
def ben():
    return factories.user("ben")


@pytest.fixture
def campaign(rei, ana, ben):
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, turns=3)
    lines = [{"text": f"answer {number}"} for number in range(2)]
    factories.continuation(dialogue, "x", system="model-x", turns=lines)
    return factories.campaign(corpus, annotators=[ana, ben], raters=2, by=rei, name="quality")


def client_of(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def begin(person, campaign):
    _, hold = labelling.start(by=person, campaign=campaign.pk)
    return hold


def note(person, campaign, hold, line=1, **what):
    place = {"campaign": campaign.pk, "assignment": hold.assignment, "line": line}
    return notes.set_note(by=person, **place, **what)


def post(client, path, **body):
    return client.post(path, body, content_type="application/json")


def test_a_note_is_kept_through_a_skip_and_each_version_of_it_stays_on_record(ana, campaign) -> None:
    hold = begin(ana, campaign)
    note(ana, campaign, hold, comment="odd", bookmarked=True)
    note(ana, campaign, hold, flagged=True)
    labelling.skip(by=ana, campaign=campaign.pk, assignment=hold.assignment, reason="odd")
    kept = note(ana, campaign, hold, comment="odd indeed")
    assert (kept.comment, kept.flagged, kept.bookmarked) == ("odd indeed", True, True)
    versions = TurnNote.objects.order_by("id").values_list("comment", "flagged")
    assert list(versions) == [("odd", False), ("odd", True), ("odd indeed", True)]
    assert TurnNote.objects.filter(superseded_at=None).count() == 1
    note(ana, campaign, hold, comment="", flagged=False, bookmarked=False)
    assert not TurnNote.objects.filter(superseded_at=None).exists()
    assert TurnNote.objects.count() == 4
    assert not Bookmark.objects.exists()


def test_what_was_noted_or_said_is_never_changed_nor_written_by_another(ana, ben, campaign) -> None:
    hold = begin(ana, campaign)
    note(ana, campaign, hold, comment="odd")
    messages.ask(by=ana, campaign=campaign.pk, text="Why?")
    written = TurnNote.objects.get()
    for change in (
        lambda: TurnNote.objects.update(comment="fine"),
        lambda: TurnNote.objects.all().delete(),
        lambda: Message.objects.update(text="Never mind."),
        lambda: TurnNote.objects.create(
            campaign=campaign, user=ben, turn=written.turn, assignment=written.assignment, comment="not mine"
        ),
        lambda: Thread.objects.create(campaign=campaign, annotator=ben, assignment=written.assignment),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()


def test_a_line_that_is_not_there_and_a_task_of_another_are_refused(ana, ben, campaign) -> None:
    hold = begin(ana, campaign)
    with pytest.raises(NoteRefused, match="no line 99"):
        note(ana, campaign, hold, 99, comment="odd")
    with pytest.raises(NoteRefused, match="at most"):
        note(ana, campaign, hold, comment="x" * 2_001)
    with pytest.raises(NotTaskHolder):
        note(ben, campaign, hold, comment="odd")


def test_the_page_shows_own_notes_and_nobody_else_s(ana, ben, campaign) -> None:
    hold = begin(ana, campaign)
    client = client_of(ana)
    path = f"/work/{campaign.pk}/{hold.assignment}/note/"
    answer = post(client, path, line=2, comment=HOSTILE, bookmarked=True)
    assert answer.json() == {"line": 2, "comment": HOSTILE, "flagged": False, "bookmarked": True}
    assert post(client, path, line="2", comment="odd").status_code == 422
    state = post(client, f"/work/{campaign.pk}/next/").json()["task"]
    assert [one["comment"] for one in state["notes"]] == [HOSTILE]
    page = client.get(f"/work/{campaign.pk}/").content.decode()
    assert HOSTILE not in page
    assert "data-line=" in page
    assert "model-x" not in page
    task = post(client_of(ben), f"/work/{campaign.pk}/next/").json()["task"]
    assert task["notes"] == []
    assert task["threads"] == []


def test_researchers_read_notes_and_not_bookmarks(rei, ana, campaign) -> None:
    hold = begin(ana, campaign)
    note(ana, campaign, hold, 1, comment="=SUM(A1)", flagged=True)
    note(ana, campaign, hold, 2, bookmarked=True)
    client = client_of(rei)
    shown = client.get(f"/campaigns/{campaign.pk}/notes/").content.decode()
    assert "=SUM(A1)" in shown
    assert "bookmarked" not in shown
    (row,) = client.get(f"/api/v1/campaigns/{campaign.pk}/notes/").json()["results"]
    assert (row["annotator"], row["flagged"], row["turn_number"]) == (
        factories.called(ana, campaign),
        True,
        1,
    )
    file = client.get(f"/campaigns/{campaign.pk}/notes.csv").content.decode()
    assert "'=SUM(A1)" in file
    (line,) = client.get(f"/campaigns/{campaign.pk}/notes.jsonl").content.decode().splitlines()
    assert json.loads(line)["comment"] == "=SUM(A1)"
    assert row["comment"] == "=SUM(A1)"
    turns = screens.load(hold.task).turns
    assert {turn: len(found) for turn, found in of_turns(turns).items()} == {turns[0]: 1}
    own = Item.objects.get(turn=turns[0])
    assert [said.comment for said in of_item(own)] == ["=SUM(A1)"]
    dialogue = client.get(f"/corpora/dialogue/{own.continuation.dialogue_id}/").content.decode()
    assert "=SUM(A1)" in dialogue
    assert client_of(ana).get(f"/campaigns/{campaign.pk}/notes.csv").status_code == 403


def test_without_notes_and_messages_the_next_task_asks_nothing_about_them(ana, campaign) -> None:
    begin(ana, campaign)
    client = client_of(ana)
    with CaptureQueriesContext(connection) as asked:
        post(client, f"/work/{campaign.pk}/next/")
    own = ("FROM annotation_turnnote n WHERE", "FROM annotation_thread h WHERE")
    about = [one["sql"] for one in asked if "turnnote" in one["sql"] or "thread" in one["sql"]]
    assert len(about) == 1
    assert all(part in about[0] for part in own)


def test_a_message_about_a_turn_reaches_its_annotator_alone_and_is_answered(rei, ana, ben, campaign) -> None:
    hold = begin(ana, campaign)
    begin(ben, campaign)
    page = client_of(rei)
    path = f"/campaigns/{campaign.pk}/messages/"
    about = f"{path}?assignment={hold.assignment}"
    assert page.post(about, {"text": f"Why? {HOSTILE}", "line": "1"}).status_code == 302
    thread = Thread.objects.get()
    assert thread.turn_id == screens.load(hold.task).turns[0]
    assert messages.unread(ana.pk) == 1
    mine = client_of(ana)
    (told,) = post(mine, f"/work/{campaign.pk}/next/").json()["task"]["threads"]
    assert (told["line"], told["unread"]) == (1, 1)
    assert "1 new message" in mine.get("/my/").content.decode()
    answer = f"/work/{campaign.pk}/messages/{thread.pk}/"
    assert post(mine, answer, text="Because.", line=1).json()["messages"][-1]["mine"]
    assert messages.unread(ana.pk) == 0
    assert messages.waiting(campaign) == 1
    listed = mine.get("/my/messages/").content.decode()
    assert "Because." in listed
    assert HOSTILE not in listed
    other = client_of(ben)
    assert post(other, answer, text="Hello").status_code == 404
    assert other.post(f"/my/messages/{thread.pk}/", {"text": "Hello"}).status_code == 404
    assert "Because." not in other.get("/my/messages/").content.decode()
    assert other.get("/api/v1/work/messages/").json()["results"] == []
    page.post(f"{path}{thread.pk}/", {"verb": "close"})
    with pytest.raises(ThreadClosed):
        messages.answer(by=ana, thread=thread, text="And?")


def test_a_message_to_everybody_is_a_thread_with_each_and_names_no_system(rei, ana, ben, campaign) -> None:
    client = client_of(rei)
    path = f"/api/v1/campaigns/{campaign.pk}/messages/"
    told = {"everybody": True, "text": "The model-x of yesterday is gone."}
    assert post(client, path, **told).status_code == 422
    made = post(client, path, everybody=True, text="Read the new guidelines.").json()
    assert {one["annotator"] for one in made} == {factories.called(person, campaign) for person in (ana, ben)}
    assert post(client, path, to=["nobody"], text="Hello").status_code == 422
    assert "does not take part" in post(client, path, to=["rei"], text="Hello").json()["detail"]
    asked = post(client_of(ana), "/api/v1/work/messages/", campaign=campaign.pk, text="Which ones?")
    assert asked.status_code == 201
    assert asked.json()["waits"]
    seen = post(client_of(ana), f"/api/v1/work/messages/{made[0]['thread']}/")
    assert seen.status_code in (200, 404)


def test_a_person_is_deleted_with_their_notes_and_threads(rei, ana, campaign) -> None:
    from annotation.people.deletion import delete_person

    hold = begin(ana, campaign)
    note(ana, campaign, hold, comment="odd", bookmarked=True)
    messages.ask(by=ana, campaign=campaign.pk, assignment=hold.assignment, line=1, text="Why?")
    root = factories.user("root", administrator=True)
    delete_person(person=ana, by=root, confirmation="ana")
    assert not TurnNote.objects.exists()
    assert not Message.objects.exists()
    assert not Bookmark.objects.exists()
