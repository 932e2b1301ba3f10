"""The numbers by which an annotator, or their program, names the items of a task.

They belong to the assignment: the same item has another number whenever it is given again, so nothing in a
repeat's page, address or draft says which task it repeats.
"""

from __future__ import annotations

import hashlib

SIZE = 6
"""Bytes of a number: JavaScript holds it exactly."""


def item_number(public: int, assignment: int) -> int:
    """Return an item's number in an assignment, from the item's own random number, which nobody is told."""
    digest = hashlib.blake2b(f"{assignment}:{public}".encode(), digest_size=SIZE).digest()
    return int.from_bytes(digest)
