"""What somebody who came by a link takes away once they are done: the completion code."""

from __future__ import annotations

from annotation.people import participants
from annotation.work.leases import Seat


def completion(seat: Seat) -> participants.Completion | None:
    """Return the code and where to go with it, once there is no task for them any more; None for others.

    At a limit of the day there is more to come tomorrow, so nobody is done then.
    """
    over = seat.state == "closed" or (seat.state == "open" and seat.limits.reached != "day")
    return participants.finish(person=seat.user, campaign=seat.campaign, done=seat.done, finished=over)
