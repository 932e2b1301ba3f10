"""Relations allowed in a corpus's facts, and the question sets that a change makes stale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import QuestionsRefused
from annotation.models import RelationRows
from annotation.models.corpora import Corpus
from config.models import Event
from suites.long_dialogue.scripts.graph import DEFAULT, RelationTable

# Question sets whose uses no longer match the rules: marked, with the reason.


def mark_stale(corpus: Corpus, event: str) -> int:
    """Mark the rule-made sets of a corpus as stale; return their number. `event` is a clause.

    Imported sets keep their keys, so facts and relations do not make them stale.
    """
    sets = corpus.question_sets.filter(imported=False)
    sentence = event[0].upper() + event[1:]
    free = sets.filter(used_at=None).update(stale=f"{sentence}: make the set anew.")
    used = sets.exclude(used_at=None)
    return free + used.update(stale=f"{sentence}. A simulation used this set, so it stays as it is.")


# Relations allowed in a corpus's facts: the default table of Concord, or one of its own.

OWN = 0
"""Version number of the default table."""


def version_of(corpus: Corpus) -> int:
    """Return the version of a corpus's own table, 0 for the default table."""
    last = corpus.relation_tables.order_by("-version").values_list("version", flat=True).first()
    return last or OWN


def table_of(corpus: Corpus) -> RelationTable:
    """Return a corpus's relations."""
    last = corpus.relation_tables.order_by("-version").first()
    return RelationTable.parse(last.rows) if last is not None else DEFAULT


@transaction.atomic
def replace_relations(
    *, corpus: Corpus, rows: Sequence[Mapping[str, Any]], by: User | None, seen: int | None = None
) -> RelationRows | None:
    """Give a corpus a table of its own, or a new version of it; None if nothing would change.

    `seen` is the version that the user saw, None to skip this check. Raises QuestionsRefused, with row and
    field, for an invalid table, or if somebody else changed it meanwhile.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    try:
        table = RelationTable.parse(rows)
    except ValueError as error:
        message = str(error)
        raise QuestionsRefused(f"{message[0].upper()}{message[1:]}.", field="rows") from None
    last = version_of(corpus)
    if seen is not None and seen != last:
        raise QuestionsRefused(
            "Somebody else changed the relations meanwhile: look at them again.", field="rows"
        )
    if table.as_rows() == table_of(corpus).as_rows():
        return None
    new_rows = RelationRows.objects.create(
        corpus=corpus, version=last + 1, rows=table.as_rows(), created_by=by
    )
    mark_stale(corpus, "the relations were changed")
    detail = {"version": new_rows.version, "relations": len(table)}
    Event.objects.create(by=by, verb="change relations", subject=corpus.name, detail=detail)
    return new_rows
