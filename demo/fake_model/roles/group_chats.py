"""Group chats: an agent that errs by stage, simulated people, judges of decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from demo.fake_model.errors import chances_of, one_chance
from demo.fake_model.requests import Request, turns
from demo.fake_model.role import QUALITY, Answer, Role, Sampler, markers, planted_value

# A group-chat agent that errs by stage.
#
# The truth is in the last turn of the chat: `{key attend=1 speak=message addressed=kit target=ana
# ground=answer}`, several ids joined by `;`; a turn without a key requires silence. `speak` lists the
# accepted acts, joined by `;`, the right one first. Its own key in an error model:
#
# stages     an object with the chance of an error at `attend`, `speak`, `address` and `ground`
#
# An ATTEND error inverts attending: a message where the agent must stay out, silence where it is meant. A
# SPEAK error, if the agent is meant, is an act that is not accepted. ADDRESS and GROUND errors, if the key
# requires either, are a wrong set or move. Every draw depends on the chat up to the point, and on the seed if
# the request has one.

STAGES = ("attend", "speak", "address", "ground")
ACTS = ("silence", "message", "reaction")
FIELDS = ("attend", "act", "addressed", "targets", "ground", "text")
_KEY = re.compile(r"\{key ([^{}]*)\}")
OTHER_MOVE = {"answer": "clarify", "clarify": "answer", "reground": "answer", "none": "answer"}
Errs = Callable[[str], bool]
"""Whether the agent errs at a stage."""


class Agent(Role):
    """Decides for a member of a CHAT, the member under YOU."""

    key = "agent"
    title = "the decision of a group-chat agent"
    own_keys = {"stages": chances_of(STAGES)}

    def recognises(self, request: Request) -> bool:
        """Whether it shows an own identity, the other members, and a chat."""
        return {"YOU", "MEMBERS", "CHAT"} <= set(request.titles)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the decision, with declarations if requested."""
        lines = request.block("CHAT") or ()
        members = _names_by_id(request.block("MEMBERS") or ())
        own = next(iter(_names_by_id((request.block("YOU") or ())[:1])), "")
        rates = sampler.errors.own.get("stages", {})
        chat = "\n".join(lines)
        outcome = decide(
            key_of(lines), lambda stage: sampler.draw(stage, chat) < rates.get(stage, 0.0), members, own
        )
        fields = [name for name in FIELDS if name in request.fields]
        return Answer({name: outcome[name] for name in fields or FIELDS})


def key_of(lines: Sequence[str]) -> dict[str, str]:
    """Return the truth in the last turn of a chat; {} if there is none."""
    chat_turns = turns(lines)
    matches = _KEY.findall(chat_turns[-1].full_text) if chat_turns else []
    return dict(part.split("=", 1) for part in matches[-1].split() if "=" in part) if matches else {}


def decide(key: Mapping[str, str], errs: Errs, members: Mapping[str, str], own: str) -> dict[str, Any]:
    """Return the agent's decision, with an error at each stage for which `errs(stage)` is true.

    `members` are the others' names by id, `own` is the agent's id.
    """
    should_attend = key.get("attend") == "1"
    if should_attend == errs("attend"):
        return _outcome("silence", False, (), (), "none", "")
    act = _act(key, errs) if should_attend else "message"
    if act == "silence":
        return _outcome(act, True, (), (), "none", "")
    targets = _split_list(key.get("target", "")) or tuple(members)[:1]
    addressed = _split_list(key.get("addressed", "")) or (own,)
    ground = key.get("ground", "answer")
    if should_attend and ("target" in key or "addressed" in key) and errs("address"):
        targets = tuple(member for member in members if member not in targets)[:1]
        addressed = tuple(member for member in [*members, own] if member not in addressed)[:1]
    if should_attend and "ground" in key and errs("ground"):
        ground = OTHER_MOVE.get(ground, "none")
    called = " and ".join(members.get(member, member) for member in targets)
    text = "👍" if act == "reaction" else f"{called}: noted."
    return _outcome(act, True, addressed, targets, ground, text)


def _act(key: Mapping[str, str], errs: Errs) -> str:
    accepted = _split_list(key.get("speak", "message"))
    if not errs("speak"):
        return accepted[0]
    return next((act for act in ACTS if act not in accepted), accepted[-1])


def _outcome(
    act: str, attend: bool, addressed: tuple[str, ...], targets: tuple[str, ...], ground: str, text: str
) -> dict[str, Any]:
    return {
        "attend": attend,
        "act": act,
        "addressed": list(addressed),
        "targets": list(targets),
        "ground": ground,
        "text": text,
    }


def _split_list(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(";") if part)


def _names_by_id(lines: Sequence[str]) -> dict[str, str]:
    """Return names by id from lines such as `ana: Ana (nurse), also called Annie`."""
    pairs = (line.partition(": ") for line in lines)
    return {pk: re.split(r" \(|, also called ", name)[0] for pk, colon, name in pairs if colon}


# A simulated participant of a live group chat: says something short, and finally chooses an option.
#
# Its own keys in an error model:
#
# silent    chance that a person says nothing
# agrees    chance that a person chooses the first option instead of a random one of all

SAYS, CHOICE = "says", "choice"
_LINES = (
    "sounds good to me",
    "hm, let me think",
    "fine, but not before noon",
    "who brings what?",
    "ok then",
    "no idea",
)


class Persona(Role):
    """Speaks as the member under PERSON in a CHAT, or answers a QUESTION with one of the OPTIONS."""

    key = "persona"
    title = "a simulated person of a group chat"
    own_keys = {"silent": one_chance, "agrees": one_chance}

    def recognises(self, request: Request) -> bool:
        """Whether it shows a person and a chat, and asks for a message or a choice."""
        return {"PERSON", "CHAT"} <= set(request.titles) and request.fields in ((SAYS,), (CHOICE,))

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the message, or the option."""
        about = "\n".join((*(request.block("PERSON") or ()), *(request.block("CHAT") or ())))
        options = request.block("OPTIONS")
        if options:
            agrees = sampler.draw("agrees", about) < sampler.errors.own.get("agrees", 1.0)
            option = options[0] if agrees else options[int(sampler.draw("option", about) * len(options))]
            return Answer({CHOICE: option})
        if sampler.draw("silent", about) < sampler.errors.own.get("silent", 0.0):
            return Answer({SAYS: ""})
        return Answer({SAYS: _LINES[int(sampler.draw("line", about) * len(_LINES))]})


class Partner(Role):
    """Talks with a person: the system message says that, or who it is."""

    key = "partner"
    title = "a partner of a person in a chat"

    def recognises(self, request: Request) -> bool:
        """Whether nothing is quoted, and the system message makes it a person in a chat."""
        role, text = (*request.messages, ("", ""))[0]
        in_chat = text.startswith("You talk with a person in a chat") or "\n\nYou are:\n- " in text
        return role == "system" and in_chat and not request.titles

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return a message."""
        about = "\n".join(text for _, text in request.messages)
        return Answer(lines=[_LINES[int(sampler.draw("line", about) * len(_LINES))]])


# Judges of a group-chat agent's decision: its conduct, its composition, its move on common ground.

DECISION, SHARED = "DECISION", "COMMON GROUND"
LEAK = "leak"
DIMENSIONS = ("face", "attribution", "repair", "fairness", "position", LEAK)
SCALE = (1, 2, 3, 4, 5)
COMPOSED = "compose"
MOVES = ("answer", "clarify", "reground")
MOVE, PRESUPPOSES = "move", "presupposes"
NOT_AT_STAKE = "na"
_ID = re.compile(r"(\S+?): ")


class ConductJudge(Role):
    """Reads `{face 3 repair 4 leak 0}` in the decision, `{face na}` for a dimension that does not apply.

    A dimension without a marker has its `{quality 4}`, else 3; without a marker for it, no leak.
    """

    key = "conduct"
    title = "dimensions of conduct of a decision, and leaks"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block DECISION, and asks for objects named after dimensions."""
        return request.shows(DECISION) and bool(requested_dimensions(request))

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return an object for each requested dimension."""
        text = decision(request)
        return Answer({name: _conduct(name, text, sampler) for name in requested_dimensions(request)})


class ComposeJudge(Role):
    """Reads `{compose 4}` in the decision, else its `{quality 4}`; 3 without one."""

    key = "compose"
    title = "a score of what a decision says"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block DECISION, and asks for a score with a reason."""
        return request.shows(DECISION) and set(request.fields) == {"score", "why"}

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the score and the reason."""
        return Answer({"score": _score_dimension(COMPOSED, decision(request), sampler), "why": "as it says"})


class GroundJudge(Role):
    """Reads `{move clarify}` and `{presupposes g1 g2}` in the decision; a text without them answers.

    `noise` of `move` is the chance of another move; sensitivity and specificity of `presupposes` apply to
    detecting that a listed fact is taken as known.
    """

    key = "ground_move"
    title = "the move of a decision on common ground, and what it presupposes"

    def recognises(self, request: Request) -> bool:
        """Whether it has a block DECISION, and asks for a move."""
        return request.shows(DECISION) and MOVE in request.fields

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the move, the facts and the reason."""
        text = decision(request)
        fact_ids = (planted_value(text, PRESUPPOSES) or "").split()
        facts = [
            fact
            for fact in listed_facts(request)
            if sampler.yes_or_no(PRESUPPOSES, f"{fact} {text}", fact in fact_ids)
        ]
        return Answer({MOVE: sampler.choose(MOVE, text, MOVES), PRESUPPOSES: facts, "why": "as it says"})


def decision(request: Request) -> str:
    """Return the text of the decision."""
    return " ".join(turn.text for turn in turns(request.block(DECISION) or ()))


def requested_dimensions(request: Request) -> list[str]:
    """Return the requested dimensions."""
    return [name for name in request.fields if name in DIMENSIONS]


def listed_facts(request: Request) -> list[str]:
    """Return the ids of the listed facts."""
    lines = (line for line in request.block(SHARED) or () if not line.startswith(" "))
    return [match[1] for line in lines if (match := _ID.match(line))]


def marker_pairs(text: str) -> Mapping[str, str]:
    """Return the pairs in a text's markers as a mapping, such as `{face 3 repair 4}`."""
    values: dict[str, str] = {}
    for words in markers(text):
        values |= dict(zip(words[::2], words[1::2], strict=False))
    return values


def _conduct(name: str, text: str, sampler: Sampler) -> dict[str, Any]:
    planted = marker_pairs(text).get(name, "")
    if name == LEAK:
        return {LEAK: int(sampler.yes_or_no(LEAK, text, planted == "1")), "why": "as it says"}
    if planted == NOT_AT_STAKE:
        return {"score": None, "turns": [], "why": "it is not at stake"}
    return {"score": _score_dimension(name, text, sampler), "turns": [], "why": "as it says"}


def _score_dimension(name: str, text: str, sampler: Sampler) -> int:
    """Return a score around the true value: the marker for the question, else the quality, else 3."""
    planted = marker_pairs(text)
    value = next((planted[key] for key in (name, QUALITY) if planted.get(key, "").isdecimal()), "3")
    return sampler.score(name, text, SCALE, float(min(max(int(value), 1), 5) - 1))
