"""Events for webhooks, written in the transaction in which they happen."""

from __future__ import annotations

import json
from typing import Any

from django.db import connection, transaction

from jobs.models import Run

# Events for webhooks, written in the transaction in which they happen.
#
# The database function `concord_tell` writes the event and a delivery for each subscribed webhook, and
# nothing if there is none. Triggers of higher layers call it, too (`annotation_assignment`: tasks and
# campaigns).

# Kinds of events for webhooks: pure.

SUBMITTED = "task.submitted"
COMPLETED = "campaign.completed"
RUN_FINISHED = "run.finished"
RUN_FAILED = "run.failed"
VERDICT_CHANGED = "verdict.changed"
JUDGE_MOVED = "judge.moved"
PING = "ping"

KINDS: dict[str, str] = {
    SUBMITTED: "A task was submitted",
    COMPLETED: "A campaign has all its ratings",
    RUN_FINISHED: "A run of a judge or metric is done",
    RUN_FAILED: "A run of a judge or metric failed",
    VERDICT_CHANGED: "A new report has another verdict on a judge or metric",
    JUDGE_MOVED: "A judge that was asked again answers differently",
}
"""Events to subscribe to, in words. A `ping` is sent by the button that tests a URL."""


def tell(kind: str, campaign: int | None, data: dict[str, Any]) -> None:
    """Write an event of a campaign (None: of no campaign). Ids, counts and names of served models only: the
    data leaves the server.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT concord_tell(%s::text, %s::bigint, %s::jsonb)", [kind, campaign, json.dumps(data)]
        )


def notify_of_run(run: Run) -> None:
    """Write the event of a run that is done or failed; nothing for a cancelled run."""
    kind = {Run.State.DONE: RUN_FINISHED, Run.State.FAILED: RUN_FAILED}.get(Run.State(run.state))
    if kind is None:
        return
    ended = {"run": run.pk, "kind": run.kind, "state": str(run.state), "rater": run.rater_id}
    about = {"corpus": run.corpus_id, "campaign": run.campaign_id}
    tell(kind, run.campaign_id, ended | about | {"values": run.values, "missing": run.missing})
