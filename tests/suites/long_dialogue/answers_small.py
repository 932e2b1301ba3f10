"""Short constructors of made-up answers."""

from __future__ import annotations

from typing import Any

from suites.long_dialogue.answers.rows import NOBODY, AnswerRatings, AnswerRow, Place, row_of


def answer(question: str = "q1", session: int = 1, **fields: Any) -> dict[str, Any]:
    """Return the record of an answer to a quiz question: (A), which is also the key."""
    made = {
        "question": question,
        "session": session,
        "use": "ans_wo_time",
        "answerable": fields.get("key", "A") != "E",
        "key": "A",
        "answer": "red boots",
        "choices": ["red boots", "a hat", "a coat", "gloves"],
        "source": "quiz",
        "hops": 0,
        "outcome": "A",
        "lenient": False,
        "asker": "ben",
        "format": "template",
        "names": "original",
    }
    return made | fields


def place(system: str = "m", trial: int = 0, cluster: str = "s1", **fields: Any) -> Place:
    """Return the place of an answer, in the script `long` of 8 sessions."""
    condition = fields.pop("condition", {"model": system, "memory": "base"})
    return Place(system, fields.pop("script", "long"), cluster, condition, trial, fields.pop("sessions", 8))


def row(
    system: str = "m", trial: int = 0, session: int = 1, said: AnswerRatings = NOBODY, **fields: Any
) -> AnswerRow:
    """Return a row: the place of an answer, and its record."""
    own = {key: fields.pop(key) for key in ("condition", "script", "cluster", "sessions") if key in fields}
    own.setdefault("cluster", f"s{session}")
    question = fields.pop("question", f"q{session}")
    reply = fields.pop("reply", "")
    return row_of(answer(question, session, **fields), reply, place(system, trial, **own), said)
