"""Twenty pairs talk at once over HTTP; connections break and web processes are killed: no turn is lost."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Campaign, Item
from suites.collecting.models import Chat, ChatMessage
from tests import factories
from tests.annotation.test_parallel import Web
from tests.platform.web import send
from tests.suites.collecting.talking import PERSONAS, chat_campaign

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
PAIRS, EXCHANGES = 20, 7
CSRF = "a" * 32
PATIENCE = 120


class Person(threading.Thread):
    """Somebody who waits, talks until the end, and loses connections at places drawn by a seed."""

    def __init__(self, port: int, user: User, campaign: Campaign) -> None:
        super().__init__(daemon=True)
        client = Client()
        client.force_login(user)
        session = client.cookies["concord_session"].value
        self.headers = {
            "Cookie": f"concord_session={session}; concord_csrf={CSRF}",
            "X-CSRFToken": CSRF, "Content-Type": "application/json", "Host": "localhost",
        }  # fmt: skip
        self.port, self.campaign, self.random = port, campaign.pk, random.Random(user.username)
        self.texts: list[str] = []
        self.received: list[bytes] = []
        self.breaks = 0
        self.end: dict[str, Any] = {}
        self.problem: BaseException | None = None

    def run(self) -> None:
        try:
            self.talk(self.find_partner())
        except BaseException as problem:  # noqa: BLE001  (the test's own thread raises it)
            self.problem = problem

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request, again where a killed process did not answer it, and return the response."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            with suppress(OSError, http.client.HTTPException), closing(connection):
                connection.request(method, path, None if body is None else json.dumps(body), self.headers)
                answer = connection.getresponse()
                content = answer.read()
                self.received.append(content)
                assert answer.status == 200, (path, answer.status, content[:300])
                return json.loads(content)
        raise AssertionError(f"no answer to {path}")

    def break_off(self, path: str, body: Any) -> None:
        """Send a request, and lose the connection before its response."""
        text = json.dumps(body).encode()
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers.items())]
        head = "\r\n".join([*lines, f"Content-Length: {len(text)}", "", ""]).encode()
        cut = self.random.choice([len(head) // 2, len(head), len(head) + len(text) // 2, None])
        with suppress(OSError), send(self.port, (head + text)[:cut]) as half:
            if cut is None:
                half.settimeout(0.05)
                half.recv(1)
        self.breaks += 1

    def listen(self, path: str) -> Iterator[None]:
        """Yield at once, and then whenever the stream says something, or has ended and begins again."""
        while True:
            head = "\r\n".join(
                [f"GET {path} HTTP/1.1", *(f"{k}: {v}" for k, v in self.headers.items()), "", ""]
            )
            with suppress(OSError), send(self.port, head.encode()) as stream:
                stream.settimeout(2)
                for _ in range(self.random.randint(3, 12)):
                    with suppress(TimeoutError):
                        data = stream.recv(65536)
                        self.received.append(data)
                        if not data:
                            break
                    yield
            yield

    def find_partner(self) -> int:
        for _ in self.listen(f"/chat/{self.campaign}/events/"):
            place = self.ask("POST", f"/chat/{self.campaign}/wait/", {})
            if place["state"] == "chat":
                return int(place["chat"])
        raise AssertionError

    def talk(self, chat: int) -> None:
        base = f"/chat/{self.campaign}/{chat}/"
        self.received.append(json.dumps(self.ask("GET", f"{base}state/")).encode())
        for _ in self.listen(f"{base}events/"):
            state = self.ask("GET", f"{base}state/?after={len(self.texts)}")
            assert [turn["number"] for turn in state["messages"]] == list(
                range(len(self.texts) + 1, state["number"] + 1)
            )
            self.texts += [turn["text"] for turn in state["messages"]]
            if state["state"] != "open":
                self.end = state
                return
            if state["turn"] == state["own"]:
                number = state["number"] + 1
                body = {"text": f"turn {number} of person {state['own']}", "key": f"key-{number}"}
                while self.random.random() < 0.3:
                    self.break_off(f"{base}send/", body)
                assert self.ask("POST", f"{base}send/", body) == {"number": number}
                if self.random.random() < 0.2:
                    assert self.ask("POST", f"{base}send/", body) == {"number": number}


@pytest.fixture
def web(transactional_db: None) -> Iterator[Web]:
    started = Web()
    yield started
    started.stop()


def kill_after(web: Web, turns: int, workers: list[Person]) -> None:
    """Kill a web process in the middle of its requests once so many turns were sent."""
    end = time.monotonic() + PATIENCE
    while ChatMessage.objects.count() < turns:
        assert time.monotonic() < end, [worker.problem for worker in workers if worker.problem]
        time.sleep(0.02)
    web.kill_one()


def test_twenty_pairs_talk_at_once_and_lose_nothing(web: Web) -> None:
    people = [factories.user(f"talker-{number}") for number in range(2 * PAIRS)]
    campaign = chat_campaign(people, dialogues=PAIRS, exchanges=EXCHANGES)
    workers = [Person(web.port, person, campaign) for person in people]
    for worker in workers:
        worker.start()
    total = 2 * PAIRS * EXCHANGES
    for share in (0.25, 0.7):
        kill_after(web, int(share * total), workers)
    for worker in workers:
        worker.join(PATIENCE)
    assert [worker.problem for worker in workers if worker.problem] == []
    assert {worker.end.get("state") for worker in workers} == {"finished"}
    chats = Chat.objects.filter(state="finished")
    assert chats.count() == Chat.objects.count() == PAIRS
    assert Item.objects.filter(kind="dialogue").count() == PAIRS
    expected = [f"turn {number} of person {2 - number % 2}" for number in range(1, 2 * EXCHANGES + 1)]
    for chat in chats:
        assert list(chat.messages.order_by("at", "number").values_list("text", flat=True)) == expected
        assert list(chat.task.continuation.turns.values_list("text", flat=True)) == expected
    assert all(worker.texts == expected for worker in workers)
    assert sum(worker.breaks for worker in workers) > PAIRS
    for worker in workers:
        received = b"\n".join(worker.received).decode()
        own = worker.end["own"]
        assert PERSONAS[own - 1] in received
        assert PERSONAS[2 - own] not in received
        assert "person-" not in received
        assert "talker-" not in received
