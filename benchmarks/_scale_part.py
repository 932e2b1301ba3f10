"""Runs one heavy step of the benchmark `scale` in its own process, so that its memory can be measured.

`python -m benchmarks._scale_part import PATH`, `... jobs` and `... export` each print one JSON object with
the seconds, the CPU seconds of the process, and its memory above that of Django alone (MB).
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any


def main(step: str, about: str) -> dict[str, Any]:
    """Run one step and return its figures. The environment names the home folder and the settings."""
    import django

    django.setup()
    act = STEPS[step]
    act(about, prepare=True)
    base, cpu, began = _memory("VmRSS"), _cpu(), time.perf_counter()
    told = act(about, prepare=False)
    return {
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(_cpu() - cpu, 2),
        "megabytes_over_base": round(_memory("VmHWM") - base, 1),
        **told,
    }


def _import(path: str, *, prepare: bool) -> dict[str, Any]:
    from annotation.corpora.import_file import import_path

    if prepare:
        return {}
    import_path(path=Path(path), format="jsonl", corpus=Path(path).stem, into=False, by=None)
    return {}


def _jobs(_about: str, *, prepare: bool) -> dict[str, Any]:
    """Run all queued jobs, as a worker does, and return their outcomes."""
    from calibration.statistics import analyse
    from jobs.kinds import KINDS, kind_of
    from jobs.models import Job
    from jobs.queue import jobs

    if prepare:
        assert analyse
        for kind in KINDS:
            kind_of(kind)
        return {}
    done = []
    while (job := jobs.claim(worker="benchmark")) is not None:
        jobs.do(job, worker="benchmark")
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise RuntimeError(f"{job}: {job.error}")
        done.append(job.kind)
    return {"jobs": done}


def _export(_about: str, *, prepare: bool) -> dict[str, Any]:
    from annotation.models import Corpus
    from calibration.exports.labels import labels
    from calibration.exports.writing import write
    from calibration.ratings.scope import of_corpus

    if prepare:
        return {}
    with Path(os.devnull).open("wb") as file:
        written = write(labels(of_corpus(Corpus.objects.get(name="large"))), "csv", file)
    return {"rows": written.rows}


STEPS = {"import": _import, "jobs": _jobs, "export": _export}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory(name: str) -> float:
    """Return a figure of /proc/self/status in MB (10^6 bytes)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "")))
