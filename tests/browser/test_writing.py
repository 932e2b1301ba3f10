"""A person writes responses on a telephone, in two tabs, with a connection that breaks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Assignment, Continuation
from suites.collecting.models import WrittenResponse
from tests import factories
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE
from tests.suites.collecting.writing import reply, write_campaign

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


def write(page: Page, text: str) -> None:
    field = page.get_by_label("Your response", exact=True)
    field.fill(text)
    field.press("Enter")


def test_a_person_writes_all_responses_on_a_telephone(page_of: Any) -> None:
    ana = factories.user("ana")
    campaign, sound = write_campaign([ana], dialogues=1, plan={"show_real": True}), Sound()
    phone = page_of(ana, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme="dark")
    phone.goto(f"/work/{campaign.pk}/")
    expect(phone.get_by_text("1 of 3 responses")).to_be_visible()
    expect(phone.get_by_text("I run marathons.")).to_be_visible()
    assert reply(0, 1) not in phone.content()
    sound.look("the first response", phone)
    phone.get_by_label("Your response", exact=True).fill("x" * 501)
    expect(phone.get_by_text("-1 characters left")).to_be_visible()
    expect(phone.get_by_role("button", name="Send")).to_be_disabled()
    phone.get_by_label("Your response", exact=True).fill("I begin")
    expect(phone.get_by_text("Draft saved")).to_be_visible()
    phone.reload()
    expect(phone.get_by_label("Your response", exact=True)).to_have_value("I begin")
    other = phone.context.new_page()
    other.goto(phone.url)
    phone.context.set_offline(True)
    write(phone, "Hello from the telephone.")
    expect(phone.get_by_role("alert")).to_contain_text("Not sent yet")
    phone.context.set_offline(False)
    expect(phone.get_by_text("2 of 3 responses")).to_be_visible()
    expect(phone.get_by_text(reply(0, 1))).to_be_visible()
    expect(phone.get_by_text("You wrote: Hello from the telephone.")).to_be_visible()
    sound.look("the second response", phone)
    write(other, "Hello from the other tab.")
    expect(other.get_by_role("alert")).to_contain_text("This text was not sent.")
    other.get_by_role("link", name="Go on where the other tab is").click()
    expect(other.get_by_text("2 of 3 responses")).to_be_visible()
    write(other, "Second.")
    expect(other.get_by_text("3 of 3 responses")).to_be_visible()
    phone.reload()
    write(phone, "Third.")
    expect(phone.get_by_text("The dialogue is finished.")).to_be_visible()
    expect(phone.get_by_text(reply(0, 3))).to_be_visible()
    sound.look("after the last response", phone)
    phone.get_by_role("link", name="Continue").click()
    expect(phone).to_have_url(re.compile(f"/work/{campaign.pk}/$"))
    texts = list(WrittenResponse.objects.values_list("text", flat=True))
    assert texts == ["Hello from the telephone.", "Second.", "Third."]
    assert Continuation.objects.get(system__name="human 1").turns.count() == 3
    watching = page_of(factories.user("rei", researcher=True))
    place = f"/campaigns/{campaign.pk}/writings/"
    own = Assignment.objects.get()
    for address in (place, f"{place}{own.pk}/", f"/corpora/{campaign.corpus.name}/responses/new/"):
        watching.goto(address)
        sound.look(address, watching)
    assert sound.wrong == []


def test_skipping_asks_for_a_reason(page_of: Any) -> None:
    ana = factories.user("ana")
    campaign = write_campaign([ana], dialogues=2)
    page = page_of(ana)
    page.goto(f"/write/{campaign.pk}/")
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("dialog").get_by_role("button", name="Stay").click()
    page.get_by_role("button", name="Skip").click()
    page.get_by_role("dialog").get_by_label("Why").fill("Too sad.")
    with page.expect_response("**/skip/"):
        page.get_by_role("dialog").get_by_role("button", name="Skip").click()
    expect(page.get_by_text("1 of 3 responses")).to_be_visible()
    assert sorted(Assignment.objects.values_list("state", "skip_reason")) == [
        ("leased", ""),
        ("skipped", "Too sad."),
    ]
