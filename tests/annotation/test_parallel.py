"""Twenty annotators at once over HTTP, sending things twice and losing leases: every item gets its raters."""

from __future__ import annotations

import http.client
import json
import random
import threading
from collections import Counter
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connections
from django.db.models import Count
from django.utils import timezone

from annotation.models import Assignment, Label, Slot
from annotation.work import leases as assigning
from tests import factories
from tests.browser.conftest import session_of

ANNOTATORS = 20
RATERS = 3


class Annotator(threading.Thread):
    """Works until nothing is left; sends some submits twice or thrice, and lets some leases run out."""

    def __init__(self, seed: int, server: str, campaign: int, session: str) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.server, self.campaign = server, campaign
        self.headers = {
            "Content-Type": "application/json",
            "Cookie": f"concord_session={session}; concord_csrf={'t' * 32}",
        }
        self.headers["X-CSRFToken"] = "t" * 32
        self.answers: Counter[tuple[int, str]] = Counter()
        self.accepted: set[int] = set()

    def post(self, path: str, body: dict) -> tuple[int, dict]:
        connection = http.client.HTTPConnection(self.server, timeout=60)
        connection.request("POST", f"/work/{self.campaign}/{path}", json.dumps(body), self.headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, content

    def run(self) -> None:
        try:
            while (task := self.post("next/", {})[1]["task"]) is not None:
                self.one(task)
        finally:
            connections.close_all()

    def one(self, task: dict) -> None:
        place = f"{task['assignment']}/"
        if self.random.random() < 0.15:
            self.let_go(task["assignment"])
        answers = {str(item): {"overall": self.random.randint(1, 5)} for item in task["items"]}
        twins = [
            threading.Thread(target=self.submit, args=(place, task, answers))
            for _ in range(self.random.randint(1, 3))
        ]
        for twin in twins:
            twin.start()
        for twin in twins:
            twin.join()
        self.submit(place, task, answers)

    def submit(self, place: str, task: dict, answers: dict) -> None:
        status, content = self.post(f"{place}submit/", {"answers": answers})
        self.answers[status, content.get("status") or content.get("code")] += 1
        if status == 200:
            self.accepted.add(task["assignment"])

    def let_go(self, assignment: int) -> None:
        """The lease runs out, and sometimes the sweep comes before the submit."""
        late = timezone.now() - timedelta(minutes=1)
        Assignment.objects.filter(pk=assignment, state="leased").update(lease_expires=late)
        if self.random.random() < 0.5:
            assigning.return_expired()
        connections.close_all()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_twenty_annotators_at_once_leave_every_item_with_exactly_its_raters(live_server):
    corpus = factories.corpus()
    for _ in range(6):
        factories.dialogue(corpus, turns=5)
    people = [factories.user() for _ in range(ANNOTATORS)]
    campaign = factories.campaign(corpus, annotators=people, raters=RATERS)
    server = urlsplit(live_server.url).netloc
    workers = [
        Annotator(number, server, campaign.pk, session_of(person)) for number, person in enumerate(people)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    statuses = sum((worker.answers for worker in workers), Counter())
    assert set(statuses) <= {(200, "submitted"), (200, "already submitted"), (409, "lease_lost")}
    assert statuses[200, "submitted"] == 30 * RATERS
    assert statuses[200, "already submitted"] > 0
    submitted = Assignment.objects.filter(campaign=campaign, state="submitted")
    assert set(submitted.values_list("pk", flat=True)) == set().union(
        *(worker.accepted for worker in workers)
    )
    per_task = submitted.values("task").annotate(raters=Count("user", distinct=True), slots=Count("id"))
    assert [(row["raters"], row["slots"]) for row in per_task] == [(RATERS, RATERS)] * 30
    assert not Slot.objects.filter(campaign=campaign, taken=False).exists()
    labels = Label.objects.filter(campaign=campaign, superseded_at=None)
    assert [row["n"] for row in labels.values("item").annotate(n=Count("rater", distinct=True))] == [
        RATERS
    ] * 30
    assert labels.count() == Label.objects.filter(campaign=campaign).count() == 30 * RATERS
    assert sum(member.done for member in campaign.members.all()) == 30 * RATERS
