"""Errors of this suite; each message is one line that names the problem, the place and the remedy.

JobError
  SystemsError    a system, a generator or a selection that does not fit together
"""

from __future__ import annotations

from jobs.errors import JobError


class SystemsError(JobError):
    """A request about writers, generators or benchmarks that cannot be fulfilled."""
