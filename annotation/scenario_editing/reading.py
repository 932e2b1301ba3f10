"""What pages, commands and the API read of a corpus's scenarios."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import Count, ForeignKey, ManyToOneRel, Model, QuerySet

from annotation import records
from annotation.answer_keys.reading import of_corpus, scenarios
from annotation.formats.script_writing import write_script
from annotation.models import Continuation, Corpus, Dialogue, Item, Turn
from annotation.records import SELF
from annotation.scenario_editing.native import native
from annotation.scenarios.overview import Summary, summary


class Row(NamedTuple):
    """A stored scenario in numbers; `decided` is how many static continuations answer its points."""

    dialogue: Dialogue
    summary: Summary
    decided: int


def rows(corpus: Corpus) -> list[Row]:
    """Return the scenarios of a corpus in the order of their ids, each checked by the oracle."""
    stored = of_corpus(corpus)
    found = scenarios(stored)
    static = Continuation.objects.filter(dialogue__in=found, mode=Continuation.Mode.STATIC).order_by()
    decided = dict(static.values("dialogue").annotate(n=Count("pk")).values_list("dialogue", "n"))
    return [Row(row, summary(found[row.pk]), decided.get(row.pk, 0)) for row in stored]


def record_of(dialogue: Dialogue) -> records.Dialogue:
    """Return the record of a stored scenario, with its script alone."""
    own = Continuation.objects.filter(dialogue=dialogue, key=SELF).select_related("system").first()
    found = scenarios([dialogue])[dialogue.pk]
    return found if own is None else replace(found, system=own.system.name)


def text_of(dialogue: records.Dialogue) -> str:
    """Return a scenario as a script, as JSON where a script cannot say all of it."""
    raw = native(dialogue)
    return write_script(raw) or as_json(raw)


def as_json(raw: dict[str, Any]) -> str:
    """Return a scenario of the native format as JSON that people read."""
    return json.dumps(raw, ensure_ascii=False, indent=1) + "\n"


def state_of(dialogue: records.Dialogue) -> str:
    """Return the SHA-256 of what a scenario says: who saves shows by it what they had seen."""
    told = json.dumps(native(dialogue), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(told.encode()).hexdigest()


def is_decided(dialogue: Dialogue) -> bool:
    """Whether anything was decided, labelled or planned on a scenario's script, so that it must stay.

    Every foreign key to the dialogue, its turns or items counts, those of rooms above this one, too.
    """
    if dialogue.continuations.exclude(key=SELF).exists():
        return True
    return any(found.filter(**{lookup: dialogue.pk}).exists() for found, lookup in _pointing())


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
