"""Import formats of crowd platforms and survey programs: tables whose mapping follows from their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.formats import mapped, ratings
from annotation.formats.corpus_format import ANY_ROLES, JUDGES, MISSING, Format, SourceRecord
from annotation.formats.crowd_tables import FORMS, mapping_of
from annotation.formats.source import ImportProblem, Source
from annotation.formats.table_reader import open_table


def _read(source: Source) -> Iterator[SourceRecord]:
    """Yield the dialogues or ratings of a platform's table, by its own mapping or the source's."""
    table = open_table(source)
    entries: Mapping[str, Any] = source.mapping
    if not entries:
        mapping = mapping_of(table.columns, list(table.rows()), table.wordings)
        if mapping is None:
            raise ImportProblem("has no recognised columns of answers: map its columns", field="map")
        entries = mapping.entries()
    yield from mapped.read_rows(source, table, entries)


SYSTEMS = ("assistant", "bot", "chatbot", "system", "agent", "model")
"""Speakers of what workers saw that are rated, where there are any of them."""
FORMATS: tuple[Format, ...] = tuple(
    Format(
        key=form.key,
        title=form.title,
        hint=form.hint,
        read=_read,
        looks_like=lambda head, form=form: not head.is_json and form.has_columns(head.header),  # type: ignore[misc]
        roles=ANY_ROLES,
        settings=(ratings.TURNS_FROM, MISSING, JUDGES),
        labels_only=form.is_survey,
        rated=() if form.is_survey else SYSTEMS,
    )
    for form in FORMS
)
