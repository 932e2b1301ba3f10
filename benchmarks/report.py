"""Report of 300,000 labels as a researcher experiences it: first response, wait, memory and page.

Three people and two judges mark ten behaviours and rate each turn, in a PostgreSQL, a web server and a worker
started as `make up` starts them. The report is requested over HTTP; the client sees its progress and then the
report.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks import _home

TURNS = 10
RATERS = (("ann", "human"), ("ben", "human"), ("cid", "human"), ("gpt", "judge"), ("llama", "judge"))
GOAL_SECONDS = 60.0
LIMIT = 600.0
OPENED = 9


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks report", description=__doc__)
    parser.add_argument("--labels", type=int, default=300_000, help="labels at least (300,000)")
    options = parser.parse_args(list(argv))
    with _home.home() as folder:
        labels, study = _filled(folder, options.labels)
        headers = {"Cookie": f"concord_session={_session()}"}
        with _home.web() as port, _Worker(folder) as worker:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
            found = _asked(client, headers, study, worker)
        figures = _kept()
    return {
        "labels": labels,
        **found,
        **figures,
        "headline": {
            "name": "seconds from asking to the report",
            "value": found["report_seconds"],
            "goal": GOAL_SECONDS,
            "better": "lower",
        },
    }


def _asked(
    client: http.client.HTTPConnection, headers: dict[str, str], study: int, worker: _Worker
) -> dict[str, Any]:
    """Request a report, follow its progress until the page redirects to the report, and read it."""
    began = time.perf_counter()
    page = _get(client, f"/studies/{study}/report/", headers)[1]
    answered = time.perf_counter() - began
    found = re.search(rf'hx-get="(/studies/{study}/progress/\d+/)"', page)
    if found is None:
        raise RuntimeError("the report was computed while the page waited: ask for more labels")
    told = set()
    while True:
        response, part = _get(client, found.group(1), headers)
        told |= set(re.findall(r"(\d+) of \d+", part))
        if response.getheader("HX-Redirect"):
            break
        if time.perf_counter() - began > LIMIT:
            raise RuntimeError(f"no report within {LIMIT:.0f} s: {part}")
        time.sleep(0.2)
    ready = time.perf_counter() - began
    opened, report = [], ""
    for _ in range(OPENED):
        again = time.perf_counter()
        _, report = _get(client, f"/studies/{study}/report/", headers)
        opened.append(time.perf_counter() - again)
    return {
        "first_answer_seconds": round(answered, 2),
        "report_seconds": round(ready, 1),
        "steps_of_progress_seen": len(told),
        "worker_peak_mb": round(worker.peak_mb()),
        "first_page_seconds": round(opened[0], 2),
        "page_seconds": round(statistics.median(opened), 2),
        "page_kb": round(len(report) / 1000),
    }


def _get(
    client: http.client.HTTPConnection, address: str, headers: dict[str, str]
) -> tuple[http.client.HTTPResponse, str]:
    client.request("GET", address, headers=headers)
    response = client.getresponse()
    text = response.read().decode()
    if response.status != 200:
        raise RuntimeError(f"{address} answered {response.status}")
    return response, text


class _Worker:
    """The worker of `make up` that computes reports."""

    def __init__(self, folder: Path) -> None:
        from config.embedded import supervisor
        from config.embedded.layout import layout
        from config.embedded.supervisor import Child

        found = supervisor.worker_programs(_home.PROJECT, broker=False, run=folder)
        jobs = next(one for one in found if one.name == "worker-jobs")
        self.child = Child(jobs, layout(folder), _home.PROJECT)

    def __enter__(self) -> _Worker:
        self.child.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.child.ask_to_stop()
        self.child.stop(time.monotonic() + 10)

    def peak_mb(self) -> float:
        """Return the peak memory of the worker and its children, in MB."""
        assert self.child.process is not None
        process = psutil.Process(self.child.process.pid)
        return sum(_peak(one.pid) for one in (process, *process.children(recursive=True)))


def _peak(pid: int) -> float:
    rows = (line.split() for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return next(int(row[1]) * 1024 / 1e6 for row in rows if row[0] == "VmHWM:")


def _filled(folder: Path, labels: int) -> tuple[int, int]:
    """Import a corpus with `labels` labels; return their number and the automatic study."""
    from annotation.corpora.import_file import import_path
    from annotation.models import Corpus, Label
    from annotation.schemes import SCHEMES
    from calibration.studies import study_actions as studies

    tags = [q.key for q in SCHEMES["cocoeval_behaviours"].questions if q.level == "binary"]
    path = folder / "labels.jsonl"
    dialogues = -(-labels // (TURNS * len(RATERS) * (len(tags) + 1)))
    with path.open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in _dialogues(dialogues, tags))
    import_path(path=path, format="jsonl", corpus="report", into=False, by=None)
    return Label.objects.count(), studies.automatic(corpus=Corpus.objects.get()).pk


def _dialogues(count: int, tags: Sequence[str]) -> Iterator[dict[str, Any]]:
    chance = random.Random(0)
    for number in range(count):
        labels = []
        for turn in range(TURNS):
            shown = {tag: chance.random() < 0.08 for tag in tags}
            score = chance.randint(1, 5)
            for rater, kind in RATERS:
                said = {"rater": rater, "kind": kind, "turn": turn}
                labels += [
                    {
                        **said,
                        "scheme": "cocoeval_behaviours",
                        "question": tag,
                        "value": int(shown[tag] != (chance.random() < 0.05)),
                    }
                    for tag in tags
                ]
                value = min(5, max(1, score + chance.choice((-1, 0, 0, 1))))
                labels.append({**said, "scheme": "comperdial_turn", "question": "overall", "value": value})
        turns = [{"speaker": "AB"[turn % 2], "text": f"turn {turn}"} for turn in range(TURNS)]
        yield {"id": f"dialogue {number}", "turns": turns, "labels": labels}


def _session() -> str:
    """Create a researcher who is signed in; return the session."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore
    from django.utils.crypto import get_random_string

    from annotation.people import accounts

    user = accounts.create(by=None, username="rea", role="researcher", password=get_random_string(20))
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)


def _kept() -> dict[str, Any]:
    """Return the size of the stored report."""
    from calibration.models import Report
    from calibration.reports.snapshot import snapshot_of
    from calibration.reports.view import SECTIONS

    row = Report.objects.get()
    kept = snapshot_of(row)
    figures = sum(len(question.figures) for question in kept.questions)
    return {
        "questions": len(kept.questions),
        "figures": figures + sum(1 for section in SECTIONS for _ in section.lines(kept)),
        "kept_mb": round(len(json.dumps(row.result)) / 1e6, 1),
    }
