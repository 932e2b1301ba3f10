"""A small script in the native format, for tests: five sessions, of which the main character misses one."""

from __future__ import annotations

from typing import Any

LINES = (
    ("s1", "ana", "I start at the bakery on Monday. Ben is my boss there."),
    ("s1", "ben", "Bring strong shoes."),
    ("s2", "cara", "Ana, I bought red boots."),
    ("s2", "ana", "They suit you."),
    ("s3", "ben", "Cara is moving in with me."),
    ("s3", "cara", "Do not tell Ana yet."),
    ("s4", "ana", "I have been a baker for two years now."),
    ("s4", "cara", "And Ben is my roommate."),
    ("s5", "ana", "Time flies."),
    ("s5", "ben", "It does."),
)


def script(**changes: Any) -> dict[str, Any]:
    """Return the script as an object of the native format, with some fields replaced."""
    told: dict[str, Any] = {
        "id": "loaf",
        "kind": "longform",
        "main": "ana",
        "participants": [{"id": name.lower(), "name": name} for name in ("Ana", "Ben", "Cara")],
        "sessions": [
            {"id": "s1", "date": "1994-09-01", "place": "bakery"},
            {"id": "s2", "date": {"year": 1994, "month": 9}},
            {"id": "s3", "date": "1994-11-05"},
            {"id": "s4", "date": "1995-01-07"},
            {"id": "s5", "date": "1996"},
        ],
        "turns": [{"speaker": who, "text": text, "session": session} for session, who, text in LINES],
        "facts": [
            {"id": "f1", "head": "Ana", "relation": "boss", "tail": "Ben", "session": "s1", "turns": [0],
             "status": "accepted"},
            {"id": "f2", "head": "Cara", "relation": "roommate", "tail": "Ben", "session": "s4",
             "turns": [7]},
        ],
        "questions": [
            {"id": "q1", "source": "quiz", "text": "What did Cara buy?", "answer": "red boots",
             "choices": ["a hat", "red boots", "a coat", "gloves"], "evidence": ["s2"], "status": "accepted",
             "styles": {"default": "By the way, what did Cara buy?"}},
        ],
        "question_sets": [
            {"name": "first", "seed": 3, "uses": [
                {"question": "q1", "session": "s4", "answerable": True, "key": "C", "type": "ans_wo_time",
                 "order": "0213", "sessions": ["s2"], "rule": "one heard before"},
                {"question": "q1", "session": "s1", "answerable": False, "key": "E",
                 "type": "before_event_unans", "sessions": ["s2"], "rule": "all later"},
            ]},
        ],
    }  # fmt: skip
    return {name: value for name, value in (told | changes).items() if value is not None}
