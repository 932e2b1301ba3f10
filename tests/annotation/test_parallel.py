"""Fifty concurrent annotators over HTTP, with all kinds of failures: every item gets exactly its raters."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connections
from django.db.models import Count

from annotation.errors import SubmissionRefused
from annotation.models import Assignment, Campaign, Label, Slot
from annotation.work import submissions
from annotation.work.checking import item_number
from config.embedded import supervisor
from tests import factories
from tests.annotation.crowd import Annotator
from tests.browser.conftest import session_of
from tests.judges.test_killed_worker import database_url

pytestmark = pytest.mark.exhaustive

ANNOTATORS, RATERS = 50, 3
DIALOGUES, TURNS = 6, 5
SEEDS = range(int(os.environ.get("CONCORD_SEEDS") or 2))
PATIENCE = 120.0
ALLOWED = {
    (200, "submitted"),
    (200, "already submitted"),
    (200, "revised"),
    (409, "lease_lost"),  # it ran out and went to others, or was voided
    (409, "draft_conflict"),
    (409, "submitted_differently"),
}


class Web:
    """Two web processes on one socket, as a started Concord has them; one can be killed and comes back."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.listening.set_inheritable(True)
        self.port = int(self.listening.getsockname()[1])
        self.processes = [self._started(), self._started()]
        for process in self.processes:
            self._wait(process)

    def _started(self) -> subprocess.Popen[bytes]:
        number = self.listening.fileno()
        here = {"DATABASE_URL": database_url()}  # the home, and with it the secret of sessions, is the run's
        command = supervisor.web_programs(number, 1)[0].command
        return subprocess.Popen(command, cwd=settings.BASE_DIR, pass_fds=[number], env=os.environ | here)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert process.poll() is None, "the web server ended"
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz"),
            ):
                return
            time.sleep(0.05)
        raise AssertionError("the web server does not answer")

    def kill_one(self) -> None:
        """Kill a process in the middle of its requests, and start another."""
        process = self.processes.pop(0)
        process.kill()
        process.wait()
        self.processes.append(self._started())

    def stop(self) -> None:
        """End both."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(20)
        self.listening.close()


@pytest.fixture
def web(transactional_db) -> Iterator[Web]:
    started = Web()
    yield started
    started.stop()


class Researcher(threading.Thread):
    """Looks at what comes in, returns some submissions and voids others."""

    def __init__(self, seed: int, campaign: Campaign, over: threading.Event) -> None:
        super().__init__()
        self.over = over
        self.random = random.Random(seed)
        self.campaign = campaign
        self.withdrawn: Counter[str] = Counter()
        self.touched: set[int] = set()

    def run(self) -> None:
        try:
            while sum(self.withdrawn.values()) < 12 and not self.over.is_set():
                self._withdraw_one()
        finally:
            connections.close_all()

    def _withdraw_one(self) -> None:
        found = list(Assignment.objects.filter(campaign=self.campaign, state="submitted")[:50])
        if not found:
            time.sleep(0.02)
            return
        chosen = self.random.choice(found)
        way = self.random.choice(("return", "void"))
        self.touched.add(chosen.pk)
        with contextlib.suppress(SubmissionRefused):  # revised or withdrawn meanwhile
            submissions.VERBS[way](by=self.campaign.created_by, assignment=chosen, reason="look again")
            self.withdrawn[way] += 1


def campaign_of(seed: int, people: list) -> Campaign:
    corpus = factories.corpus(f"talks of {seed}")
    for _ in range(DIALOGUES):
        factories.dialogue(corpus, turns=TURNS)
    return factories.campaign(corpus, annotators=people, raters=RATERS, task_order=("drawn", "own")[seed % 2])


def submitted(campaign: Campaign) -> int:
    return Assignment.objects.filter(campaign=campaign, state="submitted").count()


def worked(
    seed: int, web: Web, campaign: Campaign, sessions: list[str]
) -> tuple[list[Annotator], Researcher]:
    """Let everybody work until every slot is submitted; a web process is killed when half of it is in."""
    wanted = DIALOGUES * TURNS * RATERS
    over = threading.Event()
    crowd = [
        Annotator(seed * 1000 + number, web.port, campaign.pk, session, over.is_set)
        for number, session in enumerate(sessions)
    ]
    researcher = Researcher(seed, campaign, over)
    for thread in (*crowd, researcher):
        thread.start()
    end, killed = time.monotonic() + PATIENCE, False
    while time.monotonic() < end and (researcher.is_alive() or submitted(campaign) < wanted):
        if not killed and submitted(campaign) > wanted / 2:
            killed = True
            web.kill_one()
        time.sleep(0.05)
    over.set()
    for thread in (*crowd, researcher):
        thread.join()
    assert [worker.broken for worker in crowd if worker.broken] == []
    assert killed, "a web process was killed while they worked"
    return crowd, researcher


@pytest.mark.exhaustive
def test_fifty_annotators_at_once_leave_every_item_with_exactly_its_raters(web):
    people = [factories.user() for _ in range(ANNOTATORS)]
    sessions = [session_of(person) for person in people]
    seen: Counter[tuple[int, str]] = Counter()
    for seed in SEEDS:
        campaign = campaign_of(seed, people)
        crowd, researcher = worked(seed, web, campaign, sessions)
        told = sum((worker.told for worker in crowd), Counter())
        assert set(told) <= ALLOWED, f"seed {seed}: {told}"
        seen += told
        assert_every_item_has_its_raters(campaign)
        assert_nothing_acknowledged_is_lost(campaign, crowd, researcher)
    assert set(seen) == ALLOWED, "each of these happened"


def assert_every_item_has_its_raters(campaign: Campaign) -> None:
    tasks = DIALOGUES * TURNS
    done = Assignment.objects.filter(campaign=campaign, state="submitted")
    per_task = done.values("task").annotate(raters=Count("user", distinct=True), slots=Count("id"))
    assert [(row["raters"], row["slots"]) for row in per_task] == [(RATERS, RATERS)] * tasks
    assert not Slot.objects.filter(campaign=campaign, taken=False).exists()
    live = Label.objects.filter(campaign=campaign, superseded_at=None)
    per_item = live.values("item").annotate(raters=Count("rater", distinct=True), n=Count("id"))
    assert [(row["raters"], row["n"]) for row in per_item] == [(RATERS, RATERS)] * tasks
    assert set(live.values_list("assignment__state", flat=True)) == {"submitted"}
    assert sum(member.done for member in campaign.members.all()) == tasks * RATERS


def assert_nothing_acknowledged_is_lost(
    campaign: Campaign, crowd: list[Annotator], researcher: Researcher
) -> None:
    live: dict[int, dict[str, int]] = {}
    for held, item, number in Label.objects.filter(campaign=campaign, superseded_at=None).values_list(
        "assignment", "item__public", "number"
    ):
        live.setdefault(held, {})[str(item_number(item, held))] = int(number)
    accepted = {held: given for worker in crowd for held, given in worker.accepted.items()}
    unsure = set().union(*(worker.unsure for worker in crowd))
    assert set(accepted) - researcher.touched <= set(live)
    assert set(live) <= set(accepted) | unsure
    for held in set(accepted) - researcher.touched:
        assert live[held] == accepted[held]
