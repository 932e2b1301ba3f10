"""Annotation over HTTP against a real server and PostgreSQL: 10,000 tasks, annotators without think time.

One cycle is one request: a task's submit, whose response carries the next task. The clients share the machine
with the server and the database. With several campaign sizes, the time of a cycle should not depend on the
size.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import _home, _in_turns

TURNS = 10
RATERS = 2
GOAL_MS = 100.0
GOAL_CYCLES = 200.0
MANY = 100


@dataclass
class Annotator:
    """Simulated annotator with its own session and connection."""

    port: int
    campaign: int
    session: str
    token: str
    seconds: list[float] = field(default_factory=list)
    refused: int = 0

    def post(self, connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one request as the page does and return its JSON."""
        headers = {
            "Content-Type": "application/json",
            "Cookie": f"concord_session={self.session}; concord_csrf={self.token}",
            "X-CSRFToken": self.token,
        }
        connection.request("POST", f"/work/{self.campaign}/{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            self.refused += 1
            raise RuntimeError(f"{answer.status}: {content[:300]!r}")
        found: dict[str, Any] = json.loads(content)
        return found

    def work(self, until: float) -> None:
        """Submit task after task until the time is over or no task is left."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        task = self.post(connection, "next/", {})["task"]
        while task and time.perf_counter() < until:
            answers = {str(item): {"overall": 1 + item % 5} for item in task["items"]}
            began = time.perf_counter()
            state = self.post(connection, f"{task['assignment']}/submit/", {"answers": answers})
            self.seconds.append(time.perf_counter() - began)
            task = state["task"]


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks annotate", description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000, help="tasks in the campaign (10,000)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[],
        help="other numbers of tasks to measure as well, such as 1000",
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each measurement lasts (20)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"turns of each dialogue ({TURNS})")
    parser.add_argument("--order", default="drawn", help="order of tasks: drawn, own or fixed (drawn)")
    parser.add_argument("--against", type=Path, help="another checkout: both in turns, and their ratios")
    parser.add_argument("--rounds", type=int, default=10, help="with --against: turns of each (10)")
    options = parser.parse_args(list(argv))
    if options.against:
        return _against(options)
    with _home.home():
        found, checked = _of_size(options, options.tasks)
        by_size = {options.tasks: found}
        for size in options.sizes:
            by_size[size], _ = _of_size(options, size)
    return {
        "headline": {
            "name": "p95 of next plus submit at 20 annotators, ms",
            "value": found["annotators_20"]["p95_ms"],
            "goal": GOAL_MS,
            "better": "lower",
        },
        "tasks": options.tasks,
        "turns_per_dialogue": options.turns,
        "order": options.order,
        "raters_per_item": RATERS,
        **found,
        "goal_cycles_per_second": GOAL_CYCLES,
        "p95_ms_at_20_by_tasks": {size: one["annotators_20"]["p95_ms"] for size, one in by_size.items()},
        "cycles_at_20_by_tasks": {
            size: one["annotators_20"]["cycles_per_second"] for size, one in by_size.items()
        },
        **checked,
    }


def _of_size(options: argparse.Namespace, tasks: int) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the figures of a campaign with this many tasks, for 1, 20 and 100 annotators.

    A small campaign is measured for a shorter time, so that nobody runs out of tasks.
    """
    seconds = min(options.seconds, tasks / 500)
    campaign = _campaign(tasks, options.turns, options.order)
    sessions = _people(campaign, 1 + MANY)
    with _home.web() as port:
        people = [Annotator(port, campaign, *session) for session in sessions]
        _measure(people[:1], 1.0)
        found = {
            "annotators_1": _measure(people[:1], seconds / 2),
            "annotators_20": _measure(people[1:21], seconds),
            f"annotators_{MANY}": _measure(people[1:], seconds),
        }
    return found, _check(campaign)


def _against(options: argparse.Namespace) -> dict[str, Any]:
    found = _in_turns.compare(
        options.against, tasks=options.tasks, turns=options.turns, rounds=options.rounds
    )
    return {
        "headline": {
            "name": "cycles a second of 20 annotators, of this checkout over the other's",
            "value": found["annotators_20"]["cycles_per_second"]["ratio"],
            "goal": 1.0,
            "better": "higher",
        },
        **found,
    }


def _measure(people: list[Annotator], seconds: float) -> dict[str, float]:
    for person in people:
        person.seconds.clear()
    began = time.perf_counter()
    threads = [threading.Thread(target=person.work, args=(began + seconds,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    cycles = sorted(second * 1000 for person in people for second in person.seconds)
    return {
        "cycles": len(cycles),
        "cycles_per_second": round(len(cycles) / took, 1),
        "p50_ms": round(statistics.median(cycles), 1),
        "p95_ms": round(cycles[int(0.95 * len(cycles))], 1),
        "p99_ms": round(cycles[int(0.99 * len(cycles))], 1),
        "refused": sum(person.refused for person in people),
    }


def _campaign(tasks: int, turns: int, order: str = "drawn") -> int:
    """Import a corpus with as many turns as tasks and open a campaign that rates each turn."""
    from django.contrib.auth.models import User

    from annotation.campaigns import campaign_actions as campaigns
    from annotation.corpora.import_file import import_path
    from annotation.models import Corpus

    name = f"{tasks} talks"
    sentence = "This is turn {} of a talk about how a neighbourhood shares its tools, and who keeps the key."
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "talks.jsonl"
        with path.open("w") as file:
            for number in range(-(-tasks // turns)):
                lines = [{"speaker": "AB"[turn % 2], "text": sentence.format(turn)} for turn in range(turns)]
                people = [
                    {"id": "A", "name": "Ana", "profile": ["keeps a diary"]},
                    {"id": "B", "name": "Ben"},
                ]
                talk = {"id": f"talk-{number}", "participants": people, "turns": lines}
                file.write(json.dumps(talk) + "\n")
        import_path(path=path, format="jsonl", corpus=name, into=False, by=None)
    researcher = User.objects.create_user(f"researcher of {name}")
    corpus = Corpus.objects.get(name=name)
    made = campaigns.create(
        by=researcher,
        name=name,
        corpus=corpus,
        scheme="comperdial_turn",
        raters_per_item=RATERS,
        task_order=order,
    )
    campaigns.open(by=researcher, campaign=made)
    return made.pk


def _people(campaign: int, count: int) -> list[tuple[str, str]]:
    """Create members of the campaign, signed in; return (session, CSRF token) of each."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.auth.models import User
    from django.contrib.sessions.backends.db import SessionStore
    from django.utils.crypto import get_random_string

    from annotation.campaigns import campaign_actions as campaigns
    from annotation.models import Campaign

    found = Campaign.objects.select_related("created_by").get(pk=campaign)
    assert found.created_by is not None
    sessions = []
    for number in range(count):
        user = User.objects.create_user(f"annotator-{number}-of-{campaign}")
        campaigns.add_member(by=found.created_by, campaign=found, user=user)
        store = SessionStore()
        store[SESSION_KEY] = str(user.pk)
        store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        store[HASH_SESSION_KEY] = user.get_session_auth_hash()
        store.create()
        sessions.append((str(store.session_key), get_random_string(32)))
    return sessions


def _check(campaign: int) -> dict[str, int]:
    """Count errors: tasks with too many submits, people twice in a task, labels that do not match."""
    from django.db.models import Count

    from annotation.models import Assignment, Label

    submitted = Assignment.objects.filter(campaign_id=campaign, state="submitted")
    per_task = submitted.values("task").annotate(raters=Count("id"))
    per_person = submitted.values("task", "user").annotate(times=Count("id"))
    return {
        "over_assigned": per_task.filter(raters__gt=RATERS).count(),
        "person_twice_in_a_task": per_person.filter(times__gt=1).count(),
        "submitted": submitted.count(),
        "labels": Label.objects.filter(campaign_id=campaign, superseded_at=None).count(),
    }
