"""Pages and JSON for annotators and adjudicators reveal no origin and no other person's answers."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Assignment, Campaign, Continuation, Dialogue, Participant, Thread
from annotation.people import participants
from suites.collecting.models import WrittenResponse
from tests import factories
from tests.factories import called
from tests.security.blind_world import (
    ORIGIN,
    OTHERS,
    SYSTEMS,
    Asker,
    asker,
    campaign,
    corpus,
    round_for,
    walk,
    work_of,
)
from tests.security.test_access import MEMBERS, SIGNED_IN
from tests.suites.collecting.writing import fixed_corpus, write_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]

ADJUDICATORS = {name for name in MEMBERS | SIGNED_IN if "adjudicat" in name or name.endswith("-case")}
NOT_OF_TASKS = {
    *("api-schema", "api-docs", "logout", "password", "make-token", "revoke-token"),
    *("api-password", "api-tokens", "api-token"),
}
"""What somebody signed in may use that has nothing of any campaign."""
CHATS = {name for name in MEMBERS if "lobby" in name or "chat" in name}
"""Conversations: their people see no system; tests of theirs look for the other one in every byte."""

WRITING = {name for name in MEMBERS if "write" in name}
"""Written responses: a test of their own goes over them."""


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
    assert (
        ana.visited | program.visited >= (MEMBERS | SIGNED_IN) - ADJUDICATORS - NOT_OF_TASKS - CHATS - WRITING
    )
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


def shape(value: Any) -> Any:
    """Return a value without its texts and numbers: whether two of them could be told apart by their form."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shape(part) for part in value]
    return type(value).__name__, value if isinstance(value, bool) else bool(value)


def rate(who: Asker, base: str) -> dict[int, Any]:
    """Rate everything over one kind of request; return the tasks by assignment."""
    state, tasks = who.post(f"{base}next/"), {}
    while (task := state["task"]) is not None:
        tasks[task["assignment"]] = task
        answers = {str(item): {"overall": 4} for item in task["items"]}
        state = who.post(f"{base}{task['assignment']}/submit/", {"answers": answers})
    return tasks


def write(who: Asker, campaign: Campaign, routes: tuple[str, str, str]) -> None:
    """Write for all dialogues but one, which is skipped: `routes` of responses, drafts and skips."""
    send, draft, skip = routes
    skipped = 0
    while (place := who.post(f"/api/v1/work/{campaign.pk}/writing/"))["writing"] is not None:
        own = {"assignment": place["writing"]["assignment"], "number": place["writing"]["number"]}
        who.get(f"/write/{campaign.pk}/")
        text = f"A reply of mine to number {own['number']}."
        body = {**own, "text": text} if send == PAGES[0] else {"number": own["number"], "text": text}
        who.post(draft.format(campaign.pk, own["assignment"]), body)
        if own["number"] == 2 and not skipped:
            skipped += 1
            reason = body if send == PAGES[0] else {"reason": text}
            who.post(skip.format(campaign.pk, own["assignment"]), reason)
        else:
            who.post(send.format(campaign.pk, own["assignment"]), body)


PAGES = ("/write/{0}/send/", "/write/{0}/draft/", "/write/{0}/skip/")
API = tuple(f"/api/v1/work/{{0}}/writing/{{1}}/{name}/" for name in ("responses", "draft", "skip"))


def test_nobody_learns_which_responses_people_wrote(db: None) -> None:
    corpus = fixed_corpus(3, 3)
    for dialogue in corpus.dialogues.all():
        Dialogue.objects.filter(pk=dialogue.pk).update(key=f"{dialogue.key}-{ORIGIN}")
        replies = [{"speaker": "B", "text": f"A reply to number {at}.", "at": at} for at in (1, 3, 5)]
        for system in SYSTEMS:
            factories.continuation(dialogue, system, system=system, mode="static", turns=replies)
    writers = [factories.user(f"writer-{number}-{ORIGIN}") for number in (1, 2)]
    writing = write_campaign(writers, corpus=corpus)
    writing_asker, writing_program = (asker(person) for person in writers)
    write(writing_asker, writing, PAGES)
    write(writing_program, writing, API)  # type: ignore[arg-type]
    assert writing_asker.visited | writing_program.visited >= WRITING
    for who in (writing_asker, writing_program):
        assert who.learned("beta-") == who.learned(f"{ORIGIN}-9b") == []
        assert who.learned(f"d0-{ORIGIN}") == who.learned("human 1") == []
    by_people = Continuation.objects.filter(system__name__startswith="human ", mode="static")
    assert by_people.count() == 4
    for scheme in ("comperdial_turn", "comperdial_dialogue", "preference"):
        ana = factories.user(f"ana-{scheme}")
        rating = factories.campaign(corpus, scheme, annotators=[ana])
        who = asker(ana)
        tasks = rate(who, f"/api/v1/work/{rating.pk}/") if scheme != "preference" else {}
        for path in (f"/work/{rating.pk}/", "/my/submissions/", "/api/v1/work/submissions/"):
            who.get(path)
        marks = [ORIGIN, "human 1", "human 2", "write-", *(called(person, rating) for person in writers)]
        marks += [time.isoformat()[:19] for time in WrittenResponse.objects.values_list("at", flat=True)]
        for mark in marks:
            assert [name for name in who.learned(mark.casefold()) if name != "my-campaigns"] == [], mark
        forms: dict[Any, dict[bool, Any]] = {}
        for row in Assignment.objects.filter(pk__in=tasks).select_related(
            "task__continuation", "task__item__turn"
        ):
            turn = row.task.item.turn if row.task.item else None
            task = {name: part for name, part in tasks[row.pk].items() if name != "assignment"}
            place = row.task.continuation.dialogue_id, turn and turn.at
            is_human = by_people.filter(pk=row.task.continuation_id).exists()
            forms.setdefault(place, {})[is_human] = shape(task)
        assert all(form[True] == form[False] for form in forms.values() if len(form) == 2)
        assert scheme == "preference" or any(len(form) == 2 for form in forms.values())
