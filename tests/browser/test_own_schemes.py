"""An annotator answers questions of every level in a user-defined scheme."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation import scheme_actions
from annotation.models import Label
from annotation.schemes.files import definition_from
from tests import factories
from tests.browser.conftest import PHONE, ready

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
COLOURS = [f"colour {number}" for number in range(1, 13)]
QUESTIONS: list[Any] = [
    {"key": "kind", "wording": "Which colour?", "level": "nominal", "values": COLOURS},
    {
        "key": "share",
        "wording": "How sure are you?",
        "level": "interval",
        "values": [0, 0.5, 1],
        "anchors": {0: "not at all", 1: "wholly"},
        "required": False,
    },
    {
        "key": "count",
        "wording": "How many colours?",
        "level": "ratio",
        "maximum": 20,
        "whole": True,
        "help": {"definition": "Count every colour that is named."},
    },
    {
        "key": "fit",
        "wording": "Does it fit?",
        "level": "binary",
        "show_if": {"question": "kind", "in": ["colour 2"]},
    },
    {
        "key": "loud",
        "wording": "How loud?",
        "level": "ordinal",
        "values": [1, 2, 3],
        "show_if": {"question": "fit", "in": [1]},
    },
    {"key": "warm", "wording": "Warm", "level": "binary", "group": "Tone", "shortcut": "w"},
    {"key": "cold", "wording": "Cold", "level": "binary", "group": "Tone", "shortcut": "l"},
    {"key": "old", "wording": "Old", "level": "binary", "group": "Age", "shortcut": "o"},
    {
        "key": "why",
        "wording": "Why none?",
        "level": "text",
        "required": False,
        "show_if": {"question": "warm", "in": [0]},
    },
]


def scheme(unit: str = "item", questions: list[Any] = QUESTIONS) -> None:
    data = {"scheme": "own", "title": "Own", "item_kind": "turn", "unit": unit, "introduction": "Look."}
    scheme_actions.create(by=None, definition=definition_from(data | {"questions": questions}))


def answers(turn: int = 0) -> dict[str, object]:
    labels = Label.objects.filter(superseded_at=None).order_by("item__turn__position", "question__position")
    items = list(dict.fromkeys(labels.values_list("item", flat=True)))
    return {label.question.key: label.value for label in labels.filter(item=items[turn])}


def test_every_level_is_answered_by_keyboard_alone_and_nothing_off_its_scale_is_kept(page_of: Any) -> None:
    ana, corpus = factories.user("ana"), factories.corpus()
    factories.dialogue(corpus, turns=2)
    scheme()
    campaign = factories.campaign(corpus, "own", annotators=[ana])
    page = page_of(ana)
    page.goto(f"/work/{campaign.pk}/")
    shown = page.locator("#palette .asked:visible h2")
    expect(shown).to_have_text(
        [
            "Which colour?",
            "How sure are you? optional",
            "How many colours?",
            "Tone",
            "Age",
            "Why none? optional",
        ]
    )
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Does it fit?")).to_be_visible()
    page.keyboard.press("2")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")  # again: an optional answer is taken back
    expect(page.locator("[data-scale=share][aria-pressed=true]")).to_have_count(0)
    page.keyboard.press("3")
    field = page.locator("[data-entry=count]")
    expect(field).to_be_focused()
    expect(page.get_by_text("Count every colour that is named.")).to_be_visible()
    page.keyboard.type("21")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("1")
    expect(page.get_by_role("heading", name="How loud?")).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("w")
    expect(page.get_by_role("heading", name="Why none?")).to_be_hidden()
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#saved")).to_contain_text("“How many colours?” does not take 21")
    assert not Label.objects.exists()
    field.fill("7")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert answers() == {
        "kind": "colour 2", "share": 1.0, "count": 7.0, "fit": 1.0, "loud": 3.0,
        "warm": 1.0, "cold": 0.0, "old": 0.0,
    }  # fmt: skip
    # A question that depends on one that is not asked is not asked either, whatever was answered before.
    page.keyboard.press("2")
    page.locator("[data-scale=fit]", has_text="Yes").click()
    page.locator("[data-scale=loud]", has_text="3").click()
    page.locator("[data-scale=kind]", has_text="colour 12").click()
    expect(page.get_by_role("heading", name="How loud?")).to_be_hidden()
    field.fill("0")
    ready(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert answers(1).keys() == {"kind", "count", "warm", "cold", "old"}


def test_turns_are_rated_one_after_the_other_on_a_phone(page_of: Any) -> None:
    ana, corpus = factories.user("ana"), factories.corpus()
    dialogue = factories.dialogue(corpus, turns=1)
    factories.continuation(dialogue, "r", system="model-r", turns=[{"text": "one"}, {"text": "two"}])
    scheme("continuation", [QUESTIONS[0], QUESTIONS[2]])
    campaign = factories.campaign(corpus, "own", annotators=[ana])
    page = page_of(ana, viewport=PHONE)
    page.goto(f"/work/{campaign.pk}/")
    expect(page.get_by_role("heading", name="to be rated")).to_be_visible()
    for number in (1, 2):
        page.locator(
            "[data-scale=kind]", has_text=f"colour {number}1" if number == 1 else "colour 12"
        ).click()
        page.locator("[data-entry=count]").fill(str(number))
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        if number == 1:
            page.get_by_role("button", name="Turn after").click()
            expect(page.locator("[data-entry=count]")).to_have_value("")
    expect(page.locator(".chip")).to_have_text(["colour 11", "1", "colour 12", "2"])
    ready(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
    assert [answers(turn) for turn in (0, 1)] == [
        {"kind": "colour 11", "count": 1.0},
        {"kind": "colour 12", "count": 2.0},
    ]
