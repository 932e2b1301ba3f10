"""Two people talk in two browsers, one of them on a telephone that is offline for a while."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from suites.collecting.models import Chat
from tests import factories
from tests.annotation.test_parallel import Web
from tests.browser.barriers import Sound
from tests.browser.conftest import PHONE
from tests.suites.collecting.talking import PERSONAS, chat_campaign, meet, say

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def web(transactional_db: None) -> Iterator[Web]:
    started = Web()
    yield started
    started.stop()


def status(page: Page) -> Locator:
    return page.locator('[data-part="status"]')


def write(page: Page, text: str) -> None:
    field = page.get_by_label("Your turn", exact=True)
    field.fill(text)
    field.press("Enter")


def test_two_people_meet_talk_and_rate_their_conversation(page_of: Any) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben], dialogues=1)
    desk, sound = page_of(ana), Sound()
    phone = page_of(ben, viewport=PHONE, has_touch=True, is_mobile=True, color_scheme="dark")
    phone.clock.install()
    for page in (desk, phone):
        page.goto(f"/work/{campaign.pk}/")
        if page is phone:
            sound.look("the lobby", phone)
        page.get_by_role("button", name="Find a partner").click()
        if page is desk:
            expect(page.get_by_text("Nobody else waits at the moment.")).to_be_visible()
    for page, own, other in ((desk, 0, 1), (phone, 1, 0)):
        expect(page.get_by_text(PERSONAS[own])).to_be_visible()
        assert PERSONAS[other] not in page.content()
    for page in (desk, phone):
        sound.look("the chat", page)
    expect(status(desk)).to_contain_text("Your turn")
    expect(status(phone)).to_contain_text("Partner writes first")
    desk.get_by_label("Your turn", exact=True).fill("x" * 501)
    expect(desk.get_by_text("-1 characters left")).to_be_visible()
    expect(desk.get_by_role("button", name="Send")).to_be_disabled()
    write(desk, "Hello, who are you?")
    expect(phone.get_by_role("log")).to_contain_text("Hello, who are you?")
    phone.context.set_offline(True)
    write(phone, "I am offline <b>now</b>")
    expect(phone.get_by_role("alert")).to_contain_text("Not sent yet")
    phone.clock.run_for(30_000)
    expect(phone.get_by_role("alert")).to_contain_text("Not sent yet")
    expect(desk.get_by_role("log").get_by_role("listitem")).to_have_count(1)
    phone.context.set_offline(False)
    expect(desk.get_by_role("log")).to_contain_text("I am offline <b>now</b>")
    write(desk, "Welcome back")
    second_tab = phone.context.new_page()
    second_tab.goto(phone.url)
    expect(second_tab.get_by_role("log").get_by_role("listitem")).to_have_count(3)
    write(second_tab, "From another tab")
    for page in (desk, phone, second_tab):
        expect(page.get_by_role("log").get_by_role("listitem")).to_have_count(4)
        expect(page.get_by_text("The conversation is complete.")).to_be_visible()
    sound.look("after the chat", phone)
    chat = Chat.objects.get()
    assert [message.seat.number for message in chat.messages.all()] == [1, 2, 1, 2]
    desk.get_by_role("link", name="Continue").click()
    expect(desk.locator("#transcript")).to_contain_text("Person 2")
    expect(desk.locator("#transcript")).to_contain_text("From another tab")
    watching = page_of(factories.user("rei", researcher=True))
    place = f"/campaigns/{campaign.pk}/conversations/"
    for address in (place, f"{place}{chat.pk}/", f"/corpora/{campaign.corpus.name}/conversations/new/"):
        watching.goto(address)
        sound.look(address, watching)
    assert sound.wrong == []


def test_leaving_asks_first_and_the_other_one_is_told(page_of: Any) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben])
    pages = [page_of(person) for person in (ana, ben)]
    for page in pages:
        page.goto(f"/work/{campaign.pk}/")
        page.get_by_role("button", name="Find a partner").click()
    first, second = pages
    first.get_by_role("button", name="Leave").click()
    first.get_by_role("dialog").get_by_role("button", name="Stay").click()
    expect(status(first)).to_contain_text("Your turn")
    first.get_by_role("button", name="Report").click()
    first.get_by_role("dialog").get_by_role("textbox").fill("Rude.")
    first.get_by_role("button", name="Report and end").click()
    expect(second.get_by_text("somebody reported it")).to_be_visible()
    assert Chat.objects.get().report == "Rude."
    second.get_by_role("link", name="Continue").click()
    expect(second.get_by_role("button", name="Find a partner")).to_be_visible()


def test_the_page_is_woken_by_events_and_does_not_ask_each_second(page_of: Any, web: Web) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben])
    first, second = pages = [page_of(person) for person in (ana, ben)]
    for page in pages:
        page.goto(f"http://localhost:{web.port}/work/{campaign.pk}/")
        page.get_by_role("button", name="Find a partner").click()
    expect(status(second)).to_contain_text("Partner writes first")
    first.get_by_label("Your turn", exact=True).press_sequentially("Hello")
    expect(second.get_by_text("Partner is writing")).to_be_visible()
    first.get_by_label("Your turn", exact=True).press("Enter")
    expect(second.get_by_role("log")).to_contain_text("Hello")
    requests: list[str] = []
    second.on("request", lambda request: requests.append(request.url))
    expect(second.get_by_text("0:04 since the last turn")).to_be_visible()
    assert requests == []


def test_a_reload_keeps_what_was_written_and_sends_on_what_was_being_sent(page_of: Any) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben])
    page = page_of(ana)
    chat = meet(campaign, ana, ben)
    page.goto(f"/chat/{campaign.pk}/{chat.pk}/")
    field = page.get_by_label("Your turn", exact=True)
    field.fill("A long thou")
    page.reload()
    expect(field).to_have_value("A long thou")
    page.route("**/send/", lambda route: route.abort())
    write(page, "A long thought")
    expect(page.get_by_role("alert")).to_contain_text("Not sent yet")
    page.unroute("**/send/")
    page.reload()
    expect(page.get_by_role("log")).to_contain_text("A long thought")
    expect(field).to_have_value("")
    page.reload()
    expect(field).to_have_value("")
    assert list(chat.messages.values_list("text", flat=True)) == ["A long thought"]


def test_what_is_sent_before_the_page_has_read_the_conversation_is_sent_then(page_of: Any) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben])
    page = page_of(ana)
    chat = meet(campaign, ana, ben)
    page.route("**/state/**", lambda route: route.abort())
    page.goto(f"/chat/{campaign.pk}/{chat.pk}/")
    write(page, "I am quick")
    expect(page.get_by_role("alert")).to_contain_text("No connection")
    assert not chat.messages.exists()
    page.unroute("**/state/**")
    expect(page.get_by_role("log")).to_contain_text("I am quick")
    expect(page.get_by_label("Your turn", exact=True)).to_have_value("")
    assert list(chat.messages.values_list("text", flat=True)) == ["I am quick"]


def test_who_reads_back_is_not_pulled_to_the_end_by_a_turn_of_the_other(page_of: Any) -> None:
    ana, ben = factories.user("ana"), factories.user("ben")
    campaign = chat_campaign([ana, ben])
    chat = meet(campaign, ana, ben)
    say(chat, ana, "line\n" * 90 + "end")
    page = page_of(ana, viewport=PHONE)
    page.goto(f"/chat/{campaign.pk}/{chat.pk}/")
    expect(page.get_by_role("log")).to_contain_text("end")
    region = page.get_by_role("region", name="Turns")
    region.evaluate("box => { box.scrollTop = 0; }")
    expect(region).to_have_js_property("scrollTop", 0)
    say(chat, ben, "Fine.")
    expect(page.get_by_role("log")).to_contain_text("Fine.")
    expect(region).to_have_js_property("scrollTop", 0)
    write(page, "OK")
    expect(page.get_by_text("OK", exact=True)).to_be_in_viewport()
