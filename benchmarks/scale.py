"""Corpus of a million turns with 300,000 labels: time and memory of every step and page.

A second corpus of a tenth of that size is imported into the same database, in at most a tenth of the time.

Pages and requests are served by the application in this process, with PostgreSQL on the same machine; heavy
steps run in their own processes. A request that starts background work is timed alone, and its work
afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import _home, _scale_made

GOAL_MS = 500.0
REPEATS = 3
FIGURES = ("profile", "counts", "turns-and-whole", "preferences")
"""Pages of a corpus that read its labels; the first response is timed before a worker has computed
anything.
"""
PART = 10
"""Factor by which the second corpus has fewer turns and labels than the first."""
GOALS = {"import": (60.0, 100.0), "second import": (6.0, 100.0), "report": (60.0, 1000.0)}
"""Per step: seconds, and MB over the base."""


def run(argv: Sequence[str]) -> dict[str, Any]:
    """Run the benchmark and return its figures."""
    parser = argparse.ArgumentParser(prog="benchmarks scale", description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help="turns of the corpus (1,000,000)")
    parser.add_argument("--labels", type=int, default=300_000, help="labels on them (300,000)")
    parser.add_argument("--told", action="store_true", help="print each figure as it comes, to stderr")
    options = parser.parse_args(list(argv))
    with _home.home() as folder:
        path = folder / "large.jsonl"
        _scale_made.write(path, turns=options.turns, labels=options.labels)
        bench = Bench(options.told)
        bench.step("import", "import", str(path))
        second = folder / "second.jsonl"
        _scale_made.write(second, turns=options.turns // PART, labels=options.labels // PART)
        bench.step("second import", "import", str(second))
        bench.begin()
        bench.work()
        bench.look()
        bench.stop_and_go_on()
        bench.delete()
    worst = max(bench.pages, key=lambda name: bench.pages[name]["ms"])
    return {
        "headline": {
            "name": "slowest page, ms",
            "value": bench.pages[worst]["ms"],
            "goal": GOAL_MS,
            "better": "lower",
        },
        "turns": options.turns,
        "labels": options.labels,
        "slowest_page": worst,
        "steps": bench.steps,
        "step_goals": GOALS,
        "requests": bench.requests,
        "pages": bench.pages,
        "load_average": [round(load, 1) for load in os.getloadavg()],
    }


class Bench:
    """Measurements: `steps` in their own processes, `requests` once, `pages` several times."""

    def __init__(self, told: bool) -> None:
        self.told = told
        self.steps: dict[str, Any] = {}
        self.requests: dict[str, Any] = {}
        self.pages: dict[str, Any] = {}

    def begin(self) -> None:
        """Sign in as an administrator."""
        from django.conf import settings
        from django.test import Client

        from annotation.models import Corpus

        settings.ALLOWED_HOSTS = ["localhost"]
        self.client = Client(SERVER_NAME="localhost")
        self.user = _scale_made.account()
        self.client.force_login(self.user)
        self.corpus = Corpus.objects.get(name="large")
        self.endpoint = _scale_made.endpoint()

    def work(self) -> None:
        """Do once the work of a project: a campaign, its tasks, runs, a report, gold, an export."""
        from annotation.models import Campaign
        from calibration.models import Gold, Study
        from jobs.models import Job, Run

        corpus = self.corpus
        form = {
            "name": "large",
            "scheme": "comperdial_turn",
            "raters_per_item": 2,
            "lease_minutes": 60,
            "seed": 0,
        }
        self.client.get("/campaigns/")  # the first request of a process loads the application
        self.post("make a campaign", f"/campaigns/new/?corpus={corpus.pk}", form)
        self.campaign = Campaign.objects.get().pk
        self.post("open the campaign", f"/campaigns/{self.campaign}/state/", {"verb": "open"})
        self.jobs("open the campaign")
        self.post("take part", f"/campaigns/{self.campaign}/members/", {"add": self.user.pk})
        task = self.post("next task", f"/work/{self.campaign}/next/", {}, as_json=True).json()["task"]
        answers = {"answers": {str(item): {"overall": 3} for item in task["items"]}}
        self.post("submit", f"/work/{self.campaign}/{task['assignment']}/submit/", answers, as_json=True)
        judge = {"kind": "judge", "judge-judge": "cpdscore_simple:without_reference", "judge-samples": 1}
        judge |= {"judge-endpoint": self.endpoint}
        self.post("see what a judge would take", f"/runs/new/?corpus={corpus.pk}", judge)
        self.post("start a judge", f"/runs/new/?corpus={corpus.pk}", judge | {"confirmed": "1"})
        metric = {"kind": "metrics", "metric-metrics": ["dnr"]}
        self.post("start a metric", f"/runs/new/?corpus={corpus.pk}", metric)
        self.jobs("start the runs")
        self.runs = list(Run.objects.order_by("pk").values_list("pk", flat=True))
        for kind in FIGURES:
            self.post(f"ask for {kind}", f"/corpora/{corpus.pk}/{kind}/", None)
        self.jobs("figures")
        self.post("ask for the report", f"/corpora/{corpus.pk}/report/", None)
        self.jobs("report")
        gold = {"scheme": "comperdial_turn@1", "rule": "majority", "ties": "none"}
        self.post("make gold", f"/gold/new/?corpus={corpus.pk}", gold)
        self.jobs("gold")
        self.post("ask for an export", f"/exports/labels.csv?corpus={corpus.pk}", None)
        self.jobs("export as a job")
        for file in Job.objects.filter(kind="export"):
            self.post("fetch the export", f"/exports/files/{file.pk}/", None)
        self.step("export", "export")
        self.study = Study.objects.get(corpus=corpus, automatic=True).pk
        self.gold = Gold.objects.values_list("pk", flat=True).first()
        self.dialogue = corpus.dialogues.order_by("pk")[corpus.dialogues.count() // 2].pk

    def look(self) -> None:
        """Request every page that shows a part of the corpus."""
        corpus, campaign = f"/corpora/{self.corpus.name}/", f"/campaigns/{self.campaign}/"
        last = max(1, self.corpus.dialogues.count() // 50)
        addresses = {
            "corpora": "/corpora/",
            "corpus": corpus,
            "corpus, last page": f"{corpus}?page={last}",
            "corpus, one system": f"{corpus}?system=human",
            "search, common": f"{corpus}?text=ladder",
            "search, rare": f"{corpus}?text=talk+77%3A+who",
            "search, nothing": f"{corpus}?text=nowhere+to+be+seen",
            "search, speaker": f"{corpus}?speaker=ana",
            "dialogue": f"/corpora/dialogue/{self.dialogue}/",
            **{kind: f"/corpora/{self.corpus.pk}/{kind}/" for kind in FIGURES},
            "delete corpus": f"{corpus}delete/",
            "campaigns": "/campaigns/",
            "new campaign": f"/campaigns/new/?corpus={self.corpus.pk}",
            "campaign": campaign,
            "submissions": f"{campaign}submissions/",
            "my campaigns": "/my/",
            "work": f"/work/{self.campaign}/",
            "runs": "/runs/",
            "new run": f"/runs/new/?corpus={self.corpus.pk}",
            **{f"run {pk}": f"/runs/{pk}/" for pk in self.runs},
            **{f"run {pk}, page in the middle": f"/runs/{pk}/?show=all&page={last * 20}" for pk in self.runs},
            **{f"run {pk}, last page": f"/runs/{pk}/?show=all&page=100000" for pk in self.runs},
            "exports": f"/exports/?corpus={self.corpus.pk}",
            "studies": "/studies/",
            "new study": f"/studies/new/?corpus={self.corpus.pk}",
            "study": f"/studies/{self.study}/",
            "report": f"/studies/{self.study}/report/",
            "gold": "/gold/",
            "new gold": f"/gold/new/?corpus={self.corpus.pk}",
            "one gold": f"/gold/{self.gold}/",
            "people": "/people/",
            "jobs": "/jobs/",
            "choose": "/runs/new/",
            "API: items": f"/api/v1{corpus}items/",
            "API: items, last": f"/api/v1{corpus}items/?offset={self.corpus.items.count() - 50}",
            "API: dialogues, last": f"/api/v1{corpus}dialogues/?offset={last * 50 - 50}",
            "API: calls": f"/api/v1/runs/{self.runs[0]}/calls/",
            "API: calls, last": f"/api/v1/runs/{self.runs[0]}/calls/?offset={last * 1000 - 50}",
            "API: failed calls": f"/api/v1/runs/{self.runs[0]}/calls/?state=failed",
        }
        if self.gold is None:
            del addresses["one gold"]
        for name, address in addresses.items():
            self.page(name, address)

    def stop_and_go_on(self) -> None:
        """Cancel the judge's run over all turns, then resume it."""
        run = self.runs[0]
        for name, verb in (("cancel a run", "cancel"), ("resume a run", "retry")):
            self.post(name, f"/runs/{run}/{verb}/", {})
            self.jobs(name)

    def delete(self) -> None:
        """Delete the corpus: the request, then the job."""
        typed = {"confirmation": self.corpus.name}
        self.post("ask for deletion", f"/corpora/{self.corpus.name}/delete/", typed)
        self.jobs("deletion")

    def step(self, name: str, *arguments: str) -> None:
        """Run a heavy step in its own process."""
        command = [sys.executable, "-m", "benchmarks._scale_part", *arguments]
        done = subprocess.run(command, cwd=_home.PROJECT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
        self.steps[name] = json.loads(done.stdout.splitlines()[-1])
        self.tell(name, self.steps[name])

    def jobs(self, name: str) -> None:
        """Run the queued jobs, if any."""
        from jobs.models import Job

        if Job.objects.filter(state="queued").exists():
            self.step(name, "jobs")

    def post(self, name: str, address: str, fields: dict[str, Any] | None, *, as_json: bool = False) -> Any:
        """Send one request (a GET without fields) and time it; raise RuntimeError for an error status."""
        began = time.perf_counter()
        if fields is None:
            answer = self.client.get(address, follow=True)
        elif as_json:
            answer = self.client.post(address, json.dumps(fields), content_type="application/json")
        else:
            answer = self.client.post(address, fields)
        if getattr(answer, "streaming", False):
            for _ in answer:
                pass
        self.requests[name] = {"ms": round((time.perf_counter() - began) * 1000, 1)}
        if answer.status_code >= 400:
            raise RuntimeError(f"{name}: {answer.status_code}: {answer.content[:3000]!r}")
        self.tell(name, self.requests[name])
        return answer

    def page(self, name: str, address: str) -> None:
        """Request a page several times and keep the fastest."""
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        took = []
        for _ in range(REPEATS):
            cpu, began = time.process_time(), time.perf_counter()
            with CaptureQueriesContext(connection) as asked:
                answer = self.client.get(address, follow=True)
            took.append((time.perf_counter() - began, time.process_time() - cpu))
            if answer.status_code >= 400:
                raise RuntimeError(f"{name}: {answer.status_code}")
        wall, cpu = min(took)
        slowest = max(asked.captured_queries, key=lambda query: float(query["time"]))
        self.pages[name] = {
            "ms": round(wall * 1000, 1),
            "own_cpu_ms": round(cpu * 1000, 1),
            "queries": len(asked),
            "slowest_query_ms": round(float(slowest["time"]) * 1000, 1),
        }
        told = slowest["sql"][:600] if wall > 0.15 else ""
        self.tell(name, self.pages[name] | {"slowest": told})

    def tell(self, name: str, figures: dict[str, Any]) -> None:
        """Print a figure as soon as it is measured, where requested."""
        if self.told:
            print(name, json.dumps(figures), file=sys.stderr, flush=True)
