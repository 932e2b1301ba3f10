"""Pages and JSON for annotators and adjudicators reveal no origin and no other person's answers."""

from __future__ import annotations

import pytest

from annotation.models import Campaign, Participant, Thread
from annotation.people import participants
from tests import factories
from tests.security.blind_world import (
    ORIGIN,
    OTHERS,
    Asker,
    asker,
    campaign,
    corpus,
    round_for,
    walk,
    work_of,
)
from tests.security.test_access import MEMBERS, SIGNED_IN

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]

ADJUDICATORS = {name for name in MEMBERS | SIGNED_IN if "adjudicat" in name or name.endswith("-case")}
NOT_OF_TASKS = {
    *("api-schema", "api-docs", "logout", "password", "make-token", "revoke-token"),
    *("api-password", "api-tokens", "api-token"),
}
"""What somebody signed in may use that has nothing of any campaign."""
CHATS = {name for name in MEMBERS if "lobby" in name or "chat" in name}
"""Conversations: their people see no system; tests of theirs look for the other one in every byte."""


@pytest.fixture(scope="module")
def pilot(module_database: None) -> Campaign:
    rei, other = factories.user("rei", researcher=True), factories.user(f"other {ORIGIN}")
    made = campaign(corpus(), other, factories.user("ana"), by=rei)
    work_of(other, made, rei)
    return made


def look_around(who: Asker, pilot: Campaign) -> None:
    """Open every page and list beside the work."""
    own = pilot.assignments.filter(user__username="ana", occasion="main", state="submitted").first()
    assert own is not None
    who.post(f"/work/{pilot.pk}/{own.pk}/ask/", {"line": 1, "text": "What is meant?"})
    (thread,) = Thread.objects.filter(annotator__username="ana")
    who.post(f"/work/{pilot.pk}/messages/{thread.pk}/", {"text": "And now?"})
    who.post(f"/my/messages/{thread.pk}/", {"text": "Hello?"}, form=True)
    who.post(f"/work/{pilot.pk}/messages/", {"text": "Another one"}, form=True)
    who.post(f"/api/v1/work/messages/{thread.pk}/", {"text": "Hello again?"})
    who.post("/account/time-zone/", {"zone": "Europe/Berlin"}, form=True)
    api = "/api/v1/work/"
    for path in (
        *("/", "/my/", "/account/", "/account/comfort/", "/my/submissions/", "/my/messages/"),
        *(
            "/my/submissions/?text=reply",
            f"/my/submissions/?text={ORIGIN}",
            f"/my/submissions/?text={OTHERS}",
        ),
        *(f"/work/{pilot.pk}/", f"/work/{pilot.pk}/{own.pk}/", f"/work/{pilot.pk}/guidelines/"),
        *(f"/work/{pilot.pk}/agreement/", "/my/adjudication/", "/api/v1/account/comfort/"),
        *(api, f"{api}submissions/", f"{api}submissions/?text=reply", f"{api}messages/"),
        *(f"{api}{pilot.pk}/guidelines/", f"{api}{pilot.pk}/agreement/", f"{api}{pilot.pk}/{own.pk}/notes/"),
        "/api/v1/adjudicate/",
    ):
        who.get(path)


def test_annotators_learn_no_origin_and_nobody_s_words_from_any_page_or_answer(pilot: Campaign) -> None:
    ana = asker(pilot.members.get(user__username="ana").user)
    walk(ana, f"/work/{pilot.pk}/", "note/")
    look_around(ana, pilot)
    ben = factories.user("ben")
    factories.campaigns.add_member(by=pilot.created_by, campaign=pilot, user=ben)
    program = asker(ben)
    walk(program, f"/api/v1/work/{pilot.pk}/", "notes/")
    assert ana.visited | program.visited >= (MEMBERS | SIGNED_IN) - ADJUDICATORS - NOT_OF_TASKS - CHATS
    for who in (ana, program):
        assert who.learned("a reply to number") != []
        assert who.learned("fake model") == who.learned("fake_model") == []
        searched = [text for name, text in who.told if name == "my-submissions"]
        assert [name for name in who.learned(ORIGIN) if name != "my-submissions"] == []
        assert [name for name in who.learned(OTHERS) if name != "my-submissions"] == []
        for text in searched:  # the search field says again what was searched for, and nothing else has it
            assert text.casefold().count(ORIGIN) + text.casefold().count(OTHERS) <= 1


def test_who_comes_by_a_link_learns_no_more(pilot: Campaign) -> None:
    link = participants.make_link(by=pilot.created_by, campaign=pilot, name=f"wave {ORIGIN}")
    other = participants.Came(f"first-{ORIGIN}")
    participants.join(link=link, visitor=other, browser="one")
    who = Asker(asker(factories.user()).client)
    who.client.logout()
    address = f"/join/{participants.key_of(link)}/?PROLIFIC_PID=p2"
    who.get(address)
    who.post(address, {"participant": "p2"}, form=True)
    assert Participant.objects.count() == 2
    walk(who, f"/work/{pilot.pk}/", "note/")
    for path in ("/", "/my/", "/account/", f"/work/{pilot.pk}/", "/my/submissions/", "/my/messages/"):
        who.get(path)
    assert who.learned(ORIGIN) == who.learned(OTHERS) == who.learned("rei") == []


def test_adjudicators_learn_what_was_answered_and_not_by_whom_or_about_which_system(pilot: Campaign) -> None:
    judge = factories.user("ada")
    number = round_for(judge, pilot, pilot.created_by)
    ada, api, pages = (
        asker(judge, "system", "rater"),
        f"/api/v1/adjudicate/{number}/",
        f"/adjudicate/{number}/",
    )
    held = ada.post(f"{api}claim/")["decision"]
    ada.get(pages)
    ada.post(f"{api}{held['id']}/draft/", {"version": 1, "answer": 3, "reason": "so"})
    ada.post(f"{api}{held['id']}/decide/", {"answer": 3, "reason": "so"})
    held = ada.post(f"{api}claim/")["decision"]
    ada.post(f"{pages}{held['id']}/draft/", {"version": 1, "answer": 3, "reason": "so"})
    ada.get(f"{pages}{held['id']}/")
    ada.post(f"{pages}{held['id']}/", {"choice": "2", "reason": "so"}, form=True)
    held = ada.post(f"{api}claim/")["decision"]
    ada.post(f"{api}{held['id']}/pass/", {"reason": "not mine"})
    held = ada.post(f"{api}claim/")["decision"]
    ada.post(f"{pages}{held['id']}/pass/", {"reason": "not mine"}, form=True)
    for path in ("/my/", "/my/adjudication/", "/api/v1/adjudicate/"):
        ada.get(path)
    assert ada.visited >= ADJUDICATORS
    assert ada.learned(ORIGIN) == []
    assert ada.learned(OTHERS) != []
