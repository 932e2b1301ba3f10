"""Visibility of turns before a turn."""

import random

import pytest

from annotation.records import Continuation, Dialogue, Participant, Turn
from annotation.text.views import ALL, visible

PEOPLE = ("ana", "ben", "kit")


def dialogue(*turns: Turn) -> Dialogue:
    return Dialogue("d", turns=turns, participants=tuple(Participant(name) for name in PEOPLE))


def seen(turns: tuple[Turn, ...], viewer: str) -> list[str]:
    answer = Continuation("x", "model-x", (Turn("ana", "now"),))
    return [turn.text for turn in visible(dialogue(*turns), answer, 0, viewer)]


def test_a_private_turn_is_for_its_speaker_and_its_audience():
    turns = (Turn("ben", "0"), Turn("ana", "1", audience=("kit",)), Turn("ana", "2"))
    assert seen(turns, "ben") == ["0", "2"]
    assert seen(turns, "kit") == seen(turns, "ana") == seen(turns, ALL) == ["0", "1", "2"]


@pytest.mark.parametrize(("sees_history", "expected"), [(False, ["2", "3"]), (True, ["0", "2", "3"])])
def test_who_joins_sees_what_came_before_where_the_join_says_so(sees_history, expected):
    turns = (
        Turn("ana", "0"),
        Turn("ana", "1", audience=("ben",)),
        Turn("kit", "2", act="join", sees_history=sees_history),
        Turn("ben", "3"),
    )
    assert seen(turns, "kit") == expected


def test_who_leaves_does_not_hear_what_is_said_until_they_are_back():
    turns = (
        Turn("ana", "0"),
        Turn("kit", "1", act="leave"),
        Turn("ana", "2"),
        Turn("kit", "3", act="join"),
        Turn("ana", "4"),
    )
    assert seen(turns, "kit") == ["0", "1", "3", "4"]
    assert seen(turns[:3], "kit") == ["0", "1"]


def test_a_session_is_for_those_who_are_in_it():
    turns = (
        Turn("ana", "0", session="s1"),
        Turn("ben", "1", session="s1"),
        Turn("ben", "2", session="s2"),
        Turn("kit", "3", session="s2"),
    )
    assert seen(turns, "kit") == ["2", "3"]
    assert seen(turns, "ana") == ["0", "1"]
    assert seen(turns, "ben") == seen(turns, ALL) == ["0", "1", "2", "3"]


def random_turn(draw: random.Random) -> Turn:
    audience = tuple(draw.sample(PEOPLE, draw.randint(0, 2))) if draw.random() < 0.4 else None
    return Turn(
        draw.choice(PEOPLE),
        "said",
        act=draw.choice(["message", "message", "silence", "join", "leave"]),
        audience=audience,
        session=draw.choice(["", "s1", "s2"]),
        sees_history=draw.random() < 0.3,
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_private_turn_is_never_seen_by_an_outsider(seed):
    draw = random.Random(seed)
    for _ in range(50):
        turns = tuple(random_turn(draw) for _ in range(draw.randint(0, 12)))
        viewer = draw.choice(PEOPLE)
        answer = Continuation("x", "model-x", (Turn(viewer, "now"),))
        shown = visible(dialogue(*turns), answer, 0, viewer)
        assert all(t.audience is None or viewer == t.speaker or viewer in t.audience for t in shown)
        places = [next(i for i, own in enumerate(turns) if own is turn) for turn in shown]
        assert places == sorted(places)
        assert visible(dialogue(*turns), answer, 0, ALL) == turns
        comings = [i for i, t in enumerate(turns) if t.speaker == viewer and t.act in ("join", "leave")]
        if comings and turns[comings[0]].act == "join" and not any(turns[i].sees_history for i in comings):
            assert all(place >= comings[0] for place in places)
