"""Which turns a viewer may see before a turn."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.records import EVENTS, SELF, Continuation, Dialogue, Turn

ALL = "all"
"""The viewer who sees everything; private turns are then marked."""


def visible(dialogue: Dialogue, continuation: Continuation, turn: int, viewer: str = ALL) -> tuple[Turn, ...]:
    """Return the turns before a turn that a viewer may see, in order.

    `viewer` is a participant's id, or ALL. From the turn's context (`Dialogue.context`) a participant does
    not see turns whose audience leaves them out, what happened before they joined (unless that join
    `sees_history`) or between leaving and joining again, and sessions in which they are not present: nothing
    is said by them, to them or for them to hear, and a script does not list them there.
    """
    context = dialogue.context(continuation, turn)
    if viewer == ALL:
        return context
    whole = continuation.turns if continuation.id == SELF else dialogue.turns + continuation.turns[: turn + 1]
    sessions = {each.session for each in whole if _takes_part(each, viewer)}
    if dialogue.script is not None:
        sessions |= {session.id for session in dialogue.script.sessions if viewer in session.present}
    begins = next(
        (each.act != "join" for each in whole if each.speaker == viewer and each.act in EVENTS), True
    )
    return tuple(
        each
        for each, is_there in zip(context, _presence(context, viewer, begins), strict=True)
        if is_there and hears(each, viewer) and (not each.session or each.session in sessions)
    )


def hears(turn: Turn, viewer: str) -> bool:
    """Whether a turn is for everybody's ears, or the viewer is its speaker or in its audience."""
    return turn.audience is None or turn.speaker == viewer or viewer in turn.audience


def _takes_part(turn: Turn, viewer: str) -> bool:
    return viewer == turn.speaker or viewer in turn.addressees or viewer in (turn.audience or ())


def _presence(turns: Sequence[Turn], viewer: str, begins: bool) -> list[bool]:
    """Return for each turn whether the viewer was there, or may read it because of a later join.

    `begins`: whether the viewer is there at the beginning, as who never joins is, or leaves before joining.
    """
    present, found = begins, list[bool]()
    for turn in turns:
        if turn.speaker == viewer and turn.act == "join":
            present = True
            if turn.sees_history:
                found = [True] * len(found)
        found.append(present)
        if turn.speaker == viewer and turn.act == "leave":
            present = False
    return found
