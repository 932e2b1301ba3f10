"""Transcripts as quoted material: text written by others must never read as an instruction.

Every line of quoted text starts with `| ` and stands between a begin and an end mark that cleaned text cannot
contain (`annotation.text.views`). A line break inside a turn continues on an indented line, so a text can
forge neither a mark nor another turn. Quoted material is rendered as for people, with the same names hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotation.records import SELF, Turn
from annotation.text import context
from annotation.text.context import Names, happening, heading, session_dates
from annotation.text.views import Cut, giveaways_of, visible
from judges.protocols.protocol import Asking, Case, Prompt
from judges.protocols.wording import NOTICE, Filling, Variable, Wording

# Character budget of a prompt: the longest texts lose their middle first, with a note in its place.
#
# Without a budget nothing is cut.

SHORTEST = 40
"""Minimum length, in characters, to which a text is cut."""


class TooLong(ValueError):
    """A prompt exceeds its budget even with every text cut to its minimum; the message has both numbers."""


def within(
    protocol: Asking, case: Case, variant: str, budget: int | None, wording: Wording | None = None
) -> tuple[Prompt, tuple[str, ...]]:
    """Return the prompt for a case in at most `budget` characters, and its flags.

    The flag `shortened` gives the number of characters left out. Raises TooLong.
    """
    prompt = protocol.prompt(case, variant, wording)
    if budget is None or len_of(prompt) <= budget:
        return prompt, ()
    low, high = SHORTEST, budget
    best, left_out = _cut(protocol, case, variant, wording, low)
    if len_of(best) > budget:
        raise TooLong(
            f"the prompt has {len_of(prompt):,} characters and cannot be shortened below {len_of(best):,}; "
            f"the budget is {budget:,}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        shortened, count = _cut(protocol, case, variant, wording, middle)
        if len_of(shortened) <= budget:
            low, best, left_out = middle, shortened, count
        else:
            high = middle
    return best, (f"shortened: {left_out} characters left out",)


def len_of(prompt: Prompt) -> int:
    """Return the number of characters of both messages."""
    return len(prompt.system) + len(prompt.user)


def _cut(
    protocol: Asking, case: Case, variant: str, wording: Wording | None, limit: int
) -> tuple[Prompt, int]:
    cut = Cut(limit)
    shortened = replace(case, view=replace(case.view, cut=cut))
    return protocol.prompt(shortened, variant, wording), cut.left_out


__all__ = ["NOTICE", "Seen", "quote"]


def quote(title: str, lines: Iterable[str]) -> str:
    """Return lines as a quoted block under a title (one of our fixed words, never a user's)."""
    parts = [part for line in lines for part in line.split("\n")]  # line breaks must not escape quoting
    body = "\n".join(f"| {part}" for part in parts) or "| (nothing)"
    return f"<<<BEGIN {title}>>>\n{body}\n<<<END {title}>>>"


class Seen:
    """A case as raters see it, in lines for quoting."""

    def __init__(self, case: Case) -> None:
        dialogue = case.dialogue
        own = {dialogue.system, *(continuation.system for continuation in dialogue.continuations)}
        self.case = case
        revealed = giveaways_of(continuation.condition for continuation in dialogue.continuations)
        self.view = replace(
            case.view,
            systems=tuple(sorted(own.union(case.view.systems))),
            giveaways=revealed.and_of(case.view.giveaways),
        )
        self.dates = session_dates(dialogue.script)
        self.names = Names(dialogue.participants, self.view.hide)
        for turns in (dialogue.turns, *(each.turns for each in dialogue.continuations)):
            self.names.meet(turn.speaker for turn in turns)

    def before(self) -> tuple[Turn, ...]:
        """Return the visible turns before the turn in view."""
        assert self.case.turn is not None
        return visible(self.case.dialogue, self.case.continuation, self.case.turn)

    def transcript(self, turns: Sequence[Turn], numbers: bool = False) -> list[str]:
        """Return turns as lines, optionally with `numbers`."""
        pairs = enumerate(zip(turns, (None, *turns), strict=False), start=1)
        return [
            line
            for number, (turn, before) in pairs
            for line in self.turn(turn, before, f"[{number}] " if numbers else "")
        ]

    def turn(self, turn: Turn, before: Turn | None = None, mark: str = "") -> list[str]:
        """Return a turn as lines: `mark Speaker: text`, further lines of the text indented.

        A heading comes first if the session or date differs from that of the turn before.
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
        """Return the known facts about each participant as lines."""
        return [line for person in self._context().people for line in context.person_lines(person)]

    def facts(self) -> list[str]:
        """Return the metadata, the agenda and the summary as lines."""
        return context.fact_lines(self._context())

    def _context(self) -> context.Context:
        return context.context(self.case.dialogue, self.names, self.view)


# Quoted parts of a case: variables shared by several protocols.

FACTS = Variable("facts", "the metadata, the agenda and the summary of the dialogue")
PEOPLE = Variable("people", "what is known of each speaker")
AROUND = (FACTS, PEOPLE)
"""Variables for background besides the turns."""
REFERENCE = Variable("reference", "what was really said at this point", required=True)


def around(seen: Seen) -> dict[str, Filling]:
    """Return the values of the background variables (`AROUND`)."""
    return {
        "facts": lambda: quote("FACTS", seen.facts()),
        "people": lambda: quote("PEOPLE", seen.people()),
    }


def history_of(case: Case) -> tuple[Turn, ...]:
    """Return the turns before the continuation; none if it consists of the dialogue's own turns."""
    return () if case.continuation.id == SELF else case.dialogue.turns


def numbered(case: Case, seen: Seen, history: Sequence[Turn]) -> list[str]:
    """Return the continuation as lines, with judged turns numbered from 1 and given turns marked."""
    numbers = {index: number for number, index in enumerate(case.judged(), start=1)}
    lines: list[str] = []
    before = history[-1] if history else None
    for index, turn in enumerate(case.continuation.turns):
        mark = f"[{numbers[index]}] " if index in numbers else "[not judged] "
        lines += seen.turn(turn, before, mark)
        before = turn
    return lines


def exchanges(case: Case, seen: Seen) -> list[str]:
    """Return a static continuation as lines: the original dialogue with each response at its place.

    Judged responses are numbered from 1; everything else is marked.
    """
    dialogue, continuation = case.dialogue, case.continuation
    numbers = {index: number for number, index in enumerate(case.judged(), start=1)}
    lines: list[str] = []
    position = 0
    before: Turn | None = None
    for index, turn in enumerate(continuation.turns):
        at = len(dialogue.turns) if turn.at is None else turn.at
        for own in dialogue.turns[position:at]:
            lines += seen.turn(own, before, "[not judged] ")
            before = own
        position = max(position, at)
        mark = f"[{numbers[index]}] " if index in numbers else "[not judged] "
        lines += seen.turn(turn, before, mark)
    return lines


def reference_of(case: Case) -> Turn | None:
    """Return the original turn at the position of the turn in view; None if unknown or the same turn."""
    if case.turn is None or case.dialogue.is_reference(case.continuation, case.turn):
        return None
    return case.dialogue.reference(case.continuation, case.turn)


def no_reference(case: Case) -> str:
    """Return the reason why the turn in view has no reference, empty if it has one."""
    if reference_of(case) is not None:
        return ""
    is_itself = case.turn is not None and case.dialogue.is_reference(case.continuation, case.turn)
    return "it is the reference response itself" if is_itself else "no reference response"


def reference_block(case: Case, seen: Seen) -> str:
    """Return the reference, quoted."""
    reference = reference_of(case)
    assert reference is not None
    return quote("REFERENCE", seen.turn(reference, reference))
