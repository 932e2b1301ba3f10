"""A fact or a question as raters read it: what it says by name, choices, and wordings by who asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotation.scripts.records import DEFAULT_STYLE, LETTERS
from annotation.text.happenings import Names
from annotation.text.views import View

NO_SESSIONS = "no session is named"
EVERYBODY_ELSE = "everybody else"
ELEMENTS = ("head", "relation", "tail")


class Choice(NamedTuple):
    """A choice of a question, with its letter, and whether it is the answer."""

    letter: str
    text: str
    is_answer: bool


class Card(NamedTuple):
    """What is shown above the turns. `rows` are names and texts, `wordings` texts by who asks so."""

    title: str
    rows: tuple[tuple[str, str], ...]
    choices: tuple[Choice, ...] = ()
    wordings: tuple[tuple[str, str], ...] = ()

    @property
    def line(self) -> str:
        """All of it on one line, for lists."""
        return " · ".join(text for _, text in self.rows if text)


def of_fact(content: Mapping[str, Any], view: View) -> Card:
    """Return the card of a fact: head, relation, tail."""
    rows = tuple((name.capitalize(), view.line(content[name])) for name in ELEMENTS)
    return Card("The fact", rows)


def of_question(content: Mapping[str, Any], evidence: Sequence[str], names: Names, view: View) -> Card:
    """Return the card of a question; where it has wordings of its own, they stand beside its text."""
    answer = content["answer"]
    joined = (" and " if content.get("evidence_all") else " or ").join(evidence)
    rows = (
        ("Question", view.about(content["text"])),
        ("Answer", view.line(answer)),
        ("Evidence", view.line(joined) or NO_SESSIONS),
    )
    choices = tuple(
        Choice(letter, view.line(text), text == answer)
        for letter, text in zip(LETTERS, content.get("choices") or (), strict=False)
    )
    return Card("The question", rows, choices, _wordings(content.get("styles") or {}, names, view))


def _wordings(styles: Mapping[str, str], names: Names, view: View) -> tuple[tuple[str, str], ...]:
    """Return the wordings by who asks so, that for everybody else last."""
    order = sorted(styles.items(), key=lambda style: style[0] == DEFAULT_STYLE)
    return tuple(
        (EVERYBODY_ELSE if who == DEFAULT_STYLE else names.of(who), view.about(text)) for who, text in order
    )
