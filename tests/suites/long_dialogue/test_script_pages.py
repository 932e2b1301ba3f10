"""The page of a script: an outline of sessions, one unfolded; editing a session's data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.corpora.import_file import import_path
from annotation.errors import ScriptRefused
from annotation.models import Corpus, Dialogue, QuestionSet, SessionVersion
from annotation.script_records import script_record
from config.models import Event
from suites.long_dialogue.editing import sessions as reading
from suites.long_dialogue.editing.sessions import change_session, versions_of
from tests import factories
from tests.suites.long_dialogue.examples import script
from tests.suites.long_dialogue.test_native import bring

pytestmark = pytest.mark.django_db


@pytest.fixture
def loaf(tmp_path: Path) -> Dialogue:
    return bring(tmp_path, script()).dialogues.get()


@pytest.fixture
def ana(client: Client) -> Client:
    client.force_login(factories.user("ana", researcher=True))
    return client


def address(dialogue: Dialogue, name: str = "script", *more: Any) -> str:
    return reverse(name, args=[dialogue.corpus_id, dialogue.pk, *more])


def long_script(folder: Path, sessions: int = 788, turns: int = 32) -> Dialogue:
    """Import a script as long as the longest series: some 25,000 turns."""
    lines = []
    for number in range(sessions):
        lines.append(f"== s{number:03} | {1990 + number // 80}-{number % 12 + 1:02} | place {number % 9} ==")
        lines += [f"Person {(turn + number) % 7}: That is line {turn}, said here." for turn in range(turns)]
    path = folder / "series.txt"
    path.write_text("\n".join(lines))
    import_path(path=path, format="longform", corpus="series", into=False, by=None)
    return Corpus.objects.get(name="series").dialogues.get()


def test_the_outline_has_every_session_with_date_place_people_and_who_hears_it(
    ana: Client, loaf: Dialogue
) -> None:
    text = ana.get(address(loaf)).content.decode()
    for told in ("s1", "1994-09-01", "bakery", "Ana, Ben", "2 turns", "1 fact", "1 question", "not heard"):
        assert told in text
    assert text.count("not heard") == 1
    assert "I start at the bakery" not in text


def test_the_chosen_session_is_unfolded_with_its_turns_facts_and_questions(
    ana: Client, loaf: Dialogue
) -> None:
    text = ana.get(address(loaf) + "?session=1").content.decode()
    assert "I start at the bakery" in text
    assert "They suit you" not in text
    assert 'href="#turn-1"' in text
    second = ana.get(address(loaf) + "?turn=3").content.decode()
    assert "I bought red boots" in second
    assert "What did Cara buy?" in second
    assert ana.get(address(loaf) + "?session=6").status_code == 404


def test_a_folded_session_is_loaded_by_itself(ana: Client, loaf: Dialogue) -> None:
    part = ana.get(address(loaf, "script-session", 3), headers={"HX-Request": "true"})
    text = part.content.decode()
    assert "Do not tell Ana yet" in text
    assert "<html" not in text
    assert "hears nothing of it" in text
    whole = ana.get(address(loaf, "script-session", 3))
    assert whole["Location"].endswith("?session=3#session-3")
    lost = ana.get(address(loaf, "script-session", 9), headers={"HX-Request": "true"})
    assert lost.status_code == 404


@pytest.mark.exhaustive
def test_turns_are_looked_for_by_words_and_speaker(ana: Client, loaf: Dialogue) -> None:
    text = ana.get(address(loaf) + "?text=BOOTS").content.decode()
    assert "?turn=3#turn-3" in text
    assert "1 turn" in text
    assert "Nothing found" not in text
    named = ana.get(address(loaf) + "?speaker=cara&text=ben").content.decode()
    assert "And Ben is my roommate" in named
    assert "I start at the bakery" not in named
    assert "Nothing found" in ana.get(address(loaf) + "?text=elephant").content.decode()


def test_the_dialogue_page_of_a_script_leads_to_its_own_page(ana: Client, loaf: Dialogue) -> None:
    answer = ana.get(reverse("dialogue", args=[loaf.pk]) + "?continuation=self&turn=3")
    assert answer["Location"] == address(loaf) + "?turn=3#turn-3"
    assert ana.get(reverse("dialogue", args=[loaf.pk]))["Location"] == address(loaf)


def test_answers_to_a_script_are_shown_without_its_own_turns(ana: Client, tmp_path: Path) -> None:
    asked = [
        {"at": 2, "speaker": "ben", "text": "Who is your boss?", "given": True, "addressees": ["ana"]},
        {"at": 2, "speaker": "ana", "text": "You are.", "session": "s1"},
    ]
    told = {"id": "m", "system": "model-m", "mode": "static", "turns": asked}
    loaf = bring(tmp_path, script(continuations=[told])).dialogues.get()
    page = reverse("dialogue", args=[loaf.pk]) + "?continuation=m"
    assert page in ana.get(address(loaf)).content.decode()
    text = ana.get(page).content.decode()
    assert "Who is your boss?" in text
    assert "I start at the bakery" not in text
    assert address(loaf) in text


def test_other_dialogues_have_no_such_page(ana: Client, loaf: Dialogue) -> None:
    other = factories.dialogue(factories.corpus("other"))
    assert ana.get(reverse("script", args=[other.corpus_id, other.pk])).status_code == 404
    assert ana.get(reverse("script", args=[loaf.corpus_id + 9, loaf.pk])).status_code == 404


def test_sessions_in_numbers_are_those_of_the_records(loaf: Dialogue) -> None:
    seen = reading.overview(loaf)
    assert [(row.heard, row.turns, row.first, row.last) for row in seen.rows] == [
        (True, 2, 0, 1),
        (True, 2, 2, 3),
        (False, 2, 4, 5),
        (True, 2, 6, 7),
        (True, 2, 8, 9),
    ]
    told = reading.records_of(loaf, ["s1", "s2", "s3"])
    assert told == {
        "s1": {"fact": 1, "question": 0},
        "s2": {"fact": 0, "question": 1},
        "s3": {"fact": 0, "question": 0},
    }


def test_a_changed_date_is_a_version_with_its_reason_and_an_event(loaf: Dialogue) -> None:
    by = factories.user("rita", researcher=True)
    changed = change_session(
        dialogue=loaf, session="s3", date="1994-11-24", kind="talk", reason="Thanksgiving", by=by
    )
    loaf.refresh_from_db()
    stored = script_record(loaf.script)
    assert stored is not None
    assert str(stored.sessions[2].date) == "1994-11-24"
    told = [
        (one["version"], one["date"], one["kind"], one["reason"], one["by"])
        for one in versions_of(loaf, stored.sessions[2])
    ]
    assert told == [(2, "1994-11-24", "talk", "Thanksgiving", "rita"), (1, "1994-11-05", "imported", "", "")]
    event = Event.objects.get(verb="change session")
    assert (event.by, event.detail["from"]["date"]) == (by, {"year": 1994, "month": 11, "day": 5})
    assert (changed.version.version, changed.warnings) == (2, ())


def test_question_sets_are_marked_by_whether_they_were_used(loaf: Dialogue) -> None:
    first = QuestionSet.objects.get()
    change = {"dialogue": loaf, "session": "s3", "kind": "broadcast", "by": None}
    (marked,) = change_session(**change, date="1994-12").stale  # type: ignore[arg-type]
    assert marked == first
    first.refresh_from_db()
    assert first.stale == (
        "Session s3 was changed after these uses were made: its date was 1994-11-05, and is 1994-12. "
        "They are to be computed anew."
    )
    first.used_at = SessionVersion.objects.latest("at").at
    first.save()
    change_session(**change, present=["Ana"])  # type: ignore[arg-type]
    first.refresh_from_db()
    assert "who is listed as present is another. A simulation used them" in first.stale
    other = QuestionSet.objects.create(corpus=loaf.corpus, name="other")
    change_session(**change, present=["cara", "Ana"], date="1995")  # type: ignore[arg-type]
    other.refresh_from_db()
    assert other.stale == ""


def test_a_place_changes_nothing_of_what_is_known(loaf: Dialogue) -> None:
    changed = change_session(dialogue=loaf, session="s3", place=" the  loft ", kind="talk", by=None)
    assert (changed.version.content["place"], changed.stale) == ("the loft", ())


def test_who_is_listed_hears_the_session(loaf: Dialogue) -> None:
    change_session(dialogue=loaf, session="s3", present=["ana"], kind="talk", by=None)
    loaf.refresh_from_db()
    assert [row.heard for row in reading.overview(loaf).rows] == [True] * 5


def test_dates_that_then_run_backwards_are_a_warning(loaf: Dialogue) -> None:
    changed = change_session(dialogue=loaf, session="s3", date="1999", kind="talk", by=None)
    assert changed.warnings == ("Dates run backwards: s4 is of 1995-01-07, but s3 before it of 1999.",)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("change", "field", "told"),
    [
        ({"date": "soon"}, "date", "'soon' is not a date: write 1994-09-22, 1994-09 or 1994."),
        ({"date": "1994-02-30"}, "date", "1994-02-30 is no date."),
        ({"date": "1994-11-05"}, "date", "Nothing would change"),
        ({}, "date", "Nothing would change"),
        ({"present": ["Zoe"]}, "present", "Nobody of this dialogue is called 'Zoe'."),
        ({"place": "x" * 201}, "place", "A place has 200 characters at most."),
        ({"place": "a\0b"}, "place", "A place has"),
        ({"session": "s9"}, "session", "There is no session 's9'."),
        ({"kind": "imported"}, "kind", "A reason is needed"),
        ({"kind": "other", "reason": " "}, "reason", "Describe the other reason."),
        ({"reason": "x" * 2001}, "reason", "The reason has 2000 characters at most."),
        ({"date": "1996", "seen": 2}, "date", "Somebody else changed this session meanwhile"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    loaf: Dialogue, change: dict[str, Any], field: str, told: str
) -> None:
    before = loaf.script
    with pytest.raises(ScriptRefused) as caught:
        change_session(**({"dialogue": loaf, "session": "s3", "kind": "talk", "by": None} | change))
    assert caught.value.field == field
    assert str(caught.value).startswith(told)
    loaf.refresh_from_db()
    assert (
        loaf.script,
        SessionVersion.objects.count(),
        Event.objects.filter(verb="change session").count(),
    ) == (
        before,
        0,
        0,
    )


def test_the_page_changes_a_session_and_lists_what_was_said_of_it(ana: Client, loaf: Dialogue) -> None:
    page = address(loaf, "edit-session", 3)
    text = ana.get(page).content.decode()
    assert "nothing has been changed" in text
    assert "Do not tell Ana yet" in text
    told = {
        "date": "1999",
        "place": "loft",
        "present": "Ana, ben",
        "kind": "talk",
        "reason": "so <b>",
        "seen": "1",
    }
    answer = ana.post(page, told, follow=True)
    shown = answer.content.decode()
    assert "The session is changed." in shown
    assert "Dates run backwards: s4" in shown
    assert "They are to be computed anew." in shown
    listed = ana.get(page).content.decode()
    assert "a day named in the talk: so &lt;b&gt;" in listed
    assert "Ana, Ben" in listed
    again = ana.post(page, told | {"date": "1998"})
    assert again.status_code == 422
    assert "Somebody else changed this session meanwhile" in again.content.decode()
    assert 'name="seen" value="2"' in again.content.decode()
    assert 'value="1998"' in again.content.decode()
    bad = ana.post(page, told | {"date": "never", "seen": "2"})
    assert (bad.status_code, "is not a date" in bad.content.decode()) == (422, True)


@pytest.mark.exhaustive
def test_a_page_of_25_000_turns_reads_few_of_them(
    ana: Client, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    found = long_script(tmp_path)
    ana.get(address(found))
    for query in ("", "?session=400", "?text=line+31&speaker=Person+3", "?page=16"):
        with django_assert_max_num_queries(22):
            answer = ana.get(address(found) + query)
        assert answer.status_code == 200
        assert len(answer.content) < 200_000
    assert User.objects.count() == 1
