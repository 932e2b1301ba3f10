"""Baseline agents: some use only the surface of the talk; the oracle plays the key."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation.records import Dialogue
from annotation.scenario_records import ACTS, Act, Decision, Key, Mode, SetCondition
from annotation.text.words import mentioned
from suites.group_chat.scenarios.points import key_at, others_at, points_of, scenario_of

FIXED = "Happy to help with that."
"""Message of the agents that always say the same."""
AUTHOR, AGENT, ALL, NOBODY = "the author", "the agent", "all", "nobody"


class Place(NamedTuple):
    """A point of a scenario from an agent's perspective."""

    dialogue: Dialogue
    point: int
    key: Key

    @property
    def author(self) -> str:
        """Author of the turn that made the point."""
        return self.dialogue.turns[self.point].speaker

    @property
    def agent(self) -> str:
        """Id of the agent."""
        return scenario_of(self.dialogue).agent


@dataclass(frozen=True)
class Learnt:
    """Frequencies of the expected answers of some scenarios' keys: act, attend, addressed, target, move.

    Sets are counted by relation to the point: its author, the agent, all others, nobody, somebody else.
    """

    counts: Mapping[str, Counter[str]] = field(default_factory=dict)

    def most(self, question: str, default: str) -> str:
        """Return the most frequent value, the first in the alphabet among equals."""
        frequencies = self.counts.get(question) or Counter({default: 1})
        return min(frequencies, key=lambda value: (-frequencies[value], value))

    def sample(self, question: str, default: str, source: random.Random) -> str:
        """Return a value drawn with its frequency."""
        frequencies = self.counts.get(question) or Counter({default: 1})
        values = sorted(frequencies)
        return source.choices(values, [frequencies[value] for value in values])[0]


Play = Callable[[Place, Learnt, Mode, random.Random], Decision]


@dataclass(frozen=True)
class Agent:
    """A baseline: its key is its system's name; one that `learns` needs the keys of other scenarios."""

    key: str
    title: str
    play: Play
    learns: bool = False
    varies: bool = False


def learn(dialogues: Iterable[Dialogue]) -> Learnt:
    """Return the frequencies of the expected answers at the scored points of scenarios."""
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("act", "attend", "addressed", "target", "move")
    }
    for dialogue in dialogues:
        for point in points_of(dialogue):
            place = Place(dialogue, point, key_at(scenario_of(dialogue), point))
            if place.key.free:
                continue
            counts["act"][best_act(place.key)] += 1
            counts["attend"][str(place.key.attend)] += 1
            for name, condition in (("addressed", place.key.addressed), ("target", place.key.target)):
                if condition is not None:
                    counts[name][_relation_to_point(place, _meeting(place, condition, name))] += 1
            if place.key.ground:
                counts["move"][_best_move(place.key)] += 1
    return Learnt(counts)


def decide(
    agent: Agent,
    dialogue: Dialogue,
    *,
    mode: Mode = "explicit",
    learnt: Learnt | None = None,
    seed: int = 0,
    trial: int = 0,
) -> tuple[Decision, ...]:
    """Return a baseline's decisions at every point of a scenario, in order.

    Draws are seeded with (seed, scenario, point, trial), so that they are reproducible everywhere.
    """
    decisions = []
    for point in points_of(dialogue):
        place = Place(dialogue, point, key_at(scenario_of(dialogue), point))
        source = random.Random(f"{seed}/{dialogue.id}/{point}/{trial}")
        decisions.append(agent.play(place, learnt or Learnt(), mode, source))
    return tuple(decisions)


def best_act(key: Key) -> Act:
    """Return the best act of a key: of equals silence, unless the key has requirements of a message."""
    top = max(key.speak.values(), default=0.0)
    best = [act for act in ACTS if key.speak.get(act, 0.0) == top]
    says = bool(key.example or key.must or key.ground or key.conduct or key.rubric)
    if "message" in best and (says or "silence" not in best):
        return "message"
    return "silence" if "silence" in best else "reaction"


def make_decision(place: Place, mode: Mode, act: Act, **declared: Any) -> Decision:
    """Return a decision at a place; its declarations are kept in explicit mode only."""
    text = declared.pop("text", FIXED if act == "message" else "👍" if act == "reaction" else "")
    if mode == "implicit":
        return Decision(place.point, act, text, mode)
    silent = act == "silence"
    return Decision(
        point=place.point,
        act=act,
        text=text,
        mode=mode,
        attend=declared.get("attend", not silent),
        addressed=declared.get("addressed", () if silent else (place.agent,)),
        targets=() if silent else declared.get("targets", (place.author,)),
        ground=declared.get("ground", "none" if silent else "answer"),
    )


def _silent(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    return make_decision(place, mode, "silence")


def _speak(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    return make_decision(place, mode, "message")


def _mention(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    own = [person for person in place.dialogue.participants if person.id == place.agent]
    mentions = mentioned(place.dialogue.turns[place.point].text, own)
    return make_decision(place, mode, "message" if mentions else "silence")


def _majority(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    return _by(place, mode, learnt.most, attend=learnt.most("attend", "0") == "1")


def _random(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    return _by(place, mode, lambda question, default: learnt.sample(question, default, source))


def _by(place: Place, mode: Mode, choose: Callable[[str, str], str], attend: bool | None = None) -> Decision:
    """Choose each answer of a decision separately; with `attend` None it attends where it acts."""
    act = _act(choose("act", "silence"))
    addressed = _ids(place, choose("addressed", AGENT), place.author)
    targets = _ids(place, choose("target", AUTHOR), place.agent)
    ground = choose("move", "answer")
    declared = {} if attend is None else {"attend": attend}
    return make_decision(place, mode, act, addressed=addressed, targets=targets, ground=ground, **declared)


def _act(name: str) -> Act:
    return "message" if name == "message" else "reaction" if name == "reaction" else "silence"


def _oracle(place: Place, learnt: Learnt, mode: Mode, source: random.Random) -> Decision:
    """Play the key: its act, sets and move, with its example or its required contents."""
    key = place.key
    if key.free:
        return make_decision(place, mode, "silence")
    act = best_act(key)
    return make_decision(
        place,
        mode,
        act,
        attend=bool(key.attend),
        addressed=_meeting(place, key.addressed, "addressed") if key.addressed else (),
        targets=_meeting(place, key.target, "target") if key.target else (place.author,),
        ground=_best_move(key) if key.ground else "answer",
        **({"text": key.example or _must(place)} if act == "message" else {}),
    )


def _must(place: Place) -> str:
    return ". ".join(alternatives[0] for alternatives in place.key.must) or FIXED


def _best_move(key: Key) -> str:
    assert key.ground
    return max(key.ground, key=lambda move: key.ground[move])  # type: ignore[index]


def _meeting(place: Place, condition: SetCondition, name: str) -> tuple[str, ...]:
    """Return a set that meets a condition, sorted: its first set, and of `contains_any` the first id."""
    excluded = place.author if name == "addressed" else place.agent
    resolved = condition.resolved(others_at(place.dialogue, place.point, excluded))[0]
    ids = tuple(sorted(resolved))
    return ids[:1] if condition.how == "contains_any" else ids


def _relation_to_point(place: Place, ids: tuple[str, ...]) -> str:
    """Return the relation of a set of ids to a point: author, agent, all, somebody else or nobody."""
    if not ids:
        return NOBODY
    if ids == (place.author,):
        return AUTHOR
    if ids == (place.agent,):
        return AGENT
    return ALL if len(ids) > 1 else "somebody else"


def _ids(place: Place, relation: str, without: str) -> tuple[str, ...]:
    everybody = others_at(place.dialogue, place.point, without)
    others = sorted(everybody - {place.author, place.agent})
    return {
        AUTHOR: (place.author,),
        AGENT: (place.agent,),
        ALL: tuple(sorted(everybody)),
        NOBODY: (),
    }.get(relation, tuple(others[:1]))


ALWAYS_SILENT = Agent("always_silent", "Always silent", _silent)
ALWAYS_SPEAK = Agent("always_speak", "Always speaks, to the last author", _speak)
RANDOM = Agent("random", "Acts and moves with the keys' frequencies", _random, learns=True, varies=True)
MAJORITY = Agent("majority", "The keys' most frequent answer of each stage", _majority, learns=True)
MENTION_RULE = Agent("mention_rule", "Speaks where it is named in the last message", _mention)
ORACLE = Agent("oracle", "Plays the key", _oracle)

AGENTS: dict[str, Agent] = {
    agent.key: agent for agent in (ALWAYS_SILENT, ALWAYS_SPEAK, RANDOM, MAJORITY, MENTION_RULE, ORACLE)
}
"""Baselines in the order of tables."""
