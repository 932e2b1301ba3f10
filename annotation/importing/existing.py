"""What the corpus holds already of the dialogues of a batch, and what a record adds to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats import ImportProblem
from annotation.formats.checks import check_speakers, check_static, refuse_other_turns
from annotation.importing.rows import TurnRow, agenda_json, participants_json, turn_row
from annotation.models import Continuation as StoredContinuation
from annotation.models import Corpus, Turn
from annotation.models import Dialogue as StoredDialogue
from annotation.records import SELF, Continuation, Dialogue, Participant
from annotation.scenarios.stored import scenario_json
from annotation.scripts.stored import script_json


@dataclass(slots=True)
class Existing:
    """Stored dialogues by key, with the continuations that a batch names and their turns."""

    ids: dict[str, int] = field(default_factory=dict)
    dialogues: dict[str, StoredDialogue] = field(default_factory=dict)
    continuations: dict[tuple[str, str], StoredContinuation] = field(default_factory=dict)
    turns: dict[int, list[TurnRow]] = field(default_factory=dict)

    @classmethod
    def load(cls, corpus: Corpus, records: list[Dialogue]) -> Existing:
        """Read, in three queries, what is stored of these dialogues."""
        keys = [record.id for record in records]
        found = {stored.key: stored for stored in corpus.dialogues.filter(key__in=keys)}
        named = {SELF} | {
            part.id for record in records if record.id in found for part in record.continuations
        }
        parts = StoredContinuation.objects.filter(
            dialogue__in=[stored.pk for stored in found.values()], key__in=named
        ).select_related("system", "dialogue")
        continuations = {(part.dialogue.key, part.key): part for part in parts}
        turns: dict[int, list[TurnRow]] = {part.pk: [] for part in continuations.values()}
        rows = Turn.objects.filter(continuation__in=turns).order_by("continuation", "position")
        for turn in rows:
            turns[turn.continuation_id].append((turn.speaker, turn.text, turn.given, turn.at, turn.extra))
        return cls({key: stored.pk for key, stored in found.items()}, found, continuations, turns)

    def stored_turns(self, dialogue: str, continuation: str) -> list[TurnRow] | None:
        """Return the turns of a stored continuation, None where there is no such continuation."""
        part = self.continuations.get((dialogue, continuation))
        return None if part is None else self.turns[part.pk]


def additions(found: Existing, record: Dialogue, *, exact: bool = False) -> list[Continuation]:
    """Return the continuations that a record adds to its stored dialogue; refuse what contradicts it.

    A record without turns says nothing of them, unless it is `exact`.
    """
    stored = found.dialogues[record.id]
    _refuse_contradiction(stored, record)
    history = found.stored_turns(record.id, SELF)
    own = record.own()
    if history is not None and exact and not own:
        _refuse_turns(record, history)
    if own and history is not None and [turn_row(turn) for turn in own.turns] != history:
        _refuse_turns(record, history)
        raise ImportProblem("differ from those that the corpus has for this dialogue", field="turns")
    if own and history is not None and found.continuations[record.id, SELF].system.name != own.system:
        raise ImportProblem("differs from what the corpus has for this dialogue", field="system")
    if own and history is None:
        raise ImportProblem("the corpus has this dialogue without turns of its own", field="turns")
    check_speakers(replace(record, participants=_participants(stored)))
    check_static(record, len(history or ()))
    return [part for index, part in enumerate(record.continuations) if _is_new(found, record, part, index)]


def _refuse_turns(record: Dialogue, history: list[TurnRow]) -> None:
    ours = [(turn.speaker, turn.text) for turn in record.turns]
    refuse_other_turns(ours, [row[:2] for row in history], f"of {record.id!r} in the corpus")


def _participants(stored: StoredDialogue) -> tuple[Participant, ...]:
    return tuple(Participant(id=participant["id"]) for participant in stored.participants)


def _is_new(found: Existing, record: Dialogue, part: Continuation, index: int) -> bool:
    stored = found.continuations.get((record.id, part.id))
    if stored is None:
        return True
    same = (stored.system.name, stored.mode, stored.trial, stored.condition) == (
        part.system,
        part.mode,
        part.trial,
        dict(part.condition),
    )
    if same and found.turns[stored.pk] == [turn_row(turn) for turn in part.turns]:
        return False
    raise ImportProblem(
        f"the dialogue has another continuation {part.id!r} already", field=f"continuations[{index}].id"
    )


def _refuse_contradiction(stored: StoredDialogue, record: Dialogue) -> None:
    """Refuse a field that is given and is not what the corpus has; what is not given is not compared."""
    given: dict[str, Any] = {
        "cluster": record.cluster,
        "language": record.language,
        "summary": record.summary,
        "participants": participants_json(record.participants),
        "metadata": dict(record.metadata),
        "agenda": agenda_json(record.agenda),
        "scenario": scenario_json(record.scenario),
        "script": script_json(record.script),
    }
    for name, value in given.items():
        if value and getattr(stored, name) != value:
            raise ImportProblem("differs from what the corpus has for this dialogue", field=name)
