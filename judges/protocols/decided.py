"""What raters of an agent's decisions see, and which decisions they are asked about.

A decision is asked about where it reaches the stage that a protocol judges (`group_chat.md`, section 5): one
that failed before it, or that says nothing, is not. The variant `judge_void` asks about every message at a
point that is scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from annotation.records import Turn
from annotation.scenarios.cascade import outcome
from annotation.scenarios.decisions import decision_of, decisions_of
from annotation.scenarios.points import key_at, listeners_at, scenario_of, seen_by
from annotation.scenarios.records import DIMENSIONS, UNPARSEABLE, Decision, Fact, Key, Secret
from judges.protocols.base import Case
from judges.protocols.quoting import Seen, quote
from judges.protocols.wording import Variable

REACHED, JUDGE_VOID = "", "judge_void"
VARIANTS = (REACHED, JUDGE_VOID)
NO_SCENARIO = "the dialogue is no scenario"
UNREAD = "the reply could not be read"
FREE = "anything goes at this point"
SAYS_NOTHING = {"silence": "nothing was said", "reaction": "a reaction says nothing"}
NOT_ASKED = "not asked here"
CHAT = Variable("chat", "the turns of the chat up to the decision", required=True)
DECISION = Variable("decision", "the decision that is judged", required=True)
LISTENERS = Variable("listeners", "who sees the decision")
FIELDS = Variable("fields", "the form of the reply", required=True)


def decision_in(case: Case) -> Decision:
    """Return the decision that a case is about."""
    assert case.turn is not None
    return decision_of(case.continuation.turns[case.turn], case.continuation.condition)


def key_of(case: Case) -> Key:
    """Return the key of the point at which it was made."""
    return key_at(scenario_of(case.dialogue), decision_in(case).point)


def refusal_at(case: Case, stage: str, variant: str) -> str:
    """Return why nobody is asked about a decision's stage, '' where somebody is."""
    if case.dialogue.scenario is None:
        return NO_SCENARIO
    decision = decision_in(case)
    if UNPARSEABLE in decision.flags:
        return UNREAD
    if decision.act in SAYS_NOTHING:
        return SAYS_NOTHING[decision.act]
    if key_of(case).free:
        return FREE
    if variant == JUDGE_VOID:
        return ""
    made = decisions_of(case.continuation).items()
    earlier = {at: one for at, (_, one) in made if at < decision.point}
    found = outcome(case.dialogue, decision, earlier=earlier).stages[stage]
    return "" if found.state in ("scored", "pending") else found.why


def dimensions_of(case: Case) -> tuple[str, ...]:
    """Return the dimensions of conduct that are asked: those of the key, all where it names none."""
    named = key_of(case).conduct
    return tuple(one for one in DIMENSIONS if one in named) or DIMENSIONS


def whole_chat(seen: Seen) -> tuple[Turn, ...]:
    """Return all turns up to the decision, private ones among them."""
    return seen.before()


def agents_chat(case: Case) -> tuple[Turn, ...]:
    """Return the turns up to the decision that the agent saw."""
    return seen_by(case.dialogue, decision_in(case).point, scenario_of(case.dialogue).agent)


def decision_block(seen: Seen, chat: Sequence[Turn], mark: str = "") -> str:
    """Return the decision, quoted."""
    return quote("DECISION", seen.response(chat, mark))


def listeners_block(case: Case, seen: Seen) -> str:
    """Return who sees the decision, quoted."""
    heard = listeners_at(case.dialogue, decision_in(case).point)
    there = [person.id for person in case.dialogue.participants if person.id in heard]
    return quote("WHO SEES IT", [seen.names.of(each) for each in there])


def secrets_block(case: Case, seen: Seen) -> str:
    """Return the secrets that there are by then, quoted, each with who may know it."""
    known = scenario_of(case.dialogue).secrets
    return quote("SECRETS", [_told(one, one.text, seen) for one in known if _there(one, case)])


def facts_at(case: Case) -> tuple[Fact, ...]:
    """Return the facts of the common ground that there are by then."""
    return tuple(one for one in scenario_of(case.dialogue).common_ground if _there(one, case))


def shared_block(case: Case, seen: Seen) -> str:
    """Return these facts, quoted, each with its id and who knows it."""
    return quote("COMMON GROUND", [_told(one, one.fact, seen) for one in facts_at(case)])


def shown_id(fact: Fact, seen: Seen) -> str:
    """Return a fact's id as it is shown."""
    return seen.view.line(fact.id)


def in_words(names: Iterable[str]) -> str:
    """Return names as a list in a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _there(one: Secret | Fact, case: Case) -> bool:
    return one.since <= decision_in(case).point


def _told(one: Secret | Fact, text: str, seen: Seen) -> str:
    people = in_words([seen.names.of(each) for each in one.known_to] or ["nobody"])
    first, *rest = seen.view.about(text).split("\n")
    lines = [f"{seen.view.line(one.id)}: {first}", *(f"      {line}" for line in rest)]
    return "\n".join([*lines[:-1], f"{lines[-1]} (known to {people})"])
