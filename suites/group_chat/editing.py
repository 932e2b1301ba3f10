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


# What is in the scenario editor: a text, and what the strict reader and the oracle make of it.

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
"""What a new scenario begins with."""
MOST = 2**20


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is being written. `record` is None exactly where a `problem` says what is wrong.

    `quoted` is the line of the text that the problem is about.
    """

    text: str
    record: records.Dialogue | None = None
    problem: ImportProblem | None = None
    any_size: bool = False

    @property
    def quoted(self) -> str:
        """The line that the problem is about, '' where it is about none."""
        line = self.problem.line if self.problem else None
        lines = self.text.split("\n")
        return lines[line - 1].strip() if line and line <= len(lines) else ""

    @property
    def as_json(self) -> bool:
        """Whether it is the native format and no script."""
        return is_json(self.text)

    @property
    def chat(self) -> records.Dialogue | None:
        """Who says what: the record, or that much of it where only probes or keys are wrong."""
        if self.record is not None:
            return self.record
        try:
            record = chat_of(read_script(self.text).raw)
        except ImportProblem:
            return None
        return record and replace(record, scenario=replace(scenario_of(record), points=()))

    def lines(self) -> tuple[ScenarioTurn, ...]:
        """Return the script turn by turn, nothing where it cannot be read."""
        return scenario_turns(self.chat) if self.chat else ()

    def summary(self) -> Summary | None:
        """Return it in numbers, None where it cannot be read."""
        return summary(self.record) if self.record else None


def draft(text: str, *, any_size: bool = False) -> Draft:
    """Read a text as a draft: a record, or the problem for which an import would refuse it."""
    text = text.replace("\r\n", "\n")
    try:
        if len(text) > MOST:
            raise ImportProblem(f"is longer than {MOST >> 20} MiB")
        record = read_scenario(text, any_size=any_size)
    except ImportProblem as problem:
        return Draft(text, None, problem, any_size)
    return Draft(text, record, None, any_size)


def with_probe(current: Draft, *, kind: str, trigger: str, points: str, control: bool) -> Draft:
    """Return a draft with a probe more; turn numbers are texts as people write them, such as `3, 4`.

    Raises ImportProblem for a text that has no form yet, or turns that there are not.
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
    """Return a draft without a probe. Raises ImportProblem for a text that has no form yet."""
    try:
        text = _format_text(current, remove_probe(read_script(current.text).raw, probe))
    except ValueError as error:
        raise ImportProblem(str(error), field="probes") from None
    return draft(text, any_size=current.any_size)


def probes_of(current: Draft) -> list[str]:
    """Return the ids of a draft's probes, as far as it has a form."""
    try:
        return [str(probe.get("id")) for probe in read_script(current.text).raw.get("probes") or ()]
    except (ImportProblem, AttributeError, TypeError):
        return []


def other_form(current: Draft) -> Draft:
    """Return a whole draft as JSON, or JSON as a script; one that has no other form stays as it is."""
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
    """A saved scenario, and what became of it."""

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
    """Save a scenario that the strict reader has read; `opened` is the stored one that it was made from.

    With the id of `opened` it takes its place while nothing was decided on it; afterwards a change of keys
    alone is a correction (`answer_keys.correct`). With any other id it is a new dialogue of the corpus.
    `seen` is the state (`state_of`) of the stored one that whoever saves has seen, '' for any.

    Raises ImportProblem, and keeps nothing, for an id that is taken, a script that must stay, or where
    somebody else saved meanwhile.
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
    """Import a scenario into the corpus, with all that an import checks and remembers."""
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
    """Put a scenario in the place of one that nothing points at."""
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
    """Replace the script's turns and their items; what its import brought is counted anew."""
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
