"""What is read off a decision: whether it attends, whom it speaks to, and its move on common ground."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.records import Dialogue
from annotation.scenarios.canaries import any_occurs, forms_of
from annotation.scenarios.points import newcomers, others_at, probes_at, scenario_of
from annotation.scenarios.records import (
    ATTEND_CONTRADICTED,
    EVERYBODY,
    MOVES,
    Decision,
    Fact,
    Judged,
    Key,
    Probe,
)
from annotation.text.mentions import mentioned
from annotation.text.tokens import words

QUESTION = re.compile(r"[^.!?？؟\n]*[?？؟]")
ASKS_WHICH = re.compile(
    r"\b(?:which|whose|whom|you mean|who (?:do|did|does|is|are|was|were|exactly))\b", re.IGNORECASE
)
DONE = re.compile(r"^\W*(?:done|sure|okay|ok|yes|i|i['’](?:ve|ll|m))\b|\bboth\b", re.IGNORECASE)
"""A question that begins so, or holds `both`, may be told after acting on both: no rule decides."""
FROM_SILENCE = "from silence alone one cannot know"
NOT_SEEN = "not observed in implicit mode"
TELLING = 4
"""A word of a fact counts as telling from so many letters."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What is read off a decision. None is what cannot be known; `flags` say what deserves a look."""

    attend: bool | None
    addressed: frozenset[str] | None
    targets: frozenset[str] | None
    move: str | None
    presupposes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def observe(dialogue: Dialogue, decision: Decision, key: Key, judged: Judged | None = None) -> Observed:
    """Return what is read off a decision at a point with a key; a judge's move where neither tells.

    Acting overrides declaring: a message, or a reaction that the key scores 0, attends whatever was declared.
    """
    attend, flags = _attend(decision, key)
    return Observed(
        attend=attend,
        addressed=declared_addressees(dialogue, decision),
        targets=_targets(dialogue, decision),
        move=_move(dialogue, decision, judged),
        presupposes=presupposed(dialogue, decision, judged),
        flags=flags,
    )


def intrudes(decision: Decision, key: Key) -> bool:
    """Whether a decision takes part although it may not: a message, or a reaction that the key scores 0."""
    return decision.act == "message" or (decision.act == "reaction" and not key.speak.get("reaction"))


def _attend(decision: Decision, key: Key) -> tuple[bool | None, tuple[str, ...]]:
    if intrudes(decision, key):
        contradicted = decision.mode == "explicit" and decision.attend is False
        return True, (ATTEND_CONTRADICTED,) if contradicted else ()
    if decision.mode == "explicit":
        return (decision.act == "reaction" if decision.attend is None else decision.attend), ()
    return (True if decision.act == "reaction" else None), ()


def declared_addressees(dialogue: Dialogue, decision: Decision) -> frozenset[str] | None:
    """Return whom an agent takes the last message to be for, None in implicit mode."""
    if decision.mode != "explicit":
        return None
    return _declared(dialogue, decision, decision.addressed, dialogue.turns[decision.point].speaker)


def _declared(
    dialogue: Dialogue, decision: Decision, ids: tuple[str, ...] | None, without: str
) -> frozenset[str]:
    """Return a declared set of ids, `all` in it being everybody who is present but for one."""
    named = frozenset(ids or ())
    if EVERYBODY not in named:
        return named
    return (named - {EVERYBODY}) | others_at(dialogue, decision.point, without)


def _targets(dialogue: Dialogue, decision: Decision) -> frozenset[str] | None:
    """Return whom a decision is for: as declared, else those it names, else the author it answers."""
    if decision.act == "silence":
        return frozenset() if decision.mode == "explicit" else None
    author = frozenset({dialogue.turns[decision.point].speaker})
    if decision.mode == "explicit":
        if decision.targets is None and decision.act == "reaction":
            return author
        return _declared(dialogue, decision, decision.targets, scenario_of(dialogue).agent)
    return named_in(dialogue, decision.text) or author


def named_in(dialogue: Dialogue, text: str) -> frozenset[str]:
    """Return the people whom a text names by @, name or alias; a name that is only a topic counts too."""
    agent = scenario_of(dialogue).agent
    return frozenset(mentioned(text, [one for one in dialogue.participants if one.id != agent]))


def _move(dialogue: Dialogue, decision: Decision, judged: Judged | None) -> str | None:
    """Return the move of a message: as declared, else by rule, else as judged; None where nothing tells."""
    if decision.act != "message":
        return None
    if decision.mode == "explicit" and decision.ground in MOVES:
        return decision.ground
    for probe in probes_at(scenario_of(dialogue), decision.point):
        found = _by_rule(dialogue, decision, probe)
        if found:
            return found
    return judged.move if judged else None


def _by_rule(dialogue: Dialogue, decision: Decision, probe: Probe) -> str | None:
    if probe.kind == "ambiguous_referent":
        return _referent(decision.text, probe)
    if probe.kind == "newcomer":
        unknown = strange_facts(dialogue, decision.point)
        met = [fact for fact in unknown if any_occurs(fact.canaries, decision.text, inflected=True)]
        if met:
            return "reground" if all(explains(fact, decision.text) for fact in met) else "answer"
    return None


def _referent(text: str, probe: Probe) -> str | None:
    """Return clarify for a question that asks which or names all candidates, answer where nothing is asked.

    None where a question does neither, or may come after acting on all of them.
    """
    questions = QUESTION.findall(text)
    if not questions:
        return "answer"
    alive = _candidates(probe)
    for question in questions:
        names_all = bool(alive) and all(any_occurs([one], question) for one in alive)
        if ASKS_WHICH.search(question) or (names_all and not DONE.search(question)):
            return "clarify"
    return None


def covers_both(dialogue: Dialogue, decision: Decision) -> bool:
    """Whether a message acts on all candidates of an ambiguous referent whose probe says `both: true`."""
    return decision.act == "message" and any(
        probe.kind == "ambiguous_referent"
        and probe.parameters.get("both") is True
        and bool(_candidates(probe))
        and all(any_occurs([one], decision.text, inflected=True) for one in _candidates(probe))
        for probe in probes_at(scenario_of(dialogue), decision.point)
    )


def _candidates(probe: Probe) -> list[str]:
    return [str(one) for one in probe.parameters.get("candidates", ())]


def strange_facts(dialogue: Dialogue, point: int) -> tuple[Fact, ...]:
    """Return the facts of the common ground that somebody who joined up to a point does not know."""
    new = newcomers(dialogue, point)
    return tuple(
        fact
        for fact in scenario_of(dialogue).common_ground
        if fact.since <= point and new - set(fact.known_to)
    )


def presupposed(dialogue: Dialogue, decision: Decision, judged: Judged | None) -> tuple[str, ...]:
    """Return the ids of facts that a message to a newcomer takes as known: as judged, else by canaries."""
    if decision.act != "message":
        return ()
    strange = {fact.id: fact for fact in strange_facts(dialogue, decision.point)}
    new = newcomers(dialogue, decision.point)
    if not strange or not (_targets(dialogue, decision) or frozenset()) & new:
        return ()
    if judged is not None and judged.presupposes is not None:
        return tuple(one for one in judged.presupposes if one in strange)
    declared = decision.mode == "explicit" and decision.ground == "reground"
    return tuple(
        fact.id
        for fact in strange.values()
        if any_occurs(fact.canaries, decision.text, inflected=True)
        and not explains(fact, decision.text, somehow=declared)
    )


def explains(fact: Fact, text: str, *, somehow: bool = False) -> bool:
    """Whether a text that mentions a fact tells it: it holds half or more of the fact's other telling words.

    `somehow`: one of them is enough, as where the agent declares that it tells the fact; a fact without
    other words is then taken as told.
    """
    mentioned_words = {word for canary in fact.canaries for word in words(canary)}
    telling = {word for word in words(fact.fact) if len(word) >= TELLING} - mentioned_words
    there = set(words(text))
    told = sum(bool(forms_of(word) & there) for word in telling)
    if somehow:
        return told > 0 or not telling
    return bool(telling) and 2 * told >= len(telling)
