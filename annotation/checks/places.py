"""At which steps of somebody's work a hidden task comes: once in so many, at places drawn by the seed.

Steps are the tasks that a person submits, counted from 0. A step at which there is nothing to give (no check
is left, or too little was done to repeat) is an ordinary one, and is not made up for. Knows no database.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

Kind = Literal["check", "repeat", ""]


class Rates(NamedTuple):
    """One of `check` tasks is a check, one of `repeat` a repeat after `after` others; None for none.

    `drawn` tells one person's places from another's: the seed of the campaign and the person.
    """

    check: int | None
    repeat: int | None
    after: int
    drawn: str


def kind_at(step: int, rates: Rates) -> Kind:
    """Return what is due at a step; a check and a repeat that fall together come one after the other."""
    if rates.check and _place(step // rates.check, rates.check, "check", rates.drawn) == step:
        return "check"
    if rates.repeat and _repeat(step // rates.repeat, rates) == step:
        return "repeat"
    return ""


def left(tasks: int, step: int, rates: Rates, checks: int, done: Sequence[str], most: int) -> int:
    """Return how many tasks lie before somebody, hidden ones among them, so that the count tells nothing.

    `tasks` of the main work and `checks` are left, `done` are the occasions of what was submitted, in order.
    Counts no further than `most`.
    """
    given, counted = list(done), 0
    repeated = sum(occasion == "repeat" for occasion in given)
    while tasks > 0 and counted < most:
        due = kind_at(step, rates)
        if due == "check" and checks > 0:
            checks -= 1
            given.append("check")
        elif due == "repeat" and _main(given, rates.after) > repeated:
            repeated += 1
            given.append("repeat")
        else:
            tasks -= 1
            given.append("main")
        step += 1
        counted += 1
    return counted


def _main(given: Sequence[str], after: int) -> int:
    """Return how many tasks of the main work lie at least `after` others back."""
    return sum(occasion not in ("check", "repeat") for occasion in given[: max(0, len(given) - after)])


def _repeat(block: int, rates: Rates) -> int:
    """Return the step of a block's repeat: where a check has its place, the next one in the block without."""
    assert rates.repeat is not None
    first, place = block * rates.repeat, _place(block, rates.repeat, "repeat", rates.drawn)
    for further in range(rates.repeat):
        step = first + (place - first + further) % rates.repeat
        if not rates.check or _place(step // rates.check, rates.check, "check", rates.drawn) != step:
            return step
    return place


def _place(block: int, length: int, what: str, drawn: str) -> int:
    told = hashlib.sha256(f"{drawn}:{what}:{block}".encode()).digest()
    return block * length + int.from_bytes(told[:6]) % length
