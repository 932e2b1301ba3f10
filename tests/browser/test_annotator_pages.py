"""The annotator's pages with difficult texts: on a phone, in dark mode, and checked with axe.

The texts run from right to left, are Chinese or Japanese, have a word of 2,000 letters, and are in a dialogue
of 400 turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation import scheme_actions
from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Campaign, Corpus
from annotation.people import accounts, participants
from annotation.schemes.files import definition_from
from annotation.work import messages
from annotation.work import task_actions as labelling
from calibration.adjudication import rounds
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE
from tests.browser.test_own_schemes import QUESTIONS
from tests.checks import world

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]

WORD = "w" * 2000
TEXTS = ("مرحبا بكم في الاجتماع", "会議は明日の午後三時から始まります。" * 8, WORD, "A short line.")
PEOPLE = [{"id": "A", "name": "عبد الرحمن بن محمد", "profile": [WORD]}, {"id": "B", "name": "王小明" * 9}]
LONG = f"# {WORD}\n\nمرحبا بكم\n\n会議は明日です。\n\n| a | b |\n|---|---|\n| {WORD} | 2 |\n"
DIALOGS = {"keys": "?", "guidelines": "g", "comment": "c", "skip": "x", "turn-note": "C"}
HARD = {"level": "text", "required": False}


def hard(corpus: Corpus, number: int, *, turns: int) -> None:
    """Add a dialogue of so many turns, with two systems' replies, all in hard texts."""
    made = factories.dialogue(corpus, f"d{number}", turns=0, participants=PEOPLE, summary=WORD)
    said = [{"text": TEXTS[turn % 4]} for turn in range(turns)]
    factories.continuation(made, "self", system="human", turns=said)
    for index, system in enumerate(("one", "two")):
        factories.continuation(made, system, system=system, turns=[{"text": TEXTS[(number + index) % 3]}])


@pytest.fixture
def corpus(db: None) -> Corpus:
    made = factories.corpus()
    for number in range(4):
        hard(made, number, turns=6)
    return made


@pytest.fixture
def ana() -> Any:
    return factories.user("ana")


@pytest.fixture
def rei() -> Any:
    return factories.user("rei", researcher=True)


@pytest.fixture
def sound() -> Sound:
    return Sound()


def shown(page: Page, address: str, heading: str = "") -> Page:
    """Open a page, and wait for what it is about."""
    page.goto(address)
    if heading:
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    return page


def test_what_comes_before_the_work(page_of: Callable[..., Page], corpus, ana, rei, sound) -> None:
    made = factories.campaign(
        corpus, by=rei, annotators=[ana], opened=False, include_self=False, consent=LONG
    )
    made_keys(made, rei)
    link = participants.make_link(by=rei, campaign=made, name="wave")
    page, work = page_of(viewport=PHONE), f"/work/{made.pk}/"
    sound.look("join", shown(page, f"/join/{participants.key_of(link)}/?participant={'p' * 64}"))
    page = page_of(ana, viewport=PHONE)
    sound.look("consent", shown(page, work, "Before you begin"))
    world.accept(ana, made, "consent")
    sound.look("training", shown(page, work, "First, some training"))
    world.accept(ana, made, "training")
    hold = world.start(ana, made)
    assert hold is not None
    world.answer(ana, made, hold, 3)
    sound.look("feedback", shown(page, work, "0 of 1 right"))
    world.accept(ana, made, "feedback", hold.assignment)
    sound.look("trained", shown(page, work, "The training is done"))
    world.accept(ana, made, "trained")
    sound.look("test", shown(page, work, "A short test"))
    world.take_test(ana, made, 1)
    sound.look("not passed yet", shown(page, work, "Not passed yet"))
    world.take_test(ana, made, number=2)
    sound.look("passed", shown(page, work, "Passed. Welcome!"))
    world.accept(ana, made, "passed")
    known = made.guidelines.get().text
    world.work(ana, made, most=1)
    campaigns.set_guidelines(by=rei, campaign=made, text=f"{known}\n{LONG}")
    sound.look("guidelines changed", shown(page, work, "The guidelines have changed"))
    world.accept(ana, made, "guidelines", 2)
    world.work(ana, made)
    sound.look("nothing left", shown(page, work, "All done. Thank you!"))
    assert sound.wrong == [], "\n".join(sound.wrong)


def made_keys(made: Campaign, rei: Any) -> None:
    """Key a task for training and one for the test, and open the campaign."""
    spots = world.Item.objects.filter(kind="turn", continuation__key="one").order_by("pk")
    world.key(made, "training", spots[0], by=rei)
    world.key(made, "qualification", spots[1], by=rei)
    world.check_actions.set_up(by=rei, campaign=made, test_tries=2, test_tells="answers")
    campaigns.open(by=rei, campaign=made)


@pytest.mark.parametrize("scheme", ["own", "preference", "preference_ranking", "cocoeval_behaviours"])
def test_a_task_and_its_dialogs(page_of: Callable[..., Page], corpus, ana, rei, sound, scheme: str) -> None:
    if scheme == "preference_ranking":
        for dialogue in corpus.dialogues.all():
            factories.continuation(dialogue, "three", system="three", turns=[{"text": TEXTS[2]}])
    if scheme == "own":
        asked = [*QUESTIONS, {"key": "hard", "wording": WORD[:400], **HARD}]
        asked[3] = {**asked[3], "evidence": "spans", "show_if": None, "help": {"definition": WORD}}
        asked[4] = {**asked[4], "show_if": None}
        data = {"scheme": "own", "title": "Own", "item_kind": "turn", "unit": "item", "introduction": WORD}
        scheme_actions.create(by=None, definition=definition_from(data | {"questions": asked}))
    made = factories.campaign(corpus, scheme, by=rei, annotators=[ana], task_order="fixed")
    page = page_of(ana, viewport=PHONE)
    shown(page, f"/work/{made.pk}/")
    expect(page.locator("#palette")).to_be_visible()
    sound.look(scheme, page)
    for name, key in (
        ("keys", "?"),
        ("guidelines", "g"),
        ("comment", "c"),
        ("skip", "x"),
        ("turn-note", "C"),
    ):
        page.locator("#reader").focus()
        page.keyboard.press(key)
        expect(page.locator(f"dialog#{name}")).to_be_visible()
        sound.look(f"{scheme}: {name}", page)
        page.keyboard.press("Escape")
        expect(page.locator(f"dialog#{name}")).to_be_hidden()
    assert sound.wrong == [], "\n".join(sound.wrong)


def test_a_task_of_400_turns(page_of: Callable[..., Page], ana, rei, sound) -> None:
    corpus = factories.corpus()
    hard(corpus, 3, turns=400)
    made = factories.campaign(corpus, by=rei, annotators=[ana])
    page = shown(page_of(ana, viewport=PHONE), f"/work/{made.pk}/")
    expect(page.locator(".turn")).to_have_count(401)
    sound.look("400 turns", page)
    assert sound.wrong == [], "\n".join(sound.wrong)


def test_what_stands_beside_the_work(page_of: Callable[..., Page], corpus, ana, rei, sound) -> None:
    ben = factories.user("ben")
    told = {"name": "長い名前" * 20, "deadline": None, "shows_agreement": True}
    made = factories.campaign(corpus, by=rei, annotators=[ana, ben], raters=2, include_self=False, **told)
    for person, values in ((ana, [1, 2, 3, 4]), (ben, [4, 2])):
        world.work(person, made, lambda given, values=values: values[len(given) % len(values)])
    own = made.assignments.filter(user=ana).order_by("pk").first()
    assert own is not None
    labelling.reopen(by=ana, campaign=made.pk, before=None)
    made.assignments.filter(pk=own.pk).update(comment=WORD, flagged=True)
    thread = messages.ask(by=ana, campaign=made.pk, text=WORD, assignment=own.pk, line=1)
    messages.answer(by=rei, thread=thread, text="مرحبا " + WORD)
    accounts.give_campaign_role(by=rei, campaign=made, person=ana, role="adjudicator")
    accounts.give_campaign_role(
        by=rei, campaign=made, person=(ada := factories.user("ada")), role="adjudicator"
    )
    plan = rounds.Plan(corpus, made, made.scheme_version, {"everything": True})
    found = rounds.begin(by=rei, name="順番" * 30, plan=plan)
    page = page_of(ana, viewport=PHONE)
    for name, address in (
        ("my work", "/my/"),
        ("submissions", "/my/submissions/"),
        ("nothing found", "/my/submissions/?text=nowhere"),
        ("messages", "/my/messages/"),
        ("comfort", "/account/comfort/"),
        ("agreement", f"/work/{made.pk}/agreement/"),
        ("a thread beside a task", f"/work/{made.pk}/{own.pk}/"),
        ("my adjudication", "/my/adjudication/"),
        ("nothing to decide", f"/adjudicate/{found.pk}/"),
    ):
        sound.look(name, shown(page, address))
    judging = shown(page_of(ada, viewport=PHONE), f"/adjudicate/{found.pk}/")
    expect(judging.locator("#reader")).to_be_focused()
    sound.look("decide", judging)
    assert sound.wrong == [], "\n".join(sound.wrong)
