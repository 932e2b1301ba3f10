"""Corrected keys from a file: scenarios as they were, with other keys, probes or secrets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation import records
from annotation.answer_keys.reading import of_corpus, scenarios
from annotation.formats import FORMATS, ImportProblem
from annotation.formats.fields import refuse_other_turns
from annotation.formats.jsonl import ANY_SIZE
from annotation.formats.source import Source
from annotation.models import Corpus
from annotation.scenarios.stored import OWN_FIELDS, native_scenario


def from_file(corpus: Corpus, path: str | Path) -> dict[int, Mapping[str, Any]]:
    """Return what a file in the native format corrects in a corpus's scenarios: fields by dialogue id.

    Scenarios are told by their ids. Raises ImportProblem, with the line, for one that the corpus does not
    have, whose script is another one, or that is inconsistent.
    """
    rows = {row.key: row for row in of_corpus(corpus)}
    before = scenarios(rows.values())
    found: dict[int, Mapping[str, Any]] = {}
    source = Source(path, settings={ANY_SIZE: "yes"})
    for entry in FORMATS["jsonl"].read(source):
        assert isinstance(entry.record, records.Dialogue)
        try:
            row = rows.get(entry.record.id)
            if row is None:
                raise ImportProblem(f"{corpus.name!r} has no scenario {entry.record.id!r}", field="id")
            found[row.pk] = _changes(before[row.pk], entry.record)
        except ImportProblem as problem:
            raise problem.placed(file=source.name, line=entry.line) from None
    return found


def _changes(stored: records.Dialogue, given: records.Dialogue) -> dict[str, Any]:
    """Return the fields of a scenario that say something else than what is stored; refuse another script."""
    refuse_other_turns(_said(given), _said(stored), "of the corpus")
    if given.turns != stored.turns:
        at = next(at for at, turn in enumerate(given.turns) if turn != stored.turns[at])
        told = (
            "says the same as that of the corpus, but differs in who hears it, whom it addresses or its act"
        )
        raise ImportProblem(told, field=f"turns[{at}]")
    if given.scenario is None or stored.scenario is None or given.scenario.agent != stored.scenario.agent:
        raise ImportProblem("must be a scenario with the same agent", field="participants")
    old, new = native_scenario(stored.scenario), native_scenario(given.scenario)
    return {name: new.get(name) for name in OWN_FIELDS if new.get(name) != old.get(name)}


def _said(dialogue: records.Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]
