"""A report is shared by a read-only link, or as one HTML file: who makes links, and what they show."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.corpora import splits
from annotation.models import Item, JoinTry
from annotation.people import accounts
from annotation.work.labels import Answer, record
from calibration.errors import CalibrationError, ShareRefused
from calibration.models import Report, ReportShare, ReportShareView, Study
from calibration.reports.renderings import RENDERINGS
from calibration.reports.snapshot import FORMAT, snapshot_of
from calibration.reports.view import SECTIONS
from calibration.studies import share_actions as shares
from calibration.studies import study_actions as studies
from config.models import Event
from tests import factories
from tests.api_command import api
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

DIALOGUES = 10
NOTE = "she repeats <b>the joke</b> about geese"
REASON = "the answer ignores <i>the geese</i>"
TURN = "words 0"
READ_FROM_SNAPSHOT = [RENDERINGS[form] for form in ("csv", "md", "latex", "html")]
NO_USE = "This link does not work: it has expired, was revoked, or its address is incomplete."


@dataclass(frozen=True)
class Shared:
    """A report of two people and a judge who differ, and of notes about turns."""

    world: World
    report: Report

    @property
    def study(self) -> Study:
        return self.report.study


def built() -> World:
    """Two people and a judge rate ten turns; the judge explains itself, a person notes a behaviour."""
    made = world(dialogues=DIALOGUES, turns=1)
    made.ask("quality", "ordinal", [1, 2, 3, 4, 5], wording="How good is <u>this</u> turn?")
    made.ask("another_behaviour", "binary", [0, 1], scheme="tags", positive=1, group="Other")
    show = {"question": "another_behaviour", "min": 1}
    made.ask("another_behaviour_note", "text", scheme="tags", group="Other", required=False, show_if=show)
    made.say("ann", "quality", [float(1 + n % 5) for n in range(DIALOGUES)])
    made.say("ben", "quality", [float(1 + (n + n % 2) % 5) for n in range(DIALOGUES)])
    answers = [
        Answer(item, made.questions["quality"], float(5 - n % 5), explanation=REASON)
        for n, item in enumerate(made.turns)
    ]
    record(rater=made.rater("gpt", "judge"), answers=answers, occasion="imported")
    for person in ("ann", "ben"):
        made.say(person, "another_behaviour", [float(n == 3) for n in range(DIALOGUES)])
        made.say(person, "another_behaviour_note", {made.turns[3]: NOTE})
    return made


def report_of(made: World, part: str = "all") -> Report:
    definition = {"resamples": 20}
    study = studies.create(name=f"judges, {part}", corpus=made.corpus, definition=definition, by=None)
    if part == "test":
        studies.open_test(study=study, by=None, purpose="table 2")
    return studies.compute(study=study, part=part, by=None)


@pytest.fixture(scope="module")
def shared(module_database: None) -> Shared:
    made = built()
    return Shared(made, report_of(made))


@pytest.fixture
def rei() -> User:
    return factories.user("rei", researcher=True)


def opened(token: str, client: Client | None = None) -> Any:
    return (client or Client()).get(reverse("shared-report", args=[token]))


def text_of(response: Any) -> str:
    return response.content.decode()


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))


def addresses_in(page: str) -> set[str]:
    """Return every address that a page loads, links or posts to, except what is in the page itself."""
    attributes = ("href", "src", "srcset", "action", "formaction", "poster", "data", "xlink:href", "hx-get")
    named = {attrs[name] or "" for _, attrs in Elements(page).all for name in attributes if attrs.get(name)}
    styles = " ".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    named |= set(re.findall(r"url\(([^)]*)\)", page)) | set(re.findall(r"@import\s+(\S+)", styles))
    return {address for address in named if not address.strip("\"'").startswith(("#", "data:"))}


# What a link shows.


def test_a_link_shows_the_report_to_somebody_without_an_account(shared: Shared, rei: User) -> None:
    share, token = shares.create(by=rei, report=shared.report)
    response = opened(token)
    page = text_of(response)
    assert response.status_code == 200
    assert shared.report.inputs_hash in page
    assert "This link works until" in page
    assert token not in page
    assert share.token_hash not in page


def test_a_link_leads_nowhere_else_and_needs_no_script(shared: Shared, rei: User) -> None:
    for allowed in (False, True):
        token = shares.create(by=rei, report=shared.report, allows_transcripts=allowed).token
        page = text_of(opened(token))
        assert addresses_in(page) == set()
        assert not {tag for tag, _ in Elements(page).all} & {"script", "form", "iframe", "link", "img"}


def test_a_researcher_who_is_signed_in_sees_what_everybody_sees(shared: Shared, rei: User) -> None:
    token = shares.create(by=rei, report=shared.report).token
    client = Client()
    client.force_login(rei)
    assert text_of(opened(token, client)) == text_of(opened(token))


def test_a_shared_page_is_not_stored_indexed_or_named_to_other_sites(shared: Shared, rei: User) -> None:
    for response in (opened(shares.create(by=rei, report=shared.report).token), opened("wrong")):
        assert "no-store" in response["Cache-Control"]
        assert "private" in response["Cache-Control"]
        assert "noindex" in response["X-Robots-Tag"]
        assert response["Referrer-Policy"] == "no-referrer"
        assert '<meta name="robots" content="noindex' in text_of(response)
        assert not response.cookies


def test_without_transcripts_no_text_about_an_item_is_shown(shared: Shared, rei: User) -> None:
    page = text_of(opened(shares.create(by=rei, report=shared.report).token))
    read = re.sub(r"[0-9a-f]{64}", "", page.partition("</style>")[2])  # a digest may hold "d3"
    for text in (TURN, "geese", "d3"):
        assert text not in read
    assert "without transcripts and without notes" in page


def test_without_transcripts_a_report_has_no_text_about_an_item_in_any_part(
    shared: Shared, rei: User
) -> None:
    share, token = shares.create(by=rei, report=shared.report)
    assert "geese" in str(shared.report.result)
    loaded = shares.open_share(token, "10.0.0.9").report
    everything = str(snapshot_of(loaded)) + "".join(form.write(loaded) for form in READ_FROM_SNAPSHOT)
    for text in (TURN, "geese"):
        assert text not in everything
    assert Report.objects.get(pk=share.report_id).result == shared.report.result


def test_with_transcripts_the_leading_disagreements_are_shown(shared: Shared, rei: User) -> None:
    page = text_of(opened(shares.create(by=rei, report=shared.report, allows_transcripts=True).token))
    assert page.count(TURN) == shares.LEADING
    assert "gpt, 5 of" in page
    assert "the answer ignores &lt;i&gt;the geese&lt;/i&gt;" in page
    assert page.count("she repeats &lt;b&gt;the joke&lt;/b&gt; about geese") == 2  # one note of each person


def test_a_link_has_a_limited_number_of_transcripts(
    shared: Shared, rei: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "MOST_ITEMS", 3)
    page = text_of(opened(shares.create(by=rei, report=shared.report, allows_transcripts=True).token))
    assert page.count(TURN) == 3


def test_a_deleted_item_is_no_longer_in_the_transcripts(shared: Shared, rei: User) -> None:
    share, token = shares.create(by=rei, report=shared.report, allows_transcripts=True)
    entries = share.transcripts[0]["items"]
    entries[0]["item"] = Item.objects.order_by("-pk").values_list("pk", flat=True)[0] + 1
    ReportShare.objects.filter(pk=share.pk).update(transcripts=share.transcripts)
    assert text_of(opened(token)).count(TURN) == shares.LEADING - 1


def test_answers_that_come_later_are_not_shown(shared: Shared, rei: User) -> None:
    token = shares.create(by=rei, report=shared.report, allows_transcripts=True).token
    before = text_of(opened(token))
    shared.world.say("cleo", "quality", [1.0] * DIALOGUES)
    assert text_of(opened(token)) == before
    later = shares.create(by=rei, report=shared.report, allows_transcripts=True).token
    assert "cleo" not in text_of(opened(later))


# Links that open nothing.


def test_unknown_expired_and_revoked_links_give_the_same_answer(shared: Shared, rei: User) -> None:
    expired, expired_token = shares.create(by=rei, report=shared.report)
    days = timedelta(days=40)
    ReportShare.objects.filter(pk=expired.pk).update(
        created_at=expired.created_at - days, expires_at=expired.expires_at - days
    )
    revoked, revoked_token = shares.create(by=rei, report=shared.report)
    shares.revoke(by=rei, share=revoked)
    answers = [opened(token) for token in (expired_token, revoked_token, "x" * 43, revoked.token_hash)]
    assert {answer.status_code for answer in answers} == {410}
    assert len({text_of(answer) for answer in answers}) == 1
    assert NO_USE in text_of(answers[0])
    assert shared.study.name not in text_of(answers[0])
    assert not ReportShareView.objects.exists()


def test_a_report_of_an_older_format_is_neither_shared_nor_shown(shared: Shared, rei: User) -> None:
    token = shares.create(by=rei, report=shared.report).token
    Report.objects.filter(pk=shared.report.pk).update(result=shared.report.result | {"format": FORMAT - 1})
    response = opened(token)
    assert response.status_code == 410
    assert "can no longer be shown" in text_of(response)
    with pytest.raises(ShareRefused, match="recompute"):
        shares.create(by=rei, report=Report.objects.get(pk=shared.report.pk))


def test_a_link_dies_with_its_study(shared: Shared, rei: User) -> None:
    token = shares.create(by=rei, report=shared.report).token
    Study.objects.get(pk=shared.study.pk).delete()
    assert opened(token).status_code == 410


def test_many_requests_from_one_network_have_to_wait(
    shared: Shared, rei: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "VIEWS_AN_HOUR", 2)
    token = shares.create(by=rei, report=shared.report).token
    assert [opened(key).status_code for key in ("wrong", token, token)] == [410, 200, 429]
    assert opened(token)["Retry-After"] == "3600"
    assert Client(REMOTE_ADDR="10.0.0.9").get(reverse("shared-report", args=[token])).status_code == 200
    assert not JoinTry.objects.filter(address__contains="127.0.0.1").exists()


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_link_can_only_be_read(shared: Shared, rei: User, method: str) -> None:
    token = shares.create(by=rei, report=shared.report).token
    assert getattr(Client(), method)(reverse("shared-report", args=[token])).status_code == 405


# Creating and revoking.


def test_a_link_lasts_thirty_days_unless_chosen_and_a_year_at_most(shared: Shared, rei: User) -> None:
    share = shares.create(by=rei, report=shared.report).share
    assert timedelta(days=29) < share.expires_at - timezone.now() <= timedelta(days=30)
    shares.create(by=rei, report=shared.report, days=365)
    for days in (0, -1, 366):
        with pytest.raises(ShareRefused, match="1 to 365 days"):
            shares.create(by=rei, report=shared.report, days=days)


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_at": timezone.now() + timedelta(days=367)},
        {"expires_at": timezone.now() - timedelta(days=1)},
        {"transcripts": [{"question": "quality"}]},
    ],
)
def test_the_database_refuses_a_link_without_its_limits(
    shared: Shared, rei: User, changes: dict[str, Any]
) -> None:
    share = shares.create(by=rei, report=shared.report).share
    with pytest.raises(IntegrityError), transaction.atomic():
        ReportShare.objects.filter(pk=share.pk).update(**changes)


def test_the_database_knows_when_a_link_was_revoked(shared: Shared, rei: User) -> None:
    share = shares.create(by=rei, report=shared.report).share
    with pytest.raises(IntegrityError), transaction.atomic():
        ReportShare.objects.filter(pk=share.pk).update(revoked_by=rei)


def test_only_a_hash_of_the_secret_is_stored(shared: Shared, rei: User) -> None:
    share, token = shares.create(by=rei, report=shared.report)
    assert len(token) == 43
    stored = str(ReportShare.objects.filter(pk=share.pk).values().get())
    assert token not in stored + str(list(Event.objects.values()))


def test_links_and_their_views_are_logged(shared: Shared, rei: User) -> None:
    share, token = shares.create(by=rei, report=shared.report, days=7)
    opened(token)
    shares.revoke(by=rei, share=share)
    shares.revoke(by=rei, share=share)
    events = Event.objects.filter(detail__share=share.pk).order_by("pk")
    assert [event.verb for event in events] == ["share report", "revoke shared report"]
    assert events[0].detail == {
        "report": shared.report.pk,
        "share": share.pk,
        "days": 7,
        "transcripts": False,
        "part": "all",
    }
    (view,) = ReportShareView.objects.values()
    assert set(view) == {"id", "share_id", "at"}


# The test part.


def test_the_test_part_is_shared_with_its_looks_in_the_log(shared: Shared, rei: User) -> None:
    corpus = shared.world.corpus
    splits.draw(corpus=corpus, by=None, seed=3, test_share=0.5)
    report = report_of(shared.world, "test")
    share, token = shares.create(by=rei, report=report, allows_transcripts=True)
    assert "table 2" in text_of(opened(token))
    event = Event.objects.get(verb="share report", detail__share=share.pk)
    looks = splits.lock_of(corpus).looks.values_list("pk", flat=True)  # type: ignore[union-attr]
    assert event.detail["part"] == "test"
    assert event.detail["looks_at_test"] == list(looks)


def test_transcripts_of_a_report_from_before_the_split_are_refused(shared: Shared, rei: User) -> None:
    splits.draw(corpus=shared.world.corpus, by=None, seed=3, test_share=0.5)
    with pytest.raises(CalibrationError, match="show dev"):
        shares.create(by=rei, report=shared.report, allows_transcripts=True)


def test_a_test_part_that_nobody_opened_is_not_there_to_be_shared(shared: Shared, rei: User) -> None:
    splits.draw(corpus=shared.world.corpus, by=None, seed=3, test_share=0.5)
    study = studies.automatic(corpus=shared.world.corpus)
    client = Client()
    client.force_login(rei)
    address = reverse("report-share", args=[study.pk]) + "?part=test"
    assert client.get(address).status_code == 404
    assert client.post(address, {"days": 30}).status_code == 404
    assert not ReportShare.objects.exists()


# The page and the API of researchers.


def test_a_researcher_makes_and_revokes_a_link_on_its_page(shared: Shared, rei: User) -> None:
    client = Client()
    client.force_login(rei)
    page = reverse("report-share", args=[shared.study.pk]) + f"?snapshot={shared.report.pk}"
    assert "No links yet" in text_of(client.get(page))
    made = client.post(page, {"days": 10})
    (token,) = re.findall(r"http://testserver/shared/([\w-]{43})/", text_of(made))
    assert "no-store" in made["Cache-Control"]
    assert opened(token).status_code == 200
    listed = text_of(client.get(page))
    assert token not in listed
    assert "<summary>1</summary>" in listed
    share = ReportShare.objects.get()
    assert client.post(page, {"revoke": share.pk}).status_code == 302
    assert opened(token).status_code == 410
    assert "revoked" in text_of(client.get(page))


def test_a_page_refuses_days_outside_a_year_in_one_line(shared: Shared, rei: User) -> None:
    client = Client()
    client.force_login(rei)
    for days in ("0", "366", "x", ""):
        response = client.post(reverse("report-share", args=[shared.study.pk]), {"days": days})
        assert response.status_code == 422
    assert not ReportShare.objects.exists()


def test_the_api_makes_lists_and_revokes_links(shared: Shared, rei: User) -> None:
    path = f"studies/{shared.study.pk}/shares/"
    fields = (f"report:={shared.report.pk}", "days:=5", "allows_transcripts:=true")
    made = api("POST", path, *fields, account="rei")
    assert set(made) == {"id", "address", "expires_at"}
    token = made["address"].rstrip("/").rpartition("/")[2]
    assert opened(token).status_code == 200
    (row,) = api("GET", path, account="rei")["results"]
    assert (row["id"], row["report"], row["views"], row["works"]) == (made["id"], shared.report.pk, 1, True)
    assert (row["part"], row["allows_transcripts"], row["created_by"]) == ("all", True, "rei")
    assert len(row["viewed_at"]) == 1
    assert token not in str(row)
    api("DELETE", f"{path}{made['id']}/", account="rei")
    assert opened(token).status_code == 410
    (row,) = api("GET", path, account="rei")["results"]
    assert (row["works"], row["revoked_by"]) == (False, "rei")


def test_a_link_belongs_to_its_study(shared: Shared, rei: User) -> None:
    share = shares.create(by=rei, report=shared.report).share
    other = studies.automatic(corpus=shared.world.corpus)
    client = Client()
    client.force_login(rei)
    assert client.post(reverse("report-share", args=[other.pk]), {"revoke": share.pk}).status_code == 404
    assert client.delete(reverse("api-report-share", args=[other.pk, share.pk])).status_code == 404
    body = {"report": shared.report.pk}
    path = reverse("api-report-shares", args=[other.pk])
    assert client.post(path, body, content_type="application/json").status_code == 404


def test_nobody_but_researchers_makes_lists_or_revokes_links(shared: Shared, rei: User) -> None:
    share = shares.create(by=rei, report=shared.report).share
    campaign = factories.campaign(shared.world.corpus, by=rei)
    study = studies.automatic(corpus=shared.world.corpus, campaign=campaign)
    manager, elsewhere = factories.user("mia"), factories.user("eli")
    accounts.give_campaign_role(by=rei, campaign=campaign, person=manager, role="researcher")
    other = factories.campaign(shared.world.corpus, by=rei)
    accounts.give_campaign_role(by=rei, campaign=other, person=elsewhere, role="researcher")
    page, path = (reverse(name, args=[study.pk]) for name in ("report-share", "api-report-shares"))
    one = reverse("api-report-share", args=[shared.study.pk, share.pk])
    for account in (factories.user("ana"), manager, elsewhere, None):
        client = Client()
        if account:
            client.force_login(account)
        refused = {403} if account else {302, 401, 403}
        assert client.get(page).status_code in refused
        assert client.post(page, {"days": 30}).status_code in refused
        assert client.post(page, {"revoke": share.pk}).status_code in refused
        assert client.get(path).status_code in refused
        assert client.post(path, {}, content_type="application/json").status_code in refused
        assert client.delete(one).status_code in refused
    share.refresh_from_db()
    assert share.revoked_at is None
    assert ReportShare.objects.count() == 1


# The single HTML file.


def test_the_html_file_loads_nothing_and_runs_nothing(shared: Shared) -> None:
    page = RENDERINGS["html"].write(shared.report)
    assert addresses_in(page) == set()
    tags = [tag for tag, _ in Elements(page).all]
    assert not set(tags) & {"script", "link", "iframe", "img", "form", "object", "embed", "base"}
    assert not any(name.startswith(("on", "hx-")) for _, attrs in Elements(page).all for name in attrs)
    loaded = re.sub(r"""xmlns(:\w+)?=["'][^"']*["']""", "", page)
    assert not re.findall(r"https?://", loaded)
    assert tags.count("style") == 1
    assert "svg" in tags


def test_the_html_file_is_dark_where_the_reader_is_and_prints_what_is_folded(shared: Shared) -> None:
    page = RENDERINGS["html"].write(shared.report)
    assert "color-scheme: light dark" in page
    printed = page.partition("@media print")[2]
    assert re.search(r"::details-content\s*\{\s*content-visibility: visible", printed)


def test_the_html_file_has_the_sections_of_the_page_and_how_it_was_computed(
    shared: Shared, rei: User
) -> None:
    client = Client()
    client.force_login(rei)
    page = text_of(client.get(reverse("report", args=[shared.study.pk]) + f"?snapshot={shared.report.pk}"))
    token = shares.create(by=rei, report=shared.report).token
    made = f"<code>{shared.report.inputs_hash}</code>: the same labels and the same settings give the same"
    for copy in (RENDERINGS["html"].write(shared.report), text_of(opened(token))):
        assert sections_in(page) == sections_in(copy) != set()
        assert made in page
        assert made in copy


def sections_in(page: str) -> set[str]:
    """Return the keys of a report's sections that a page has."""
    return {section.key for section in SECTIONS if f'id="{section.key}"' in page}
