"""A reply written from what people answered: what a worked example shows as the right one."""

from __future__ import annotations

from judges.protocols.base import Asking, Case, Reading, Unwritable
from judges.protocols.cpdscore_simple import ASPECTS, CpdscoreSimple

EXPLAINED = "This is what people answered."
"""What stands where a reply explains itself: people's own remarks are not shown to models."""


class CannotBeWritten(ValueError):
    """No reply can be made of the answers; the message says why."""


def write(protocol: Asking, reading: Reading, case: Case, variant: str) -> str:
    """Return the reply of a protocol that says a reading; raise CannotBeWritten where there is none.

    Of separate scores those that people gave are enough: few people are asked for all that a judge is.
    """
    try:
        return protocol.write(reading, case, variant)
    except Unwritable as error:
        known = {one.question: one.value for one in reading.verdicts if one.value is not None}
        if not isinstance(protocol, CpdscoreSimple) or not known:
            raise CannotBeWritten(f"{error}") from None
        return "\n".join(f"{key} - {known[key]:g}" for key in (*ASPECTS, "overall") if key in known)
