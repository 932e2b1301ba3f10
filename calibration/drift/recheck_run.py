"""Runs that ask a judge again: their answers are repeats, which no statistic reads as main labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Occasion
from jobs import job_actions
from jobs.models.run import Call, Run
from judges.runs.judge_calls import JudgeRun, record_all

KIND = "recheck"
"""Kind of these runs."""
COMPARISON = "drift"
"""Kind of the job that compares a finished recheck with the first run."""


class RecheckRun(JudgeRun):
    """Runs of a judge on anchors: prepared and sent like the first run, recorded as repeats."""

    def record(self, answered_calls: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as repeated labels; return the number of new ones."""
        return record_all(answered_calls, Occasion.REPEAT)

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers, and have the recheck compared."""
        super().settled(run)
        job_actions.start(
            kind=COMPARISON,
            subject=f"recheck of run {run.pk}",
            params={"run": run.pk},
            by=run.created_by,
        )


RUN = RecheckRun()
