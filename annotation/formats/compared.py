"""What one line of a file of comparisons says, whichever form it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.formats.fields import NAME_LIMIT, Fields, kind_of
from annotation.formats.problems import ImportProblem
from annotation.records import Continuation, LabelRecord, Turn
from annotation.schemes.comparisons import BOTH_BAD, FIRST, SECOND, TIE

USER, ASSISTANT = "user", "assistant"
QUESTIONS = {2: "preference"}
RANKED = "ranking"
SAID = {
    FIRST: ("first", "a", "model_a", "model_1", "response_a", "left"),
    SECOND: ("second", "b", "model_b", "model_2", "response_b", "right"),
    TIE: ("tie", "draw", "equal", "tie (inconsistent)"),
    BOTH_BAD: ("both_bad", "both bad", "bothbad", "tie (bothbad)", "neither"),
}
WINNERS = {word: value for value, words in SAID.items() for word in words}
"""What files call each answer about a pair."""
MESSAGE = frozenset({"role", "content", "speaker", "text", "name", "num_tokens", "user", "hash"})


@dataclass(frozen=True, slots=True)
class Response:
    """One of what is compared: its continuation, and the turn of it that is meant (None: all of it)."""

    continuation: Continuation
    turn: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One line. `label` has neither members nor continuation yet; None where nobody answered.

    `unsaid` is the rater of whom it must be asked whether they are a person or a judge.
    """

    dialogue: str
    context: tuple[Turn, ...]
    responses: tuple[Response, ...]
    label: LabelRecord | None
    cluster: str = ""
    language: str = ""
    unsaid: str = ""


def winner(value: Any, systems: Sequence[str], field: str = "winner") -> str:
    """Return the answer about a pair that a file's word is; a system's name means that it is better."""
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in WINNERS:
            return WINNERS[text.lower()]
        if list(systems).count(text) == 1:
            return (FIRST, SECOND)[list(systems).index(text)]
    elif value in (0, 1) and not isinstance(value, bool):
        return (FIRST, SECOND)[value]
    shown = repr(value)[:40] if isinstance(value, str | int | float) else kind_of(value)
    raise ImportProblem(f"is {shown}: write first, tie, second, both_bad or one of the systems", field=field)


def turns_of(fields: Fields, key: str) -> tuple[Turn, ...]:
    """Return what was said: a text by the user, or messages, of which plain texts take turns."""
    value = fields.raw.get(key)
    if value is None:
        return ()
    if isinstance(value, str):
        return (Turn(USER, fields.text(key)),)
    return tuple(_message(part, path, number) for number, (path, part) in enumerate(fields.items(key)))


def _message(raw: Any, path: str, number: int) -> Turn:
    if isinstance(raw, str):
        return Turn((USER, ASSISTANT)[number % 2], Fields({"text": raw}, path, MESSAGE).text("text"))
    fields = Fields(raw, path, MESSAGE)
    speaker = fields.id("speaker", limit=NAME_LIMIT) if fields.has("speaker") else fields.id("role")
    return Turn(speaker, fields.text("text") if fields.has("text") else fields.text("content"))


def response(
    key: str, system: str, turns: tuple[Turn, ...], at: int, turn: int | None = None, alone: bool = True
) -> Response:
    """Return a response: one turn answers the context, more (or one beside more) go on with the dialogue."""
    if len(turns) == 1 and alone:
        single = Turn(turns[0].speaker, turns[0].text, at=at)
        return Response(Continuation(key, system, (single,), mode="static"), 0)
    given = tuple(Turn(one.speaker, one.text, given=one.speaker == USER) for one in turns)
    return Response(Continuation(key, system, given), turn)
