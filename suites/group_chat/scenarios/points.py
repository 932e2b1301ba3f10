"""Points where an agent decides, the turns it sees there, and the keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import fsum, log

from annotation.records import SELF, Continuation, Dialogue, Turn
from annotation.scenario_records import SILENT, VISIBLE, Decision, Key, Probe, Scenario
from annotation.text.views import visible

POINTED = ("message", "join")
"""Acts after which an agent decides."""


def scenario_of(dialogue: Dialogue) -> Scenario:
    """Return a dialogue's scenario; raise ValueError where it has none."""
    if dialogue.scenario is None:
        raise ValueError(f"The dialogue {dialogue.id!r} is no scenario.")
    return dialogue.scenario


def positions_seen(dialogue: Dialogue, viewer: str, until: int | None = None) -> tuple[int, ...]:
    """Return the positions of the script's turns before `until` (None: all) that a viewer may see."""
    script = Continuation(SELF, dialogue.system, dialogue.turns)
    end = len(dialogue.turns) if until is None else until
    visible_ids = {id(turn) for turn in visible(dialogue, script, end, viewer)}
    return tuple(place for place, turn in enumerate(dialogue.turns[:end]) if id(turn) in visible_ids)


def seen_by(dialogue: Dialogue, point: int, viewer: str) -> tuple[Turn, ...]:
    """Return the turns that a viewer has seen at a point, up to and including the turn that made it."""
    return tuple(dialogue.turns[place] for place in positions_seen(dialogue, viewer, point + 1))


def as_delivered(scenario: Scenario, turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Return turns as the chat's channel shows them to anybody in the agent's place.

    The addressees of other people's messages are the key of ATTEND and ADDRESS, so they are hidden unless the
    scenario's channel shows them. A reaction is shown at its message in any channel.
    """

    def is_shown(turn: Turn) -> bool:
        return scenario.addressees == VISIBLE or turn.act == "reaction" or turn.speaker == scenario.agent

    return tuple(turn if is_shown(turn) else replace(turn, addressees=()) for turn in turns)


def candidates(dialogue: Dialogue) -> tuple[int, ...]:
    """Return the possible points: messages and joins that the agent sees and did not write."""
    agent = scenario_of(dialogue).agent
    return tuple(
        place
        for place, turn in enumerate(dialogue.turns)
        if turn.act in POINTED
        and turn.speaker != agent
        and place in positions_seen(dialogue, agent, place + 1)
    )


def points_of(dialogue: Dialogue) -> tuple[int, ...]:
    """Return the points of a scenario, in order: turn numbers from 0."""
    scenario, places = scenario_of(dialogue), candidates(dialogue)
    return places if scenario.points is None else tuple(sorted(set(scenario.points) & set(places)))


def probes_at(scenario: Scenario, point: int) -> tuple[Probe, ...]:
    """Return the probes of a point; a point without probes is background."""
    return tuple(probe for probe in scenario.probes if point in probe.points)


def key_at(scenario: Scenario, point: int) -> Key:
    """Return the key of a point: its probe's, else the scenario's own, else attend 0 and silence."""
    for probe in probes_at(scenario, point):
        return probe.keys[point]
    return scenario.keys.get(point, SILENT)


# People present at a point, listeners of a decision, and the agent's share of the talk.

WINDOW = 10
"""Messages in the share of talk where a probe has no `window` (Concord's choice)."""


def present_at(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return the ids of those present right after a turn of the script, including the agent.

    A person who joins is absent until then, one who left is absent until joining again; all others are
    present throughout.
    """
    present = {person.id for person in dialogue.participants}
    comings = [(place, turn) for place, turn in enumerate(dialogue.turns) if turn.act in ("join", "leave")]
    first: dict[str, str] = {}
    for _, turn in comings:
        first.setdefault(turn.speaker, turn.act)
    present -= {speaker for speaker, act in first.items() if act == "join"}
    for place, turn in comings:
        if place > point:
            break
        if turn.act == "join":
            present.add(turn.speaker)
        else:
            present.discard(turn.speaker)
    return frozenset(present)


def listeners_at(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return the people who see a decision at a point, without the agent: those who saw the answered turn."""
    turn = dialogue.turns[point]
    present = present_at(dialogue, point)
    listeners = present if turn.audience is None else present & {turn.speaker, *turn.audience}
    return listeners - {scenario_of(dialogue).agent}


def others_at(dialogue: Dialogue, point: int, without: str) -> frozenset[str]:
    """Return everybody who takes part at a point, the agent and its listeners, except for one id."""
    return (listeners_at(dialogue, point) | {scenario_of(dialogue).agent}) - {without}


def talk_until(
    dialogue: Dialogue,
    decision: Decision,
    earlier: Mapping[int, Decision],
    *,
    window: int = WINDOW,
    in_words: bool = False,
) -> Counter[str]:
    """Return each speaker's amount of talk in the last `window` messages, the decision's own being the last.

    The agent's scripted turns and its earlier decisions, by point, count at their places; `in_words` weighs
    messages by their words.
    """
    agent = scenario_of(dialogue).agent
    messages: list[tuple[str, str]] = []
    for place, turn in enumerate(dialogue.turns[: decision.point + 1]):
        if turn.act == "message":
            messages.append((turn.speaker, turn.text))
        own = decision if place == decision.point else earlier.get(place)
        if own is not None and own.act == "message":
            messages.append((agent, own.text))
    counts: Counter[str] = Counter()
    for speaker, text in messages[-window:]:
        counts[speaker] += len(text.split()) if in_words else 1
    return counts


def share_of_talk(
    dialogue: Dialogue,
    decision: Decision,
    earlier: Mapping[int, Decision],
    *,
    window: int = WINDOW,
    in_words: bool = False,
) -> Fraction | None:
    """Return the agent's share, in [0, 1], of the last `window` messages with its decision as the last.

    None where nobody said anything.
    """
    counts = talk_until(dialogue, decision, earlier, window=window, in_words=in_words)
    total = counts.total()
    return Fraction(counts[scenario_of(dialogue).agent], total) if total else None


def evenness_of_talk(
    dialogue: Dialogue, decision: Decision, earlier: Mapping[int, Decision], *, window: int = WINDOW
) -> float | None:
    """Return the normalised speaker entropy (NSE), in [0, 1], of the last `window` messages.

    -sum p log p / log P, p a speaker's share of the messages, P the number of people present, including the
    agent: MPCEval, eq. 24, with the silent counted. None where nobody said anything.
    """
    counts = talk_until(dialogue, decision, earlier, window=window)
    present = present_at(dialogue, decision.point) | {person for person, count in counts.items() if count}
    shares = [count / counts.total() for count in counts.values() if count]
    if not shares or len(present) < 2:
        return None
    return abs(fsum(share * log(share) for share in shares)) / log(len(present))


def newcomers(dialogue: Dialogue, point: int) -> frozenset[str]:
    """Return the people who have joined up to a point without being shown the earlier turns."""
    joined: dict[str, Turn] = {
        turn.speaker: turn for turn in dialogue.turns[: point + 1] if turn.act == "join"
    }
    return frozenset(speaker for speaker, turn in joined.items() if not turn.sees_history)
