"""Facts of a session: those that its turns plant as `{fact Ben | roommate | Cara}`, with mistakes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from demo.fake_model.mind import Mind
from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.own_keys import one_chance

MISSES, CORRUPTS, INVENTS = "misses", "corrupts", "invents"
SOMEBODY = "Somebody Else"
Names = Sequence[str]
"""The names that somebody goes by, the own one first."""
_FACT = re.compile(r"\{fact ([^{}|]+)\|([^{}|]+)\|([^{}|]+)\}")


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact, and the number of the turn that says it."""

    head: str
    relation: str
    tail: str
    turn: int


class FactWriter(Role):
    """Writes down the planted facts of a SESSION.

    Mistakes, each with a chance: `misses` leaves a planted fact out, `corrupts` gives one that is written
    another tail, `invents` adds a fact that no turn says (drawn per session). All draws are of the session.
    """

    key = "fact_writer"
    title = "the facts that a session tells"
    own_keys = dict.fromkeys((MISSES, CORRUPTS, INVENTS), one_chance)

    def recognises(self, request: Request) -> bool:
        """People, relations, and a session."""
        return {"PEOPLE", "RELATIONS", "SESSION"} <= set(request.titles)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the facts."""
        people = [line.replace(", also called ", ", ").split(", ") for line in request.block("PEOPLE") or ()]
        relations = [line.partition(":")[0] for line in request.block("RELATIONS") or ()]
        text = "\n".join(request.block("SESSION") or ())
        facts = written(planted(request), text, people, relations, mind)
        return Answer({"facts": [{name: getattr(fact, name) for name in fact.__slots__} for fact in facts]})


def planted(request: Request) -> list[Planted]:
    """Return the facts that the turns of a session plant, in their order."""
    return [
        Planted(head.strip(), relation.strip(), tail.strip(), said.number or 0)
        for said in request.numbered("SESSION")
        for head, relation, tail in _FACT.findall(said.whole)
    ]


def written(
    facts: Sequence[Planted], text: str, people: Sequence[Names], relations: Sequence[str], mind: Mind
) -> list[Planted]:
    """Return what is written down of the planted facts of a session with this text."""
    kept = [_told(fact, text, people, mind) for fact in facts if not misses(fact, text, mind)]
    if invents(text, mind) and people and relations:
        kept.append(Planted(people[0][0], relations[0], SOMEBODY, 1))
    return kept


def misses(fact: Planted, text: str, mind: Mind) -> bool:
    """Whether a planted fact of a session is left out."""
    return _errs(MISSES, f"{fact}\n{text}", mind)


def corrupts(fact: Planted, text: str, mind: Mind) -> bool:
    """Whether a fact that is written down gets another tail."""
    return _errs(CORRUPTS, f"{fact}\n{text}", mind)


def invents(text: str, mind: Mind) -> bool:
    """Whether a fact is added that a session does not tell."""
    return _errs(INVENTS, text, mind)


def _told(fact: Planted, text: str, people: Sequence[Names], mind: Mind) -> Planted:
    if not corrupts(fact, text, mind):
        return fact
    others = [names[0] for names in people if not {fact.head, fact.tail} & set(names)] or [SOMEBODY]
    which = others[int(mind.draw("which", f"{fact}\n{text}") * len(others))]
    return Planted(fact.head, fact.relation, which, fact.turn)


def _errs(what: str, text: str, mind: Mind) -> bool:
    return mind.draw(what, text) < mind.errors.own.get(what, 0.0)
