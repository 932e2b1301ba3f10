"""A kind of job for tests: counts to its `total`, and misbehaves as its `params` say."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

from django.db import connection

from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Write a line into the file `log` a step, each of them `seconds` long."""
    told = job.params
    for number in range(told.get("total", 1)):
        if log := told.get("log"):
            with Path(log).open("a") as file:
                file.write(f"{number}\n")
        time.sleep(told.get("seconds", 0))
        progress(number + 1, told.get("total", 1), f"step {number + 1}")
    if "refuse" in told:
        raise JobRefused(told["refuse"], {"line": 3})
    if "divide" in told:
        return {"quotient": 1 / told["divide"]}
    if Path(told.get("trouble", "")).is_file():
        with connection.cursor() as cursor:  # a file with an error code of PostgreSQL's
            code = Path(told["trouble"]).read_text()
            cursor.execute(f"DO $$ BEGIN RAISE EXCEPTION 'trouble' USING ERRCODE = '{code}'; END $$")
    if "die" in told:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"counted": told.get("total", 1)}


JOB = JobKind("count", "Counting", run)
