"""What raters of a campaign or a run are shown: an allow-list, the names to hide, a limit if there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from annotation.records import EVENTS, SELF, Continuation, Dialogue, Turn
from annotation.text.blinding import NOTHING_TOLD, Blind, Told, blind, is_telltale
from annotation.text.cleaning import clean, one_line

# Which turns a viewer may see before a turn.

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


RENDERING = 3
"""The version of how dialogues are rendered, a part of every judge's identity: raise it with each change.

Labels of judges without one were given on the first rendering."""

METADATA = "metadata."
PARTS = {
    "summary": "summary",
    "agenda": "agenda",
    "participants.role": "participants' roles",
    "participants.profile": "participants' profiles",
    "participants.aliases": "participants' other names",
    "participants.extra": "what else is known of participants",
}
DEFAULT = (
    "agenda",
    "metadata.goal",
    "metadata.task_goal",
    "metadata.topic",
    "participants.profile",
    "participants.role",
    "summary",
)


def no_cut(text: str) -> str:
    """Leave a text as it is."""
    return text


@dataclass(frozen=True, slots=True)
class View:
    """What may be seen of a dialogue. `systems` are the corpus's; `cut` shortens what is too long.

    `shows` names parts (PARTS) and entries of the metadata as `metadata.KEY`. `told` is what the conditions
    of the dialogue's continuations would give away.
    """

    systems: tuple[str, ...] = ()
    shows: tuple[str, ...] = DEFAULT
    cut: Callable[[str], str] = no_cut
    told: Told = NOTHING_TOLD

    @property
    def hide(self) -> Blind:
        """What hides the systems' names and their conditions."""
        return blind(self.systems + self.told.values)

    def shows_part(self, part: str) -> bool:
        """Whether the summary, the agenda or a field of participants is shown."""
        return part in self.shows

    def shows_entry(self, key: str) -> bool:
        """Whether an entry of the metadata is shown."""
        return METADATA + key in self.shows and not self.withholds(key)

    def withholds(self, key: str) -> bool:
        """Whether the value of an entry, at any depth, is never shown."""
        return is_telltale(key, self.told)

    def about(self, text: str) -> str:
        """Return a text from around the turns as it is seen."""
        return self.cut(self.hide.about(clean(text).strip()))

    def line(self, text: str) -> str:
        """Return a short text from around the turns on one line."""
        return self.cut(self.hide.about(one_line(text)))

    def spoken(self, text: str) -> str:
        """Return what a turn says as it is seen."""
        return self.cut(self.hide.spoken(clean(text)))


def checked(shows: Iterable[str]) -> tuple[str, ...]:
    """Return names of what is shown, each once and in order; raise ValueError for one that is not known or
    would give away what is rated blindly."""
    names = sorted({name.strip() for name in shows} - {""})
    for name in names:
        if name.startswith(METADATA) and len(name) > len(METADATA):
            if is_telltale(name.removeprefix(METADATA)):
                raise ValueError(
                    f"“{name}” would say which system spoke, or what the right answer is, and is never shown."
                )
        elif name not in PARTS:
            raise ValueError(
                f"There is no “{name}” to show: there are {', '.join(PARTS)} and entries of the metadata as "
                "metadata.KEY."
            )
    return tuple(names)


def titles(shows: Iterable[str]) -> list[str]:
    """Return what is shown as people say it."""
    return [PARTS.get(name) or name.removeprefix(METADATA).replace("_", " ") for name in shows]


class Cut:
    """Takes the middle out of texts above a limit, marks the place, and counts what was left out."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left_out = 0

    def __call__(self, text: str) -> str:
        """Return a text of about `limit` characters (and the mark) where it is longer."""
        excess = len(text) - self.limit
        if excess <= 0:
            return text
        half = self.limit // 2
        self.left_out += excess
        return f"{text[: self.limit - half]}[... {excess} characters left out]{text[len(text) - half :]}"
