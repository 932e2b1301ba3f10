"""DNR, IR and PF: whether the predicted speaker was addressed, spoke recently, and spoke often."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from annotation.records import Participant
from annotation.text.words import names, people_named, reference_mentioned
from judges.metrics.kit.metric import (
    DESCRIPTIVE,
    HIGHER,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.tools import Scene, Tools

NO_SPEAKER = "the predicted speaker is not named"
NO_CONTEXT = "there is no context"


def dnr(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Direct name reference: 1 if the speaker is addressed in the context, else 0.

    MPCEval eq. 1. Addressed means that somebody else lists the speaker among a turn's addressees, or writes @
    with id, name or alias, or a whole name or alias. `reference` matches @name as a substring and every word
    of the name, and counts the speaker's own turns.
    """
    assert turn is not None
    speaker = scene.target(turn).speaker
    context = scene.context(turn, settings.integer("window"), keep_blank=settings.is_reference)
    if settings.is_reference:
        name = scene.participant(speaker).name or speaker
        places = scene.once(("named in reference", name), lambda: _naming(scene, name))
        return scored(bool(scene.among(places, context, keep_blank=True)))
    if not speaker.strip():
        return unscored(NO_SPEAKER)
    if not context:
        return unscored(NO_CONTEXT)
    addressed = scene.once("addressed", lambda: _addressed(scene))
    at = list(scene.among(addressed.get(speaker, []), context))
    return scored(bool(at), addressed_at=at)


def ir(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Implicit reference: how recently the speaker spoke before the last turn.

    MPCEval eq. 2: f(d) for the speaker's latest turn, d turns before the last but one; 0 without such a turn.
    f is rate (1-rate)^d (geometric), e^(-rate d) (exponential) or 1/(1+d) (inverse). Range 0 to 1.
    Undefined with fewer than two turns of context; `reference` gives 0 there, and rounds to 4 decimals.
    """
    assert turn is not None
    speaker = scene.target(turn).speaker
    context = scene.context(turn, settings.integer("window"), keep_blank=settings.is_reference)
    if not settings.is_reference:
        if not speaker.strip():
            return unscored(NO_SPEAKER)
        if len(context) < 2:
            return unscored("the context has fewer than two turns")
    own = _own(scene, speaker, context[:-1], settings)
    if not own:
        return scored(0.0)
    distance = len(context) - 2 - bisect_left(context, own[-1])
    value = decayed(distance, settings.text("decay"), settings.number("rate"))
    return scored(round(value, 4) if settings.is_reference else value, spoke_at=own[-1])


def decayed(distance: int, decay: str, rate: float) -> float:
    """Return f(distance): geometric, exponential or inverse."""
    if decay == "geometric":
        return float(rate * (1 - rate) ** distance)
    return math.exp(-rate * distance) if decay == "exponential" else 1 / (1 + distance)


def pf(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Participation frequency: the speaker's share of the context's turns.

    MPCEval eq. 3: turns by the speaker / k, where k is the window, or the number of turns if no window is
    set. Range 0 to 1. `reference` always divides by the actual number of turns, even if it is below the
    window; it rounds to 4 decimals and gives 0 without context.
    """
    assert turn is not None
    speaker, window = scene.target(turn).speaker, settings.integer("window")
    context = scene.context(turn, window, keep_blank=settings.is_reference)
    own = len(_own(scene, speaker, context, settings))
    if settings.is_reference:
        return scored(round(own / len(context), 4) if context else 0.0)
    if not speaker.strip():
        return unscored(NO_SPEAKER)
    return scored(own / (window or len(context))) if context else unscored(NO_CONTEXT)


def _own(scene: Scene, speaker: str, context: list[int], settings: Settings) -> Sequence[int]:
    """Return the positions of the speaker's turns in a context."""
    blank = settings.is_reference
    return scene.among(scene.said_by(speaker, keep_blank=blank), context, keep_blank=blank)


def _addressed(scene: Scene) -> dict[str, list[int]]:
    """Return the positions of the turns with text in which somebody else addresses each person."""
    people_names = names(_people(scene))
    positions: dict[str, list[int]] = {}
    for position in scene.conversation(history=True):
        turn = scene.turns[position]
        for person in (people_named(turn.text, people_names) | set(turn.addressees)) - {turn.speaker}:
            positions.setdefault(person, []).append(position)
    return positions


def _naming(scene: Scene, name: str) -> list[int]:
    """Return the positions of the turns that name a speaker according to the published code."""
    return [p for p, turn in enumerate(scene.turns) if reference_mentioned(turn.text, name)]


def _people(scene: Scene) -> list[Participant]:
    """Return the declared participants and all other speakers."""
    speakers = dict.fromkeys(turn.speaker for turn in scene.turns if turn.speaker.strip())
    ids = dict.fromkeys([*(person.id for person in scene.dialogue.participants), *speakers])
    return [scene.participant(speaker) for speaker in ids]


DECAYS = ("geometric", "exponential", "inverse")
_IR = {
    "decay": Parameter("geometric", "how a turn's weight falls with its distance", choices=DECAYS),
    "rate": Parameter(0.6, "rate of the geometric or exponential decay", low=0.0, high=1.0),
}

CAUSES = {"addressed_at": Cause("addressed at", "turn"), "spoke_at": Cause("spoke last at", "turn")}

FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=SPEAKER,
        causes=CAUSES,
        compute=compute,
        low=0.0,
        high=1.0,
        direction=direction,
        needs=frozenset({"speakers"}),
        parameters=parameters,
        variants={PAPER: {}, REFERENCE: {}},
    )
    for compute, title, direction, parameters in (
        (dnr, "Direct name reference", HIGHER, {}),
        (ir, "Implicit reference", HIGHER, _IR),
        (pf, "Participation frequency", DESCRIPTIVE, {}),
    )
)
