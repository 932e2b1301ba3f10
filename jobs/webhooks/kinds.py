"""The kinds of events that a webhook may be told of: pure."""

from __future__ import annotations

SUBMITTED = "task.submitted"
COMPLETED = "campaign.completed"
RUN_FINISHED = "run.finished"
RUN_FAILED = "run.failed"
PING = "ping"

KINDS: dict[str, str] = {
    SUBMITTED: "A task was submitted",
    COMPLETED: "A campaign has all its ratings",
    RUN_FINISHED: "A run of a judge or metric is done",
    RUN_FAILED: "A run of a judge or metric failed",
}
"""What may be chosen, in words. A `ping` is sent by the button that tests an address."""
