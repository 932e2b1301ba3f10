"""Simulated annotators over HTTP that cause the troubles of a real study, each with its own random seed."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import connections
from django.utils import timezone

from annotation.models import Assignment
from annotation.work import leases as assigning

TRIES = 200
"""Retries of a request whose connection broke, because a killed web process is restarted."""


class Annotator(threading.Thread):
    """Annotator that works until `all_done()`.

    Sends submits twice at once, breaks connections off, writes in two tabs, skips, revises, and lets leases
    run out. `told` counts the server's responses to submits, and `accepted` has, by assignment, the last
    answers that it acknowledged; `unsure` are assignments with a request whose response was never read.
    """

    def __init__(
        self, seed: int, port: int, campaign: int, session: str, all_done: Callable[[], bool]
    ) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.port, self.campaign, self.all_done = port, campaign, all_done
        self.headers = {
            "Content-Type": "application/json",
            "Cookie": f"concord_session={session}; concord_csrf={'t' * 32}",
            "X-CSRFToken": "t" * 32,
        }
        self.told: Counter[tuple[int, str]] = Counter()
        self.accepted: dict[int, dict[str, int]] = {}
        self.unsure: set[int] = set()
        self.broken: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.all_done():
                task = self.post("next/", {})[1]["task"]
                if task is None:
                    time.sleep(0.2)
                else:
                    self.work_on(task)
        except BaseException as problem:  # noqa: BLE001  (told by the test that started it)
            self.broken = problem
        finally:
            connections.close_all()

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Send a request, retry if the connection breaks, and return status and JSON."""
        for _ in range(TRIES):
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                contextlib.closing(self._sent(path, body)) as connection,
            ):
                answer = connection.getresponse()
                return answer.status, json.loads(answer.read())
            time.sleep(0.05)
        raise AssertionError(f"nothing answers {path}")

    def _sent(self, path: str, body: dict[str, Any]) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST", f"/work/{self.campaign}/{path}", json.dumps(body), self.headers)
        return connection

    def work_on(self, task: dict[str, Any]) -> None:
        """Answer one task, with some trouble about every second time."""
        held = task["assignment"]
        answers = {str(item): {"overall": self.random.randint(1, 5)} for item in task["items"]}
        trouble = self.random.random()
        if trouble < 0.10:
            self._let_go(held)
        elif trouble < 0.20:
            self._two_tabs(held, answers)
        elif trouble < 0.28:
            self._hang_up(held, answers)
        elif trouble < 0.33:
            self.post(f"{held}/skip/", {"reason": "cannot tell"})
            return
        twins = [
            threading.Thread(target=self.submit, args=(held, answers))
            for _ in range(self.random.choice((0, 0, 1, 2)))
        ]
        for twin in twins:
            twin.start()
        self.submit(held, answers)
        for twin in twins:
            twin.join()
        after = self.random.random()
        if after < 0.1:
            self._revise(held, task["items"])
        elif after < 0.2:
            self._submit_otherwise(held, answers)

    def submit(self, held: int, answers: dict[str, Any], **more: Any) -> None:
        """Submit answers and record the acknowledged ones."""
        status, content = self.post(f"{held}/submit/", {"answers": answers, **more})
        told = content.get("status") or content.get("code") or ""
        self.told[status, told] += 1
        if status == 200:
            self.accepted[held] = {item: given["overall"] for item, given in answers.items()}

    def _let_go(self, held: int) -> None:
        """Let the lease expire; sometimes the sweep runs before the submit."""
        late = timezone.now() - timedelta(minutes=1)
        Assignment.objects.filter(pk=held, state="leased").update(lease_expires=late)
        if self.random.random() < 0.5:
            assigning.return_expired()

    def _two_tabs(self, held: int, answers: dict[str, Any]) -> None:
        """Save other answers from another tab, then check that a submit that has not seen them is refused."""
        other = {item: {"overall": 6 - given["overall"]} for item, given in answers.items()}
        draft = {"version": 10**6, "answers": other, "client": "the other tab"}
        status, _ = self.post(f"{held}/draft/", draft)
        if status != 200 or other == answers:
            return
        status, content = self.post(
            f"{held}/submit/", {"answers": answers, "client": "this tab", "based_on": 1}
        )
        self.told[status, content.get("status") or content.get("code") or ""] += 1
        if status == 200:  # the task came back meanwhile, so the acknowledged answers hold
            self.accepted[held] = {item: given["overall"] for item, given in answers.items()}

    def _hang_up(self, held: int, answers: dict[str, Any]) -> None:
        """Close the connection before the response: the submit may have been accepted or not."""
        self.unsure.add(held)
        with contextlib.suppress(OSError, http.client.HTTPException):
            self._sent(f"{held}/submit/", {"answers": answers}).close()

    def _submit_otherwise(self, held: int, answers: dict[str, Any]) -> None:
        """Submit a submitted task again with other answers, without marking it as a revision."""
        other = {item: {"overall": given["overall"] % 5 + 1} for item, given in answers.items()}
        self.submit(held, other)

    def _revise(self, held: int, items: list[int]) -> None:
        """Revise the answers of a submitted task."""
        other = {str(item): {"overall": self.random.randint(1, 5)} for item in items}
        self.submit(held, other, revising=True)
