"""Small scripts with questions, for tests of walks through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import permutations
from random import Random

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Question, Script, Session, Source, Use

MAIN = "M"
ORDERS = ["".join(order) for order in permutations("0123")]


def session_id(number: int) -> str:
    """Return the id of a session by its number."""
    return f"s{number:04}"


def script_of(speakers: Sequence[Iterable[str]], *, dates: Mapping[int, Date] | None = None) -> Dialogue:
    """Return a script whose sessions have these speakers, one turn each, a week apart."""
    sessions, turns = [], []
    for number, session in enumerate(speakers, start=1):
        day = date(1994, 1, 1) + timedelta(weeks=number)
        sessions.append(
            Session(session_id(number), (dates or {}).get(number, Date(day.year, day.month, day.day)))
        )
        turns += [Turn(speaker=who, text="...", session=session_id(number)) for who in session]
    people = tuple(Participant(id=who) for who in sorted({turn.speaker for turn in turns}))
    script = Script(main=MAIN, sessions=tuple(sessions))
    return Dialogue(id="series", turns=tuple(turns), participants=people, script=script)


def question(key: str, source: Source = "quiz", **more: object) -> Question:
    """Return a question with four choices, the first of which is right."""
    choices = tuple(f"{key} {letter}" for letter in "wxyz")
    return Question(id=key, source=source, text=f"What of {key}?", choices=choices, answer=choices[0], **more)  # type: ignore[arg-type]


def use(key: str, number: int, *, answerable: bool = True, type: str = "", since: int | None = None) -> Use:
    """Return a use in session `number`, with the key A or, if unanswerable, E."""
    return Use(
        question=key,
        session=session_id(number),
        answerable=answerable,
        key="A" if answerable else "E",
        type=type or ("ans_wo_time" if answerable else "dont_know_unans"),
        since=since,
    )


def large(seed: int, *, sessions: int, per_session: int) -> tuple[Dialogue, dict[str, Question], list[Use]]:
    """Return a script and uses of every class and source in each session, with random order of choices.

    Half the questions are quiz questions, and nine uses in ten can be answered.
    """
    draws = Random(seed)
    speakers = [[*draws.choices("ABCDEMMM", k=12), MAIN, "A", MAIN] for _ in range(sessions)]
    questions: dict[str, Question] = {}
    for index in range(per_session):
        source: Source = "tkg" if index % 2 else "quiz"
        questions[f"q{index}"] = question(f"q{index}", source, hops=0 if source == "quiz" else 1)
    uses = [
        _drawn_use(draws, asked, number) for number in range(1, sessions + 1) for asked in questions.values()
    ]
    return script_of(speakers), questions, uses


def _drawn_use(draws: Random, asked: Question, number: int) -> Use:
    """Return a use with random class, type and order of choices."""
    answerable = draws.random() < 0.9
    quiz = ("ans_wo_time", "ans_w_time") if answerable else ("dont_know_unans", "before_event_unans")
    tkg = ("current", "past", "undated") if answerable else ("future", "unheard")
    order = draws.choice(ORDERS)
    return Use(
        question=asked.id,
        session=session_id(number),
        answerable=answerable,
        key="ABCD"[order.index("0")] if answerable else "E",
        type=draws.choice(quiz if asked.source == "quiz" else tkg),
        order=order,
    )
