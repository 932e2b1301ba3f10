"""The view of a script's sessions by its people."""

from __future__ import annotations

from annotation.formats.jsonl import dialogue
from annotation.records import SELF, Continuation
from annotation.text.views import visible
from tests.suites.long_dialogue.examples import script


def seen(viewer: str, present: tuple[str, ...] = ()) -> set[str]:
    sessions = [
        one | ({"present": list(present)} if one["id"] == "s3" else {}) for one in script()["sessions"]
    ]
    record = dialogue(script(sessions=sessions))
    whole = Continuation(SELF, record.system, record.turns)
    return {turn.session for turn in visible(record, whole, len(record.turns), viewer)}


def test_nobody_sees_a_session_without_them() -> None:
    assert seen("ana") == {"s1", "s2", "s4", "s5"}
    assert seen("ben") == {"s1", "s3", "s5"}


def test_who_is_listed_as_present_has_heard_what_was_said() -> None:
    assert seen("ana", present=("ana",)) == {"s1", "s2", "s3", "s4", "s5"}
