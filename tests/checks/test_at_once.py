"""Concurrent annotators over HTTP with several tabs each: attempts, rate and score stay exact."""

from __future__ import annotations

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
from django.db import connections

from annotation.models import Assignment, Attempt, Item, KeyTask
from annotation.work.checking import item_number
from calibration import campaign_checks
from tests import factories
from tests.browser.conftest import session_of
from tests.checks.world import RIGHT, WRONG, campaign

pytestmark = pytest.mark.exhaustive

EVERY = 4


class Annotator(threading.Thread):
    """Does everything in three tabs at once. Errs at every `errs`-th task that comes."""

    def __init__(
        self, server: str, campaign: int, session: str, errs: int, keyed: set[int], fails: bool
    ) -> None:
        super().__init__()
        self.server, self.campaign, self.errs, self.keyed = server, campaign, errs, keyed
        self.headers = {
            "Content-Type": "application/json",
            "Cookie": f"concord_session={session}; concord_csrf={'t' * 32}",
            "X-CSRFToken": "t" * 32,
        }
        self.fails, self.test_over = fails, False
        self.right, self.order = [], []
        self.statuses: set[int] = set()

    def post(self, path: str, body: dict) -> dict:
        connection = http.client.HTTPConnection(self.server, timeout=60)
        connection.request("POST", f"/api/v1/work/{self.campaign}/{path}", json.dumps(body), self.headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        self.statuses.add(answer.status)
        return content

    def in_tabs(self, path: str, body: dict) -> None:
        tabs = [threading.Thread(target=self.post, args=(path, body)) for _ in range(3)]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join()

    def run(self) -> None:
        try:
            while (state := self.post("next/", {}))["task"] or state["waiting"]:
                if waiting := state["waiting"]:
                    self.test_over = waiting["what"] == "passed"
                    self.in_tabs("accept/", {"what": waiting["what"], "version": waiting["version"]})
                    self.fails = self.fails and waiting["version"] == 1
                else:
                    self.one(state["task"])
        finally:
            connections.close_all()

    def one(self, task: dict) -> None:
        (item,) = task["items"]
        self.order.append(item)
        is_wrong = self.fails if not self.test_over else len(self.order) % self.errs == 0
        if self.test_over and item in {item_number(one, task["assignment"]) for one in self.keyed}:
            self.right.append(not is_wrong)
        answers = {str(item): {"overall": WRONG if is_wrong else RIGHT}}
        self.in_tabs(f"{task['assignment']}/submit/", {"answers": answers})


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_tries_checks_and_scores_are_exact_however_many_tabs_there_are(live_server):
    people = [factories.user() for _ in range(3)]
    made = campaign(*people, test=2, check=4, main=12, check_every=EVERY, test_tries=2)
    keys = KeyTask.objects.filter(campaign=made, occasion="check").values("task__item")
    keyed = set(Item.objects.filter(pk__in=keys).values_list("public", flat=True))
    server = urlsplit(live_server.url).netloc
    workers = [
        Annotator(server, made.pk, session_of(person), errs, keyed, fails)
        for person, errs, fails in zip(people, (2, 3, 5), (False, True, False), strict=True)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = {person.name: person for person in campaign_checks.people(made)}
    for person, worker in zip(people, workers, strict=True):
        told = found[factories.called(person, made)]
        assert worker.statuses <= {200, 404, 409}
        assert [attempt.passed for attempt in told.tries] == (
            [False, True] if worker is workers[1] else [True]
        )
        assert told.n_checks == len(worker.right)
        if worker.right:  # who came late to the last tasks may have met no check
            assert told.score.value == pytest.approx(sum(worker.right) / len(worker.right))
        mine = Assignment.objects.filter(user=person, round=0, state="submitted").order_by("submitted_at")
        kinds = list(mine.values_list("occasion", flat=True))
        whole = len(kinds) // EVERY * EVERY
        assert all(kinds[at : at + EVERY].count("check") == 1 for at in range(0, whole, EVERY))
    assert Assignment.objects.filter(slot__isnull=False, state="submitted").count() == 12
    assert Attempt.objects.count() == 4
    assert any(worker.right for worker in workers)
