"""The material of those who make facts and questions: a script with all its records."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from django.db.models import Count, Func, Max, Q, TextField
from django.db.models.functions import Cast

from annotation.models import Dialogue, Record, RelationRows
from annotation.scripts.records import FACT, QUESTION
from annotation.scripts.relations import DEFAULT, RelationTable
from annotation.scripts.stored import fact_record, question_record
from jobs.models import Endpoint
from systems.generators import Failed, Settings
from systems.long_dialogue.material import Material
from systems.producing.dialogues import of_rows


class WithRecords:
    """Reads scripts with their records. Both raise Failed where the dialogue is gone."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return the script, how many records there are of each status, the last one, and the relations."""
        text = Func(Cast("script", TextField()), function="md5")
        script = Dialogue.objects.filter(pk=dialogue).values_list(text, flat=True).first()
        told = Record.objects.filter(dialogue=dialogue).aggregate(
            last=Max("pk"),
            left=Count("pk", filter=Q(superseded_by=None)),
            drafts=Count("pk", filter=Q(superseded_by=None, status="draft")),
            accepted=Count("pk", filter=Q(superseded_by=None, status="accepted")),
        )
        table = RelationRows.objects.filter(corpus__dialogues=dialogue).aggregate(last=Max("pk"))
        return dialogue, script, *told.values(), table["last"]

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Material:
        """Return a script with its facts and questions that nothing supersedes, of any status."""
        row = Dialogue.objects.filter(pk=dialogue).first()
        if row is None:
            raise Failed("the script is gone")
        rows = Record.objects.filter(dialogue=dialogue, superseded_by=None).order_by("pk")
        told = list(rows.values_list("kind", "key", "content", "status"))
        facts = tuple(fact_record(*record) for kind, *record in told if kind == FACT)
        questions = tuple(question_record(*record) for kind, *record in told if kind == QUESTION)
        script = replace(of_rows([row])[row.pk], facts=facts, questions=questions)
        return Material(script, questions, (), relations=relations_of(row.corpus_id))


def relations_of(corpus: int) -> RelationTable:
    """Return a corpus's own table of relations, else the one that comes with Concord."""
    own = RelationRows.objects.filter(corpus=corpus).order_by("-version").first()
    return DEFAULT if own is None else RelationTable.parse(own.rows)


LOADER = WithRecords()
