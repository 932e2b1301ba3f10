"""Saving a scenario: as a new dialogue, over one on which nothing was decided, or as a correction of keys."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import records
from annotation.corpora import splits
from annotation.corpora.import_dialogues import OF_TURNS
from annotation.corpora.import_file import import_path, lock_corpus
from annotation.corpora.rows import agenda_json, participants_json, turn_row
from annotation.formats.source import ImportProblem
from annotation.models import Continuation, Corpus, Dialogue, System, Turn
from annotation.records import SELF
from annotation.scenario_records import OWN_FIELDS, scenario_json
from config.models import Event
from suites.group_chat.editing import answer_keys
from suites.group_chat.editing.queries import (
    ScenarioTurn,
    as_json,
    is_decided,
    native,
    record_of,
    scenario_turns,
    state_of,
)
from suites.group_chat.scenario_text import (
    chat_of,
    is_json,
    read_scenario,
    read_script,
    write_draft,
    write_script,
)
from suites.group_chat.scenarios.points import points_of, scenario_of
from suites.group_chat.scenarios.probes import Summary, add_probe, remove_probe, summary

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
    alone is a correction (`annotation.answer_keys`). With any other id it is a new dialogue of the corpus.
    `seen` is the state (`reading.state_of`) of the stored one that whoever saves has seen, '' for any.

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
