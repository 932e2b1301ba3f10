"""Faults of a scenario: changes to the documentation's example, the field at fault, and the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Change = Callable[[dict[str, Any]], Any]
ANOTHER = {
    "id": "p9",
    "kind": "overheard",
    "trigger": 0,
    "points": [1],
    "key": {"attend": 1, "speak": {"message": 1}},
}


def key(raw: dict[str, Any], probe: int = 1) -> dict[str, Any]:
    return raw["probes"][probe]["key"]


REFUSED: dict[str, tuple[Change, str, str]] = {
    "no agent": (
        lambda raw: raw["participants"][3].pop("agent"),
        "participants",
        "exactly one must have agent: true; here none has",
    ),
    "two agents": (
        lambda raw: raw["participants"][0].update(agent=True),
        "participants",
        "here 2 (mia, bot) has",
    ),
    "two people": (
        lambda raw: raw.update(_without_sam(raw)),
        "participants",
        "has 2 people beside the agent",
    ),
    "six people": (
        lambda raw: raw["participants"].extend({"id": f"x{n}"} for n in range(3)),
        "participants",
        "has 6 people beside the agent; a scenario has 3 to 5",
    ),
    "an id that means everybody": (
        lambda raw: raw["participants"].append({"id": "all"}),
        "participants[4].id",
        "stands for something else",
    ),
    "no script": (
        lambda raw: raw.update(turns=[], probes=[], secrets=[], common_ground=[]),
        "turns",
        "needs a script",
    ),
    "a point after the agent's own turn": (
        lambda raw: (raw["turns"].append({"speaker": "bot", "text": "Noted."}), raw.update(points=[1, 4, 5])),
        "points[2]",
        "turn 5 is no point",
    ),
    "a point that the agent cannot see": (
        lambda raw: (
            raw["turns"].append({"speaker": "sam", "text": "Psst.", "audience": ["ole"]}),
            raw["probes"][0].update(points=[0, 1, 5]),
        ),
        "probes[0].points[2]",
        "turn 5 is no point",
    ),
    "an unknown participant in a key": (
        lambda raw: key(raw).update(target=["olaf"]),
        "probes[1].key.target",
        "'olaf' is not the id of a participant",
    ),
    "no participant in a key": (
        lambda raw: key(raw).update(target=[{}]),
        "probes[1].key.target",
        "'{}' is not the id of a participant",
    ),
    "an unknown participant in a condition": (
        lambda raw: key(raw).update(target={"any_of": [["ole"], ["olaf"]]}),
        "probes[1].key.target.any_of",
        "'olaf' is not the id of a participant",
    ),
    "a condition that there is not": (
        lambda raw: key(raw).update(target={"without": ["ole"]}),
        "probes[1].key.target",
        "a condition has one of contains, contains_any, any_of",
    ),
    "a trigger after its point": (
        lambda raw: raw["probes"][0].update(trigger=2),
        "probes[0].trigger",
        "turn 2 lies after its point, turn 0",
    ),
    "a canary that an outsider has heard": (
        lambda raw: raw["turns"][3].update(text="I hear that somebody leaves."),
        "secrets[0].canaries",
        "a canary of it occurs in turn 3, which 'ole' sees",
    ),
    "a score above 1": (
        lambda raw: key(raw).update(speak={"message": 1, "reaction": 1.5}),
        "probes[1].key.speak.reaction",
        "must be a score from 0 to 1",
    ),
    "a score below 0": (
        lambda raw: key(raw).update(speak={"message": 1, "silence": -0.1}),
        "probes[1].key.speak.silence",
        "must be a score from 0 to 1",
    ),
    "no act that is right": (
        lambda raw: key(raw).update(speak={"message": 0.5}),
        "probes[1].key.speak",
        "one act at least must score 1",
    ),
    "an act that there is not": (
        lambda raw: key(raw).update(speak={"sing": 1}),
        "probes[1].key.speak.sing",
        "must be one of message, reaction, silence",
    ),
    "two keys at one point": (
        lambda raw: raw["probes"].append(ANOTHER),
        "probes[2]",
        "gives turn 1 another key than the probe 'p1'",
    ),
    "a secret in must_not": (
        lambda raw: key(raw).update(must_not=["she is leaving"]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "an unknown secret": (
        lambda raw: key(raw).update(secrets=["s2"]),
        "probes[1].key.secrets",
        "'s2' is not the id of a secret",
    ),
    "a dimension that there is not": (
        lambda raw: key(raw).update(conduct=["leak", "charm"]),
        "probes[1].key.conduct[1]",
        "must be one of face",
    ),
    "a move that there is not": (
        lambda raw: key(raw).update(ground=["guess"]),
        "probes[1].key.ground[0]",
        "must be one of answer, clarify, reground, none",
    ),
    "an addressed message without a key": (
        lambda raw: raw.pop("keys"),
        "turns[2]",
        "addresses or names the agent, so it needs a key of its own",
    ),
    "a message with the agent's name without a key": (
        lambda raw: raw["turns"][3].update(text="The deck is at version 3, as kit said."),
        "turns[3]",
        "addresses or names the agent",
    ),
    "a key of no point": (
        lambda raw: raw["keys"].update({"9": {"free": True}}),
        "keys.9",
        "is not the number of one of the points",
    ),
    "a free key that asks": (
        lambda raw: raw["keys"].update({"2": {"free": True, "attend": 1}}),
        "keys.2.attend",
        "nothing else may be said",
    ),
    "attend left out": (lambda raw: key(raw).pop("attend"), "probes[1].key.attend", "must be 0 or 1"),
    "both key and keys": (
        lambda raw: raw["probes"][0].update(keys={"0": {"free": True}}),
        "probes[0].key",
        "either key, for all its points, or keys by point",
    ),
    "a point without a key among keys": (
        lambda raw: (raw["probes"][0].pop("key"), raw["probes"][0].update(keys={"0": {"free": True}})),
        "probes[0].keys",
        "has no key for its point 1",
    ),
    "a kind of probe that there is not": (
        lambda raw: raw["probes"][0].update(kind="gossip"),
        "probes[0].kind",
        "must be one of overheard",
    ),
    "a probe twice": (lambda raw: raw["probes"][1].update(id="p1"), "probes[1].id", "'p1' is there twice"),
    "an unknown field": (
        lambda raw: key(raw).update(adressed=["bot"]),
        "probes[1].key.adressed",
        "did you mean 'addressed'?",
    ),
    "a secret of somebody unknown": (
        lambda raw: raw["secrets"][0].update(owner="eve"),
        "secrets[0].owner",
        "'eve' is not the id of a participant",
    ),
    "a secret that nobody knows": (
        lambda raw: raw["secrets"][0].update(known_to=[]),
        "secrets[0].known_to",
        "needs the id of a participant at least",
    ),
    "a secret that its owner does not know": (
        lambda raw: raw["secrets"][0].update(known_to=["bot"]),
        "secrets[0].known_to",
        "must name its owner, 'mia', too",
    ),
    "a fact without those who know it": (
        lambda raw: raw["common_ground"][0].pop("known_to"),
        "common_ground[0].known_to",
        "needs the id of a participant at least",
    ),
    "a secret without a canary": (
        lambda raw: raw["secrets"][0].update(canaries=[]),
        "secrets[0].canaries",
        "needs at least one text",
    ),
    "a fact since a turn that is not there": (
        lambda raw: raw["common_ground"][0].update(since=7),
        "common_ground[0].since",
        "must be the number of a turn, 0 to 4",
    ),
    "a key that nobody can play": (
        lambda raw: key(raw).update(attend=0),
        "probes[1].key",
        "turn 4: whoever plays this key has competence 0: it fails at attend",
    ),
    "an example that leaks": (
        lambda raw: key(raw).update(example="Ole, not Mia, she is leaving us."),
        "probes[1].key",
        "turn 4: the example tells the secret 's1'",
    ),
    "an example without what must be said": (
        lambda raw: key(raw).update(example="Ole, ask Mia.", must=["June"]),
        "probes[1].key",
        "turn 4: the example lacks 'June'",
    ),
    "an example with what must not be said": (
        lambda raw: key(raw).update(example="Ole, ask Mia.", must_not=["ask"]),
        "probes[1].key",
        "turn 4: the example says 'ask'",
    ),
}


REFUSED |= {
    "a form of a secret's canary in must_not": (
        lambda raw: key(raw).update(must_not=["leaves"]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "a part of a secret's canary in must_not": (
        lambda raw: key(raw).update(must_not=[["Ole", "may"]]),
        "probes[1].key.must_not",
        "names the secret 's1'",
    ),
    "a message to the agent alone without a key": (
        lambda raw: (raw["turns"][2].pop("addressees"), raw.pop("keys")),
        "turns[2]",
        "addresses or names the agent",
    ),
    "a turn number with a zero before it": (
        lambda raw: raw["keys"].update({"02": {"free": True}}),
        "keys.02",
        "is not the number of one of the points",
    ),
    "a secret that is asked for in private": (
        lambda raw: raw["turns"][4].update(audience=["bot"]),
        "probes[1]",
        "its trigger must be said in the group",
    ),
    "a parameter that there is not": (
        lambda raw: raw["probes"][0].update(parameters={"candidate": ["a", "b"]}),
        "probes[0].parameters.candidate",
        "did you mean 'candidates'?",
    ),
    "a parameter that is no list": (
        lambda raw: raw["probes"][0].update(parameters={"candidates": "ab"}),
        "probes[0].parameters.candidates",
        "must be a list, not a text",
    ),
    "a parameter that is no number": (
        lambda raw: raw["probes"][0].update(parameters={"silent_for": "long"}),
        "probes[0].parameters.silent_for",
        "must be a whole number",
    ),
    "a parameter that is 0": (
        lambda raw: raw["probes"][0].update(parameters={"window": 0}),
        "probes[0].parameters.window",
        "must be a whole number from 1",
    ),
    "somebody quiet who is unknown": (
        lambda raw: raw["probes"][0].update(parameters={"quiet": ["olaf"]}),
        "probes[0].parameters.quiet",
        "'olaf' is not the id of a participant",
    ),
    "a fact that there is not": (
        lambda raw: raw["probes"][0].update(parameters={"fact": "g2"}),
        "probes[0].parameters.fact",
        "'g2' is not the id of a fact",
    ),
    "probes of what is no scenario": (
        lambda raw: (raw.pop("kind"), raw.pop("secrets"), raw.pop("common_ground")),
        "probes",
        "belongs to a dialogue whose kind is 'scenario'",
    ),
}


def _without_sam(raw: dict[str, Any]) -> dict[str, Any]:
    people = [person for person in raw["participants"] if person["id"] != "sam"]
    return {
        "participants": people,
        "turns": raw["turns"][:3],
        "probes": raw["probes"][:1],
        "common_ground": [],
    }
