"""A set's questions and uses as rows, by COPY; and taking them out again where a set is made anew."""

from __future__ import annotations

from dataclasses import replace

from django.db import connection

from annotation import records
from annotation.importing.script_records import make_records, write_uses
from annotation.models import Dialogue, QuestionSet
from annotation.question_sets.wordings import Kept, worded
from annotation.scripts.making import MadeSet
from annotation.scripts.records import QUESTION
from annotation.scripts.stored import question_json
from config.planner import WORTH_TELLING, tell_planner

CLEAR = (
    "DELETE FROM annotation_use WHERE set_id = %s",
    """DELETE FROM annotation_item WHERE record_id IN
       (SELECT id FROM annotation_record WHERE set_id = %s)""",
    "DELETE FROM annotation_record WHERE set_id = %s",
)


def write(stored: QuestionSet, row: Dialogue, dialogue: records.Dialogue, made: MadeSet, kept: Kept) -> None:
    """Write one script's share of a set, in the current transaction, with the wordings that were `kept`."""
    questions = [
        replace(question, styles=worded(kept, row.pk, question.id, question.text))
        for question in made.questions
    ]
    make_records(
        corpus=stored.corpus,
        rows=[
            (row.pk, QUESTION, question.id, question_json(question), question.status, stored.pk)
            for question in questions
        ],
        provenance={"by": "rules", "set": stored.name, "version": stored.version},
    )
    write_uses(stored=stored, dialogue=row.pk, record=dialogue, uses=made.set.uses)
    if len(made.set.uses) >= WORTH_TELLING:
        tell_planner("annotation_record", "annotation_use")


def clear(stored: QuestionSet) -> None:
    """Take out what a set that nobody used has, in the current transaction."""
    with connection.cursor() as cursor:
        for statement in CLEAR:
            cursor.execute(statement, [stored.pk])
