"""Mistakes of those who set up judges and runs.

JobError           see jobs.errors
  JudgeError       one line that says what is wrong and what to do
"""

from __future__ import annotations

from jobs.errors import JobError


class JudgeError(JobError):
    """A run or an endpoint that cannot be, with one clear line for whoever asked for it."""
