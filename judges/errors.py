"""Errors in the set-up of judges and runs.

JobError           see jobs.errors
  JudgeError       one line with the fault and its remedy
"""

from __future__ import annotations

from jobs.errors import JobError


class JudgeError(JobError):
    """Invalid settings of a run, judge or prompt; the message is one clear line for the user."""
