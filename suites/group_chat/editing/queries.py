"""Reading a corpus's scenarios: all of them, one turn by turn, and as the native format writes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.db.models import Count, ForeignKey, ManyToOneRel, Model, QuerySet

from annotation import records
from annotation.corpora.rows import head_json, turn_json
from annotation.models import Continuation, Corpus, Dialogue, Item, Turn
from annotation.records import SELF, Participant
from annotation.scenario_records import Decision, Probe, key_json, native_scenario
from annotation.text.context import Happening, Names, happening
from annotation.text.views import Blind
from suites.group_chat.editing.answer_keys import of_corpus, scenarios
from suites.group_chat.scenario_text import write_flow as flow
from suites.group_chat.scenario_text import write_script
from suites.group_chat.scenarios.agents import ORACLE, decide
from suites.group_chat.scenarios.points import key_at, points_of, positions_seen, probes_at, scenario_of
from suites.group_chat.scenarios.probes import Summary, oracle_problems, summary

# A scenario as the native format writes it: its script with its own fields, without what systems wrote.


def native(dialogue: records.Dialogue) -> dict[str, Any]:
    """Return a scenario as a line of the native format, which an import reads as the same scenario."""
    fields = {
        **head_json(dialogue),
        "turns": [turn_json(turn) for turn in dialogue.turns],
        **native_scenario(dialogue.scenario),
    }
    return {name: value for name, value in fields.items() if value or name == "points"}


# What pages, commands and the API read of a corpus's scenarios.


class Row(NamedTuple):
    """A stored scenario in numbers; `decided` is how many static continuations answer its points."""

    dialogue: Dialogue
    summary: Summary
    decided: int


def rows(corpus: Corpus) -> list[Row]:
    """Return the scenarios of a corpus in the order of their ids, each checked by the oracle."""
    stored = of_corpus(corpus)
    by_id = scenarios(stored)
    static = Continuation.objects.filter(dialogue__in=by_id, mode=Continuation.Mode.STATIC).order_by()
    decided = dict(static.values("dialogue").annotate(n=Count("pk")).values_list("dialogue", "n"))
    return [Row(row, summary(by_id[row.pk]), decided.get(row.pk, 0)) for row in stored]


def record_of(dialogue: Dialogue) -> records.Dialogue:
    """Return the record of a stored scenario, with its script alone."""
    own = Continuation.objects.filter(dialogue=dialogue, key=SELF).select_related("system").first()
    record = scenarios([dialogue])[dialogue.pk]
    return record if own is None else replace(record, system=own.system.name)


def text_of(dialogue: records.Dialogue) -> str:
    """Return a scenario as a script, as JSON where a script cannot say all of it."""
    raw = native(dialogue)
    return write_script(raw) or as_json(raw)


def as_json(raw: dict[str, Any]) -> str:
    """Return a scenario of the native format as JSON that people read."""
    return json.dumps(raw, ensure_ascii=False, indent=1) + "\n"


def state_of(dialogue: records.Dialogue) -> str:
    """Return the SHA-256 of a scenario's content: a save sends it to show which version was seen."""
    text = json.dumps(native(dialogue), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def is_decided(dialogue: Dialogue) -> bool:
    """Whether anything was decided, labelled or planned on a scenario's script, so that it must stay.

    Every foreign key to the dialogue, its turns or items counts, those of rooms above this one, too.
    """
    if dialogue.continuations.exclude(key=SELF).exists():
        return True
    return any(queryset.filter(**{lookup: dialogue.pk}).exists() for queryset, lookup in _pointing())


def _pointing() -> Iterator[tuple[QuerySet[Any], str]]:
    """Yield the rows that point at parts of a dialogue, with the lookup of the dialogue."""
    parts: tuple[tuple[type[Model], str, tuple[type[Model], ...]], ...] = (
        (Dialogue, "", (Continuation,)),
        (Continuation, "__dialogue", (Turn, Item)),
        (Turn, "__continuation__dialogue", (Item,)),
        (Item, "__continuation__dialogue", ()),
    )
    for model, through, own in parts:
        for relation in model._meta.related_objects:
            pointing = relation.related_model
            if isinstance(relation, ManyToOneRel) and isinstance(pointing, type) and pointing not in own:
                field = relation.field
                assert isinstance(field, ForeignKey)
                yield pointing._base_manager.all(), f"{field.name}{through}"


# A scenario turn by turn: who sees it, what is marked there, and what the oracle would do.

AT_ONCE, LATER, NEVER = "yes", "later", "no"
"""Whether somebody sees a turn: when it happens, by joining later with sight of the history, or never."""


@dataclass(frozen=True, slots=True)
class ScenarioTurn:
    """A turn of a script. `seen` has AT_ONCE, LATER or NEVER for each participant, in their order.

    At a point there is a `key` (of the native format) with the probes that set it, empty for background, and
    `oracle`: what whoever plays the key does.
    """

    position: int
    happening: Happening
    colour: int
    seen: tuple[tuple[Participant, str], ...]
    triggers: tuple[Probe, ...]
    is_point: bool
    probes: tuple[Probe, ...]
    key: dict[str, Any] | None
    oracle: Decision | None
    problem: str

    @property
    def sight(self) -> str:
        """Who sees it, in words: at once, later or never."""
        parts = []
        for words, kind in (("seen by", AT_ONCE), ("read later by", LATER), ("not by", NEVER)):
            names = [person.name or person.id for person, seen in self.seen if seen == kind]
            if kind == AT_ONCE and len(names) == len(self.seen):
                return "seen by all"
            if names:
                parts.append(f"{words} {', '.join(names)}")
        return "; ".join(parts)

    @property
    def key_text(self) -> str:
        """Its key as a script has it, '' where there is none."""
        return "" if self.key is None else flow(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Return it for a program to read."""
        payload: dict[str, Any] = {
            "turn": self.position,
            "line": self.happening.line(),
            "seen_by": [person.id for person, seen in self.seen if seen == AT_ONCE],
            "seen_later_by": [person.id for person, seen in self.seen if seen == LATER],
            "triggers": [probe.id for probe in self.triggers],
            "is_point": self.is_point,
            "probes": [probe.id for probe in self.probes],
            "key": self.key,
            "problem": self.problem,
        }
        played = self.oracle
        payload["oracle"] = None if played is None else {"act": played.act, "text": played.text}
        return payload


def scenario_turns(dialogue: records.Dialogue) -> tuple[ScenarioTurn, ...]:
    """Return the turns of a scenario in order; raise ValueError where the dialogue is no scenario."""
    scenario = scenario_of(dialogue)
    names = Names(dialogue.participants, Blind())
    points = set(points_of(dialogue))
    played = {decision.point: decision for decision in decide(ORACLE, dialogue)}
    problems = {problem.point: problem.reason for problem in oracle_problems(dialogue)}
    sight = {person: _sight(dialogue, person.id) for person in dialogue.participants}
    return tuple(
        ScenarioTurn(
            position=at,
            happening=happening(turn, names, turn.text),
            colour=names.colour(turn.speaker),
            seen=tuple((person, sight[person][at]) for person in dialogue.participants),
            triggers=tuple(probe for probe in scenario.probes if probe.trigger == at),
            is_point=at in points,
            probes=probes_at(scenario, at),
            key=key_json(key_at(scenario, at)) if at in points else None,
            oracle=played.get(at),
            problem=problems.get(at, ""),
        )
        for at, turn in enumerate(dialogue.turns)
    )


def seen_until(dialogue: records.Dialogue, viewer: str, point: int) -> frozenset[int]:
    """Return the numbers of the turns that a participant has seen right after a turn."""
    return frozenset(positions_seen(dialogue, viewer, point + 1))


def _sight(dialogue: records.Dialogue, viewer: str) -> tuple[str, ...]:
    eventually_seen = frozenset(positions_seen(dialogue, viewer))
    return tuple(
        AT_ONCE if at in seen_until(dialogue, viewer, at) else LATER if at in eventually_seen else NEVER
        for at in range(len(dialogue.turns))
    )
