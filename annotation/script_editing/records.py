"""A stored script as one record: all of its turns, facts and questions, for what has to read everything."""

from __future__ import annotations

from annotation import records
from annotation.importing.rows import participant_record, turn_record
from annotation.models import Dialogue, Record
from annotation.script_editing.reading import own_turns
from annotation.scripts.records import FACT, QUESTION
from annotation.scripts.stored import fact_record, question_record, script_record


def record_of(dialogue: Dialogue) -> records.Dialogue:
    """Return a script with its own turns, and the facts and questions that nothing supersedes."""
    rows = list(
        Record.objects.filter(dialogue=dialogue, superseded_by=None)
        .order_by("id")
        .values_list("kind", "key", "content", "status")
    )
    columns = own_turns(dialogue).values_list("speaker", "text", "given", "at", "extra")
    return records.Dialogue(
        id=dialogue.key,
        turns=tuple(turn_record(*row) for row in columns.iterator(chunk_size=5_000)),
        participants=tuple(map(participant_record, dialogue.participants)),
        language=dialogue.language,
        script=script_record(dialogue.script),
        facts=tuple(fact_record(*row[1:]) for row in rows if row[0] == FACT),
        questions=tuple(question_record(*row[1:]) for row in rows if row[0] == QUESTION),
    )
