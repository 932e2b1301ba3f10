"""What this floor refuses; each message is one line that says what, where and what to do.

JobError
  SystemsError    a system, a generator or a selection that does not fit together
"""

from __future__ import annotations

from jobs.errors import JobError


class SystemsError(JobError):
    """Something about what writes that cannot be done as it was asked for."""
