"""Which sessions answer which questions of a quiz: those whose turns plant the evidence, with mistakes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

MISSES, INVENTS = "misses", "invents"
_EVIDENCE = re.compile(r"\{evidence ([^\s{}]+)(?: (\d+)/(\d+))?\}")
_ANSWER = re.compile(r"\{answer ([^\s{}]+)[^{}]*\}")
_SESSION = re.compile(r"Session (\d+)")
Sessions = Sequence[str]
"""The texts of the sessions shown, in their order."""


class QuizMapper(Role):
    """Reads `{evidence q17}` in the turns of SESSIONS, `{evidence q17 1/2}` for one of two parts that
    are both needed, and `{answer q17 ...}` in the question that it is about.

    Mistakes, each with a chance drawn per question and session: `misses` leaves out a session that gives the
    answer, `invents` adds one that does not.
    """

    key = "quiz_mapper"
    title = "which sessions answer which questions"
    own_keys = dict.fromkeys((MISSES, INVENTS), one_chance)

    def recognises(self, request: Request) -> bool:
        """Sessions, and questions about them."""
        return {"SESSIONS", "QUESTIONS"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the questions that can be answered, with their sessions."""
        sessions = sessions_of(request)
        told = []
        for said in request.numbered("QUESTIONS"):
            marked = _ANSWER.search(said.whole)
            if marked and (entry := mapped(marked[1], sessions, mind)):
                told.append({"question": said.number, **entry})
        return Answer({"answerable": told})


def sessions_of(request: Request) -> list[str]:
    """Return the texts of the sessions that a prompt shows."""
    texts: list[list[str]] = []
    for line in request.block("SESSIONS") or ():
        if _SESSION.fullmatch(line):
            texts.append([])
        elif texts:
            texts[-1].append(line)
    return ["\n".join(lines) for lines in texts]


def mapped(key: str, sessions: Sessions, mind: Mind) -> Mapping[str, Any] | None:
    """Return what is said of a question with this id, None where nothing is."""
    numbers = [number for number, text in enumerate(sessions, start=1) if names(key, text, mind)]
    if not numbers:
        return None
    needed = any(int(whole or 1) > 1 for text in sessions for _, whole in planted(key, text))
    return {"sessions": numbers, "all_needed": needed and len(numbers) > 1}


def names(key: str, text: str, mind: Mind) -> bool:
    """Whether a session is named for a question."""
    there = bool(planted(key, text))
    errs = mind.draw(MISSES if there else INVENTS, f"{key}\n{text}")
    return there != (errs < mind.errors.own.get(MISSES if there else INVENTS, 0.0))


def planted(key: str, text: str) -> list[tuple[str, str]]:
    """Return the parts of the evidence for a question in a session, each with the number of all parts."""
    return [(part, whole) for marked, part, whole in _EVIDENCE.findall(text) if _same(marked) == _same(key)]


def _same(key: str) -> str:
    return "".join(letter for letter in key if letter.isalnum()).casefold()
