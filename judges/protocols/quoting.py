"""Transcripts as quoted material: what others wrote must never read as an instruction.

Every line of quoted text starts with `| ` and stands between a begin and an end mark that cleaned text cannot
contain (`annotation.text.cleaning`). A line break inside a turn continues on an indented line, so a text can
forge neither a mark nor another turn. What is quoted is what people see: rendered alike, the same names
hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotation.records import Turn
from annotation.text import context
from annotation.text.blinding import told_by
from annotation.text.happenings import Names, happening, heading, session_dates
from annotation.text.views import visible
from judges.protocols.base import Case
from judges.protocols.notice import NOTICE

__all__ = ["NOTICE", "Seen", "quote"]


def quote(title: str, lines: Iterable[str]) -> str:
    """Return lines as a quoted block under a title (a fixed word of ours, never a user's)."""
    parts = [part for line in lines for part in line.split("\n")]  # a line that is none is no way out
    body = "\n".join(f"| {part}" for part in parts) or "| (nothing)"
    return f"<<<BEGIN {title}>>>\n{body}\n<<<END {title}>>>"


class Seen:
    """A case as raters see it, in lines to be quoted."""

    def __init__(self, case: Case) -> None:
        dialogue = case.dialogue
        own = {dialogue.system, *(continuation.system for continuation in dialogue.continuations)}
        self.case = case
        told = told_by(continuation.condition for continuation in dialogue.continuations)
        self.view = replace(
            case.view, systems=tuple(sorted(own.union(case.view.systems))), told=told.and_of(case.view.told)
        )
        self.dates = session_dates(dialogue.script)
        self.names = Names(dialogue.participants, self.view.hide)
        for turns in (dialogue.turns, *(each.turns for each in dialogue.continuations)):
            self.names.meet(turn.speaker for turn in turns)

    def before(self) -> tuple[Turn, ...]:
        """Return the turns that may be seen before the turn in view."""
        assert self.case.turn is not None
        return visible(self.case.dialogue, self.case.continuation, self.case.turn)

    def transcript(self, turns: Sequence[Turn], numbers: bool = False) -> list[str]:
        """Return turns as lines, without numbers unless they are asked for."""
        pairs = enumerate(zip(turns, (None, *turns), strict=False), start=1)
        return [
            line
            for number, (turn, before) in pairs
            for line in self.turn(turn, before, f"[{number}] " if numbers else "")
        ]

    def turn(self, turn: Turn, before: Turn | None = None, mark: str = "") -> list[str]:
        """Return a turn as lines: `mark Speaker: text`, further lines of the text indented.

        A heading comes first where session or date are others than those of the turn before.
        """
        above = heading(turn, before, self.view.line, self.dates)
        first, *rest = happening(turn, self.names, self.view.spoken(turn.text)).line().split("\n")
        return [
            *([f"== {above} =="] if above else []),
            f"{mark}{first}",
            *(f"      {line}" for line in rest),
        ]

    def response(self, turns: Sequence[Turn], mark: str = "") -> list[str]:
        """Return the turn in view as lines, after the turns before it."""
        assert self.case.turn is not None
        return self.turn(self.case.continuation.turns[self.case.turn], turns[-1] if turns else None, mark)

    def people(self) -> list[str]:
        """Return what is known of each participant as lines."""
        return [line for person in self._context().people for line in context.person_lines(person)]

    def facts(self) -> list[str]:
        """Return the metadata, the agenda and the summary as lines."""
        return context.fact_lines(self._context())

    def _context(self) -> context.Context:
        return context.context(self.case.dialogue, self.names, self.view)
