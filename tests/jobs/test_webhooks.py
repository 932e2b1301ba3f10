"""Webhooks: events, receivers, signatures, and retries if nobody listens."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Campaign
from annotation.work import submissions
from annotation.work import task_actions as labelling
from config.models import Event
from config.settings import BASE_DIR
from jobs import runs, webhooks
from jobs.errors import WebhookRefused
from jobs.models import Delivery, Run, Webhook, WebhookEvent
from jobs.webhook_events import KINDS
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
SAMPLE = re.search(r"```python\n(import base64\n.*?)```", (BASE_DIR / "docs/api.md").read_text(), re.S)


class Receiver:
    """A program that is told, in a thread of this process; it answers with `codes`, the last one for good."""

    def __init__(self) -> None:
        self.codes, self.said, self.headers = [200], b"thanks <b>", {}
        self.messages: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.messages.append(({name.lower(): text for name, text in self.headers.items()}, body))
                self.send_response(receiver.codes.pop(0) if len(receiver.codes) > 1 else receiver.codes[0])
                for name, text in receiver.headers.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(receiver.said)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def told(self) -> list[dict[str, Any]]:
        """What came, in order."""
        return [json.loads(body) for _, body in self.messages]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def root() -> Any:
    return factories.user("root", administrator=True)


@pytest.fixture
def people() -> Any:
    return [factories.user("ana"), factories.user("ben")]


@pytest.fixture
def campaign(people: Any, root: Any) -> Campaign:
    """Two turns, to be rated once each by ana or ben."""
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=2)
    return factories.campaign(corpus, annotators=people, by=root, name="pilot")


def hook(receiver: Receiver, root: Any, campaign: Campaign | None = None, events: Any = KINDS) -> Webhook:
    number = campaign and campaign.pk
    return webhooks.add(by=root, url=receiver.url, events=list(events), campaign=number, allow_private=True)


def submit(person: Any, campaign: Campaign) -> int:
    hold = labelling.start(by=person, campaign=campaign.pk)[1]
    assert hold is not None
    answers = {str(Assignment.objects.get(pk=hold.assignment).task.item_id): {"overall": 4}}
    labelling.submit(by=person, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    return hold.assignment


def make_due() -> None:
    Delivery.objects.update(not_before=timezone.now(), lease_expires=timezone.now() - timedelta(seconds=1))


def test_what_is_submitted_is_told_signed_and_without_texts(receiver, root, campaign, people) -> None:
    webhook = hook(receiver, root, campaign)
    assignment = submit(people[0], campaign)
    assert webhooks.deliver() == 1
    ((headers, body),) = receiver.messages
    told = json.loads(body)
    assert (told["type"], told["data"]["assignment"]) == ("task.submitted", assignment)
    assert told["data"].keys() == {
        *("campaign", "campaign_name", "task", "assignment", "annotator", "occasion", "flagged")
    }
    assert told["data"]["annotator"] == factories.called(people[0], campaign)
    space: dict[str, Any] = {}
    exec(SAMPLE[1], space)  # what the documentation says to receivers
    assert space["verified"](webhooks.secret_of(webhook), headers, body)
    assert not space["verified"](webhooks.secret_of(webhook), headers, body + b" ")
    assert not space["verified"]("whsec_" + "A" * 44, headers, body)
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.code, delivery.said) == ("delivered", 200, "thanks <b>")
    assert headers["webhook-id"] == f"msg_{delivery.public.hex}"


def test_a_campaign_is_complete_once_each_time_its_last_rating_comes_in(
    receiver, root, campaign, people
) -> None:
    hook(receiver, root, campaign, ["campaign.completed"])
    first = submit(people[0], campaign)
    assert not WebhookEvent.objects.exists()
    submit(people[0], campaign)
    assert WebhookEvent.objects.get().data == {
        "campaign": campaign.pk,
        "campaign_name": "pilot",
        "ratings": 2,
    }
    submissions.void(by=root, assignment=Assignment.objects.get(pk=first), reason="not read")
    submit(people[1], campaign)
    assert WebhookEvent.objects.count() == 2


def test_two_who_submit_the_last_two_tasks_at_once_complete_the_campaign_once(
    receiver, root, campaign, people
) -> None:
    hook(receiver, root, campaign, ["campaign.completed"])
    for person in people:
        labelling.start(by=person, campaign=campaign.pk)
    together = threading.Barrier(2)

    def last(person: Any) -> None:
        together.wait()
        submit(person, campaign)
        connections.close_all()

    threads = [threading.Thread(target=last, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert WebhookEvent.objects.count() == 1


def test_what_was_rolled_back_is_not_told(receiver, root, campaign, people) -> None:
    hook(receiver, root, campaign)
    with transaction.atomic():
        submit(people[0], campaign)
        transaction.set_rollback(True)
    assert not WebhookEvent.objects.exists()


def test_a_submit_costs_no_query_more_with_or_without_webhooks(receiver, root, people) -> None:
    corpus = factories.corpus()
    factories.dialogue(corpus, "d", turns=4)
    campaign = factories.campaign(corpus, annotators=people, by=root)
    counts = []
    for number in range(3):
        if number == 2:
            hook(receiver, root, campaign)
        with CaptureQueriesContext(connection) as queries:
            submit(people[0], campaign)
        counts.append(len(queries))
    assert counts[2] <= counts[1]
    assert WebhookEvent.objects.count() == 1


def test_runs_that_end_are_told_where_somebody_wants_to_know(receiver, root) -> None:
    from tests.security.audit_worlds import make_run

    run = make_run(root)
    hook(receiver, root, events=["run.finished", "run.failed"])
    run.calls.update(state="done")
    assert runs.settle(run.pk) == "done"
    runs.settle(run.pk)
    webhooks.deliver()  # what is due at once may arrive in any order
    Run.objects.update(state="running")
    runs.stop_with_error(run.pk, "its key is refused")
    webhooks.deliver()
    assert [told["type"] for told in receiver.told] == ["run.finished", "run.failed"]
    assert receiver.told[0]["data"]["run"] == run.pk


def test_what_fails_comes_again_under_the_same_id_and_is_given_up_in_the_end(receiver, root) -> None:
    webhook = hook(receiver, root)
    receiver.codes = [500, 302, 503, 200]
    receiver.headers = {"Location": receiver.url}
    webhooks.ping(by=root, webhook=webhook)
    Delivery.objects.update(max_attempts=3)
    waits = []
    for _ in range(3):
        assert webhooks.deliver() == 1
        row = Delivery.objects.get()
        waits.append((row.not_before - row.tried_at).total_seconds())
        make_due()
    assert [8 <= waits[0] <= 13, 48 <= waits[1] <= 73] == [True, True]
    assert len({headers["webhook-id"] for headers, _ in receiver.messages}) == 1
    assert len({body for _, body in receiver.messages}) == 1
    row = Delivery.objects.get()
    assert (row.state, row.attempts, row.code) == ("failed", 3, 503)
    webhooks.send_again(by=root, delivery=row)
    webhooks.deliver()
    assert Delivery.objects.get().state == "delivered"
    assert Webhook.objects.get().failing_since is None


def test_what_a_lost_worker_held_is_sent_by_another(receiver, root) -> None:
    webhooks.ping(by=root, webhook=hook(receiver, root))
    assert len(webhooks.claim()) == 1
    assert webhooks.deliver() == 0
    make_due()
    assert webhooks.deliver() == 1
    assert len(receiver.messages) == 1


def test_an_address_that_fails_for_days_is_switched_off_and_the_campaign_says_so(
    receiver, root, campaign, people
) -> None:
    webhook = hook(receiver, root, campaign)
    receiver.codes = [500]
    Webhook.objects.update(failing_since=timezone.now() - webhooks.OFF_AFTER)
    submit(people[0], campaign)
    webhooks.deliver()
    webhook.refresh_from_db()
    assert not webhook.active
    assert "Nothing reached it for 3 days" in webhook.off_reason
    assert Event.objects.filter(verb="webhook switched off").exists()
    client = Client()
    client.force_login(root)
    assert "was switched off" in client.get(reverse("campaign", args=[campaign.pk])).content.decode()
    submit(people[0], campaign)
    assert WebhookEvent.objects.count() == 1
    receiver.codes = [410]
    webhooks.switch(by=root, webhook=webhook, on=True)
    make_due()
    webhooks.deliver()
    webhook.refresh_from_db()
    assert "wants no more" in webhook.off_reason


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/x", "http://[::1]/", "http://localhost:9/", "http://10.0.0.1/", "ftp://a.example/"]
    + ["http://metadata.google.internal/", "http://u:p@a.example/"],
)
def test_addresses_inside_are_refused_when_a_webhook_is_made(root, url) -> None:
    with pytest.raises(WebhookRefused):
        webhooks.add(by=root, url=url, events=["run.failed"])


def test_a_name_that_leads_inside_is_not_connected_to_whatever_it_said_before(
    receiver, root, monkeypatch
) -> None:
    usual = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if host not in ("hook.example", b"hook.example"):
            return usual(host, *rest, **named)
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("127.0.0.1", receiver.port))]

    url = f"http://hook.example:{receiver.port}/"
    webhook = webhooks.add(by=root, url=url, events=["run.failed"])
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    webhooks.ping(by=root, webhook=webhook)
    webhooks.deliver()
    assert "is this machine itself" in Delivery.objects.get().error
    assert not receiver.messages


def test_only_an_administrator_lets_one_be_inside(campaign) -> None:
    rosa = factories.user("rosa", researcher=True)
    with pytest.raises(WebhookRefused, match="administrator"):
        webhooks.add(by=rosa, url="http://10.0.0.1/", events=["run.failed"], campaign=1, allow_private=True)
    with pytest.raises(WebhookRefused, match="administrator"):
        webhooks.add(by=rosa, url="https://a.example/", events=["run.failed"])


def test_while_a_secret_is_rotated_both_sign(receiver, root) -> None:
    webhook = hook(receiver, root)
    before = webhooks.secret_of(webhook)
    webhook = webhooks.rotate(by=root, webhook=webhook)
    webhooks.ping(by=root, webhook=webhook)
    webhooks.deliver()
    ((headers, body),) = receiver.messages
    space: dict[str, Any] = {}
    exec(SAMPLE[1], space)
    assert before != webhooks.secret_of(webhook)
    assert all(space["verified"](secret, headers, body) for secret in (before, webhooks.secret_of(webhook)))


def test_a_long_answer_is_not_read_to_its_end_and_what_is_kept_is_shown_as_text(receiver, root) -> None:
    webhook = hook(receiver, root)
    receiver.said = b"<script>" + b"x" * 50_000
    webhooks.ping(by=root, webhook=webhook)
    webhooks.deliver()
    assert len(Delivery.objects.get().said) == 1_000
    client = Client()
    client.force_login(root)
    page = client.get(reverse("webhook", args=[webhook.pk])).content.decode()
    assert "&lt;script&gt;xxx" in page
    assert "<script>xxx" not in page


def test_what_is_old_is_forgotten(receiver, root) -> None:
    webhook = hook(receiver, root)
    for _ in range(2):
        webhooks.ping(by=root, webhook=webhook)
    webhooks.deliver()
    WebhookEvent.objects.filter(pk=WebhookEvent.objects.first().pk).update(at=timezone.now() - timedelta(31))
    assert webhooks.clear() == 1
    assert Delivery.objects.count() == 1


def test_page_and_api_do_the_same(receiver, campaign) -> None:
    client = Client()
    client.force_login(factories.user("rosa", researcher=True))
    pages = reverse("campaign-webhooks", args=[campaign.pk])
    refused = client.post(pages, {"url": "http://10.0.0.1/", "events": ["run.failed"]})
    assert (refused.status_code, "is in a private network" in refused.content.decode()) == (422, True)
    made = client.post(pages, {"url": "https://a.example/", "events": ["run.failed"]})
    assert webhooks.secret_of(Webhook.objects.get()) in made.content.decode()
    address = f"/api/v1/campaigns/{campaign.pk}/webhooks/"
    body = {"url": "https://b.example/", "events": ["task.submitted"]}
    other = client.post(address, body, content_type="application/json").json()
    assert other["secret"].startswith("whsec_")
    listed = client.get(address).json()
    assert [row["url"] for row in listed["results"]] == ["https://a.example/", "https://b.example/"]
    assert "secret" not in listed["results"][0]
    one = f"/api/v1/webhooks/{other['id']}/"
    assert client.post(f"{one}act/", {"verb": "ping"}, content_type="application/json").status_code == 200
    assert client.get(f"{one}deliveries/?state=pending").json()["count"] == 1
    assert client.post(f"{one}rotate/").json()["secret"] != other["secret"]
    for verb in ("off", "on", "ping", "rotate", "delete"):
        assert client.post(reverse("webhook-act", args=[other["id"]]), {"verb": verb}).status_code in (
            200,
            302,
        )
    assert client.get(one).status_code == 404
