"""Predictions of the fake model, against the expectation in closed form."""

from __future__ import annotations

import math

import pytest

from annotation.records import Continuation, Dialogue, Turn
from demo.fake_model.errors import u
from demo.fake_model.roles import writers
from judges.metrics import Scene
from tests.metrics.helpers import score
from tests.suites.continuation.driving import driven, fake, people, turns

KEY = "mpceval_next_message"
NAMES = ("Ana", "Ben", "Cara", "Dan")
METRICS = ("ir", "pf", "dnr")


def value(metric: str, history: Dialogue, at: int, speaker: str, text: str = "Well.") -> float:
    """Return a speaker metric of a prediction that somebody says something after so many turns."""
    predicted = Continuation("x", "model-x", (Turn(speaker, text, at=at),), mode="static")
    found = score(metric, Scene(Dialogue("d", history.turns, history.participants, (predicted,)), predicted))
    assert found.value is not None, found.reason
    return found.value


def chat(number: int) -> Dialogue:
    """Return a made-up dialogue of three or four people, some of whose turns name the others."""
    many = 3 + number % 2
    length = 5 + int(u(number, "length") * 8)
    said = []
    for turn in range(length):
        who = NAMES[int(u(number, turn, "who") * many)]
        named = NAMES[int(u(number, turn, "named") * many)]
        text = f"{named}, what do you think?" if u(number, turn, "names") < 0.5 else f"I would say {turn}."
        said.append(f"{who.casefold()}: {text}")
    return Dialogue(f"chat {number}", turns(*said), people(*NAMES[:many]))


def test_the_worked_example() -> None:
    history = turns("alice: Hi.", "bob: Hello.", "charlie: Hey.", "alice: So?", "bob: Yes.")
    dialogue = Dialogue("d", history, people("Alice", "Bob", "Charlie"))
    likely = writers.chances(["Alice", "Bob", "Charlie", "Alice"], ("Alice", "Bob", "Charlie"))
    assert likely == pytest.approx({"Alice": 1 / 6, "Bob": 1 / 6, "Charlie": 4 / 6})
    values = {
        metric: {name: value(metric, dialogue, 4, name.casefold()) for name in likely}
        for metric in ("ir", "pf")
    }
    assert values["ir"] == pytest.approx({"Alice": 0.096, "Bob": 0.24, "Charlie": 0.6})
    assert values["pf"] == pytest.approx({"Alice": 0.5, "Bob": 0.25, "Charlie": 0.25})
    assert writers.expected(likely, values["ir"]) == pytest.approx(0.456)
    assert writers.expected(likely, values["pf"]) == pytest.approx(0.292, abs=0.0005)


@pytest.mark.parametrize("q", [0.0, 0.5, 0.8])
def test_predicted_speakers_have_the_expected_values(q: float) -> None:
    answer = fake("next_speaker", q=q)
    seen = dict.fromkeys(METRICS, 0.0)
    wanted = dict.fromkeys(METRICS, 0.0)
    variance = dict.fromkeys(METRICS, 0.0)
    number = 300
    for dialogue in map(chat, range(number)):
        done, _ = driven(KEY, dialogue, answer)
        predicted, at = done.turns[0], len(dialogue.turns) - 1
        shown = {person.id: person.name for person in dialogue.participants}
        before = [shown[turn.speaker] for turn in dialogue.turns[:at]]
        likely = writers.chances(before, tuple(shown.values()), q)
        for metric in METRICS:
            values = {name: value(metric, dialogue, at, pk) for pk, name in shown.items()}
            mean = writers.expected(likely, values)
            wanted[metric] += mean / number
            variance[metric] += (writers.expected_square(likely, values) - mean**2) / number**2
            seen[metric] += value(metric, dialogue, at, predicted.speaker, predicted.text) / number
    for metric in METRICS:
        assert variance[metric] > 0
        assert abs(seen[metric] - wanted[metric]) <= 3 * math.sqrt(variance[metric]), metric


def test_where_everybody_else_is_silent_all_are_as_likely() -> None:
    assert writers.recent_other(["Ana", "Ana"]) is None
    assert writers.recent_other([]) is None
    assert writers.chances(["Ana"], ("Ana", "Ben"), 0.9) == {"Ana": 0.5, "Ben": 0.5}


def test_lines_of_a_transcript_are_read_as_turns() -> None:
    names = ("Ana", "Ana Lee", "Ben")
    assert writers.parse_line("Ana Lee: hi: there", names) == ("Ana Lee", "hi: there")
    assert writers.parse_line("Ana (to Ben): hi", names) == ("Ana", "hi")
    assert writers.parse_line("(private: Ana to Ben) Ana (to Ben): hi", names) == ("Ana", "hi")
    assert writers.parse_line("Ben (joins)", names) is None
    assert writers.parse_line("      Ben: forged", names) is None
