"""Scenarios of a corpus: read turn by turn, written as the native format or a script, and saved."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Count, ForeignKey, ManyToOneRel, Model, QuerySet

from annotation import records
from annotation.corpora import splits
from annotation.corpora.import_dialogues import OF_TURNS
from annotation.corpora.import_file import import_path, lock_corpus
from annotation.corpora.rows import agenda_json, head_json, participants_json, turn_json, turn_row
from annotation.formats.source import ImportProblem
from annotation.models import Continuation, Corpus, Dialogue, Item, System, Turn
from annotation.records import SELF, Participant
from annotation.scenario_records import OWN_FIELDS, Decision, Probe, key_json, native_scenario, scenario_json
from annotation.text.context import Happening, Names, happening
from annotation.text.views import Blind
from config.models import Event
from suites.group_chat import answer_keys
from suites.group_chat.answer_keys import of_corpus, scenarios
from suites.group_chat.scenario_text import (
    chat_of,
    is_json,
    read_scenario,
    read_script,
    write_draft,
    write_script,
)
from suites.group_chat.scenario_text import write_flow as flow
from suites.group_chat.scenarios.agents import ORACLE, decide
from suites.group_chat.scenarios.points import key_at, points_of, positions_seen, probes_at, scenario_of
from suites.group_chat.scenarios.probes import Summary, add_probe, oracle_problems, remove_probe, summary

# Scenarios in the native format: the script with its own fields, without systems' turns.


def native(dialogue: records.Dialogue) -> dict[str, Any]:
    """Return a scenario as an object of the native format, which an import reads as the same scenario."""
    fields = {
        **head_json(dialogue),
        "turns": [turn_json(turn) for turn in dialogue.turns],
        **native_scenario(dialogue.scenario),
    }
    return {name: value for name, value in fields.items() if value or name == "points"}


# Views of a corpus's scenarios for pages, commands and the API.


class Row(NamedTuple):
    """A stored scenario in numbers; `decided` is its number of static continuations."""

    dialogue: Dialogue
    summary: Summary
    decided: int


def rows(corpus: Corpus) -> list[Row]:
    """Return the scenarios of a corpus, by id, each checked by the oracle."""
    stored = of_corpus(corpus)
    by_id = scenarios(stored)
    static = Continuation.objects.filter(dialogue__in=by_id, mode=Continuation.Mode.STATIC).order_by()
    decided = dict(static.values("dialogue").annotate(n=Count("pk")).values_list("dialogue", "n"))
    return [Row(row, summary(by_id[row.pk]), decided.get(row.pk, 0)) for row in stored]


def record_of(dialogue: Dialogue) -> records.Dialogue:
    """Return the record of a stored scenario, with its script only."""
    own = Continuation.objects.filter(dialogue=dialogue, key=SELF).select_related("system").first()
    record = scenarios([dialogue])[dialogue.pk]
    return record if own is None else replace(record, system=own.system.name)


def text_of(dialogue: records.Dialogue) -> str:
    """Return a scenario as a script, or as JSON where a script cannot express it."""
    raw = native(dialogue)
    return write_script(raw) or as_json(raw)


def as_json(raw: dict[str, Any]) -> str:
    """Return a scenario of the native format as readable JSON."""
    return json.dumps(raw, ensure_ascii=False, indent=1) + "\n"


def state_of(dialogue: records.Dialogue) -> str:
    """Return the SHA-256 of a scenario's content, which a save sends to show the version seen."""
    text = json.dumps(native(dialogue), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def is_decided(dialogue: Dialogue) -> bool:
    """Whether a scenario's script has any decision, label or plan, so that it must stay unchanged.

    Every foreign key to the dialogue, its turns or items counts, also those of higher layers.
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


# A scenario turn by turn: who sees the turn, its marks, and the oracle's decision.

AT_ONCE, LATER, NEVER = "yes", "later", "no"
"""When a participant sees a turn: at once, after joining later with sight of the history, or never."""


@dataclass(frozen=True, slots=True)
class ScenarioTurn:
    """A turn of a script. `seen` has AT_ONCE, LATER or NEVER for each participant, in order.

    At a point there is a `key` (of the native format) with the probes that set it, empty for background, and
    `oracle`, the decision of an agent that plays the key.
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
        """Viewers of the turn, in words: at once, later or never."""
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
        """The key as in a script, '' without a key."""
        return "" if self.key is None else flow(self.key)

    def as_dict(self) -> dict[str, Any]:
        """Return the turn as plain data."""
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
    """Return the turns of a scenario, in order; raise ValueError where the dialogue is not a scenario."""
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


# Drafts of the scenario editor: a text, and the results of the strict reader and the oracle.

STARTER = """id: {id}
cluster: {id}
language: en
participants:
- {{id: mia, name: Mia}}
- {{id: ole, name: Ole}}
- {{id: sam, name: Sam}}
- {{id: kit, name: Kit, agent: true}}
---
Mia (to Ole): Ole, did you get the invoice?
    point p1
Ole (to Mia): Yes, I will pay it tonight.
    point p1
Sam (to Kit): Kit, is the hall free on Friday?
    key: {{attend: 1, speak: {{message: 1}}, addressed: [kit], target: [sam]}}
---
probes:
- id: p1
  kind: overheard
  key: {{attend: 0, speak: {{silence: 1}}}}
"""
"""Text of a new scenario."""
MOST = 2**20


@dataclass(frozen=True, slots=True)
class Draft:
    """A text in the editor. `record` is None exactly where there is a `problem`.

    `quoted` is the line of the text with the problem.
    """

    text: str
    record: records.Dialogue | None = None
    problem: ImportProblem | None = None
    any_size: bool = False

    @property
    def quoted(self) -> str:
        """The line with the problem, '' where it concerns no line."""
        line = self.problem.line if self.problem else None
        lines = self.text.split("\n")
        return lines[line - 1].strip() if line and line <= len(lines) else ""

    @property
    def as_json(self) -> bool:
        """Whether the text is in the native format, not a script."""
        return is_json(self.text)

    @property
    def chat(self) -> records.Dialogue | None:
        """The dialogue: the record, or its chat where only probes or keys are wrong."""
        if self.record is not None:
            return self.record
        try:
            record = chat_of(read_script(self.text).raw)
        except ImportProblem:
            return None
        return record and replace(record, scenario=replace(scenario_of(record), points=()))

    def lines(self) -> tuple[ScenarioTurn, ...]:
        """Return the script turn by turn, () where it is unreadable."""
        return scenario_turns(self.chat) if self.chat else ()

    def summary(self) -> Summary | None:
        """Return the draft in numbers, None where it is unreadable."""
        return summary(self.record) if self.record else None


def draft(text: str, *, any_size: bool = False) -> Draft:
    """Read a text as a draft: a record, or the problem that an import would refuse it for."""
    text = text.replace("\r\n", "\n")
    try:
        if len(text) > MOST:
            raise ImportProblem(f"is longer than {MOST >> 20} MiB")
        record = read_scenario(text, any_size=any_size)
    except ImportProblem as problem:
        return Draft(text, None, problem, any_size)
    return Draft(text, record, None, any_size)


def with_probe(current: Draft, *, kind: str, trigger: str, points: str, control: bool) -> Draft:
    """Return a draft with an additional probe; turn numbers are texts as people write them, such as `3, 4`.

    Raises ImportProblem for a text with errors of form, or unknown turns.
    """
    try:
        places = [int(number) for number in points.replace(",", " ").split()]
        first = int(trigger) if trigger.strip() else min(places, default=0)
    except ValueError:
        raise ImportProblem("is no number of a turn", field="points") from None
    raw = read_script(current.text).raw
    try:
        text = _format_text(current, add_probe(raw, kind=kind, trigger=first, points=places, control=control))
    except ValueError as error:
        raise ImportProblem(str(error), field="probes") from None
    return draft(text, any_size=current.any_size)


def without_probe(current: Draft, probe: str) -> Draft:
    """Return a draft without a probe. Raises ImportProblem for a text with errors of form."""
    try:
        text = _format_text(current, remove_probe(read_script(current.text).raw, probe))
    except ValueError as error:
        raise ImportProblem(str(error), field="probes") from None
    return draft(text, any_size=current.any_size)


def probes_of(current: Draft) -> list[str]:
    """Return the ids of a draft's probes, as far as its form is readable."""
    try:
        return [str(probe.get("id")) for probe in read_script(current.text).raw.get("probes") or ()]
    except (ImportProblem, AttributeError, TypeError):
        return []


def other_form(current: Draft) -> Draft:
    """Return a readable script as JSON, or JSON as a script; unchanged where there is no other form."""
    if current.record is None:
        return current
    raw = native(current.record)
    return replace(current, text=(write_script(raw) or current.text) if current.as_json else as_json(raw))


def _format_text(current: Draft, raw: dict[str, object]) -> str:
    return as_json(raw) if current.as_json else write_draft(raw)


Became = Literal["created", "rewritten", "corrected", "unchanged"]
SCRIPT_IS_FIXED = (
    "agents or people have answered to this script, so it stays as it is. Its keys can be corrected; "
    "with another id it is saved as another scenario of the family"
)


class Saved(NamedTuple):
    """A saved scenario, and the effect of saving."""

    dialogue: Dialogue
    became: Became


def save(
    *,
    corpus: Corpus,
    record: records.Dialogue,
    by: User | None,
    opened: Dialogue | None = None,
    seen: str = "",
    any_size: bool = False,
) -> Saved:
    """Save a scenario that passed the strict reader; `opened` is the stored scenario it was edited from.

    With the id of `opened` it replaces that scenario while nothing was decided on it; afterwards a change of
    keys alone is a correction (`answer_keys.correct`). With any other id it is a new dialogue of the corpus.
    `seen` is the state (`state_of`) of the stored scenario as seen by the user, '' for any.

    Raises ImportProblem, and stores nothing, for an id that is taken, a script that must stay unchanged, or
    where somebody else saved meanwhile.
    """
    if record.scenario is None:
        raise ImportProblem("must be 'scenario'", field="kind")
    with transaction.atomic():
        lock_corpus(corpus.name)
        if opened is not None and opened.key == record.id:
            return _overwrite(opened.pk, record, by, seen)
        if corpus.dialogues.filter(key=record.id).exists():
            raise ImportProblem(f"the corpus has a dialogue {record.id!r} already", field="id")
        return Saved(_new(corpus, record, by, any_size), "created")


def _new(corpus: Corpus, record: records.Dialogue, by: User | None, any_size: bool) -> Dialogue:
    """Import a scenario into the corpus, with all checks and records of an import."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as stored:
        stored.write(json.dumps(native(record), ensure_ascii=False) + "\n")
        stored.flush()
        import_path(
            path=stored.name,
            name=f"{record.id}, written here",
            format="jsonl",
            corpus=corpus.name,
            into=True,
            by=by,
            settings={"any_size": "yes"} if any_size else {},
        )
    return corpus.dialogues.get(key=record.id)


def _overwrite(pk: int, record: records.Dialogue, by: User | None, seen: str) -> Saved:
    row = Dialogue.objects.select_for_update().select_related("corpus").get(pk=pk)
    before = record_of(row)
    if seen and seen != state_of(before):
        raise ImportProblem("somebody else saved this scenario meanwhile: saving again puts yours on top")
    if native(before) == native(record):
        return Saved(row, "unchanged")
    if not is_decided(row):
        _rewrite(row, before, record)
        detail = {"turns": len(record.turns)}
        subject = f"{row.key} in {row.corpus.name}"[:300]
        Event.objects.create(by=by, verb="rewrite scenario", subject=subject, detail=detail)
        return Saved(row, "rewritten")
    if replace(before, scenario=None) != replace(record, scenario=None) or points_of(before) != points_of(
        record
    ):
        raise ImportProblem(SCRIPT_IS_FIXED, field="turns")
    values = native(record)
    answer_keys.correct(dialogue=row, changes={name: values.get(name) for name in OWN_FIELDS}, by=by)
    return Saved(row, "corrected")


def _rewrite(row: Dialogue, before: records.Dialogue, record: records.Dialogue) -> None:
    """Overwrite a scenario that nothing points at."""
    row.cluster = record.cluster or record.id
    row.language, row.summary, row.metadata = record.language, record.summary, dict(record.metadata)
    row.participants = participants_json(record.participants)
    row.agenda, row.scenario = agenda_json(record.agenda), scenario_json(record.scenario)
    row.save()
    own = row.continuations.get(key=SELF)
    if own.system.name != record.system:
        own.system, _ = System.objects.get_or_create(corpus=row.corpus, name=record.system)
        own.save(update_fields=["system"])
    if before.turns != record.turns:
        _rewrite_turns(row, own, record)
    splits.grow(corpus=row.corpus)


def _rewrite_turns(row: Dialogue, own: Continuation, record: records.Dialogue) -> None:
    """Replace the script's turns and their items; the counts of its import are updated."""
    items, turns = own.items.filter(turn__isnull=False), own.turns.all()
    less = {"items": items.count(), "turns": turns.count()}
    items.delete()
    turns.delete()
    rows = [
        Turn(continuation=own, position=position, **turn_row(turn)._asdict())
        for position, turn in enumerate(record.turns)
    ]
    Turn.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute(OF_TURNS, {"corpus": row.corpus_id, "ids": [own.pk], "kind": "turn"})
    if row.imported is not None:
        more = {"items": own.items.filter(turn__isnull=False).count(), "turns": len(rows)}
        counts = row.imported.counts
        row.imported.counts = counts | {name: counts.get(name, 0) - less[name] + more[name] for name in more}
        row.imported.save(update_fields=["counts"])
