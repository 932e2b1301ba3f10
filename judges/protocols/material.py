"""What protocols show of a case, quoted: the variables that several of them share."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.records import SELF, Turn
from judges.protocols.base import Case
from judges.protocols.quoting import Seen, quote
from judges.protocols.wording import Filling, Variable

FACTS = Variable("facts", "the metadata, the agenda and the summary of the dialogue")
PEOPLE = Variable("people", "what is known of each speaker")
AROUND = (FACTS, PEOPLE)
"""What is known beside the turns."""
REFERENCE = Variable("reference", "what was really said at this point", required=True)


def around(seen: Seen) -> dict[str, Filling]:
    """Return what is known beside the turns."""
    return {
        "facts": lambda: quote("FACTS", seen.facts()),
        "people": lambda: quote("PEOPLE", seen.people()),
    }


def history_of(case: Case) -> tuple[Turn, ...]:
    """Return the turns before the continuation: none where it is the dialogue's own turns."""
    return () if case.continuation.id == SELF else case.dialogue.turns


def numbered(case: Case, seen: Seen, history: Sequence[Turn]) -> list[str]:
    """Return the continuation as lines, its judged turns numbered from 1, the given ones marked."""
    numbers = {index: number for number, index in enumerate(case.judged(), start=1)}
    lines: list[str] = []
    before = history[-1] if history else None
    for index, turn in enumerate(case.continuation.turns):
        mark = f"[{numbers[index]}] " if index in numbers else "[not judged] "
        lines += seen.turn(turn, before, mark)
        before = turn
    return lines


def exchanges(case: Case, seen: Seen) -> list[str]:
    """Return a static continuation as lines: the dialogue as it went, and each response at its place.

    Judged responses are numbered from 1; everything else is marked.
    """
    dialogue, continuation = case.dialogue, case.continuation
    numbers = {index: number for number, index in enumerate(case.judged(), start=1)}
    lines: list[str] = []
    shown = 0
    before: Turn | None = None
    for index, turn in enumerate(continuation.turns):
        at = len(dialogue.turns) if turn.at is None else turn.at
        for own in dialogue.turns[shown:at]:
            lines += seen.turn(own, before, "[not judged] ")
            before = own
        shown = max(shown, at)
        mark = f"[{numbers[index]}] " if index in numbers else "[not judged] "
        lines += seen.turn(turn, before, mark)
    return lines


def reference_of(case: Case) -> Turn | None:
    """Return what was really said at the turn in view: None where nothing is known, or it is that itself."""
    if case.turn is None or case.dialogue.is_reference(case.continuation, case.turn):
        return None
    return case.dialogue.reference(case.continuation, case.turn)


def no_reference(case: Case) -> str:
    """Return why the turn in view has no reference, empty where it has one."""
    if reference_of(case) is not None:
        return ""
    is_itself = case.turn is not None and case.dialogue.is_reference(case.continuation, case.turn)
    return "it is the reference response itself" if is_itself else "no reference response"


def reference_block(case: Case, seen: Seen) -> str:
    """Return the reference, quoted."""
    reference = reference_of(case)
    assert reference is not None
    return quote("REFERENCE", seen.turn(reference, reference))
