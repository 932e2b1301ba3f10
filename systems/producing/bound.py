"""Generators at work on material that no state holds, such as a script: read once by a worker, then kept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from django.db.models import Count, Func, Max, Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.models import Dialogue, QuestionSet, Record, RelationRows
from annotation.script_editing.question_records import is_kept, named
from annotation.scripts.graph import DEFAULT, RelationTable
from annotation.scripts.records import FACT, QUESTION, Fact, Question, fact_record, question_record
from jobs.models.endpoint import Endpoint
from systems.generators import Failed, Generator
from systems.generators.base import Settings
from systems.long_dialogue.kept import Kept
from systems.long_dialogue.material import Material
from systems.long_dialogue.trial_settings import SET
from systems.producing import scripts
from systems.producing.dialogues import of_rows
from systems.producing.scripts import question_set

# The material of those who make facts and questions: a script with all its records.


class WithRecords:
    """Reads scripts with their records. Both raise Failed where the dialogue is gone, and for a question set
    that is not there, or whose questions stay as they are."""

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
        chosen = _to_word(dialogue, settings)
        return dialogue, script, *told.values(), table["last"], chosen.pk if chosen else None, SET in settings

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Material:
        """Return a script with its facts and questions that nothing supersedes, of any status.

        Where `settings` name a question set, the material's questions are those that it made; where they name
        none although they could, those of no set.
        """
        row = Dialogue.objects.filter(pk=dialogue).first()
        if row is None:
            raise Failed("the script is gone")
        rows = Record.objects.filter(dialogue=dialogue, superseded_by=None).order_by("pk")
        facts, questions = _facts(rows), _questions(rows)
        chosen = _to_word(dialogue, settings)
        asked = _questions(rows.filter(set=chosen)) if SET in settings else questions
        script = replace(of_rows([row])[row.pk], facts=facts, questions=questions)
        return Material(script, asked, (), relations=relations_of(row.corpus_id))


def _facts(rows: QuerySet[Record]) -> tuple[Fact, ...]:
    told = rows.filter(kind=FACT).values_list("key", "content", "status")
    return tuple(fact_record(*record) for record in told)


def _questions(rows: QuerySet[Record]) -> tuple[Question, ...]:
    told = rows.filter(kind=QUESTION).values_list("key", "content", "status")
    return tuple(question_record(*record) for record in told)


def _to_word(dialogue: int, settings: Settings) -> QuestionSet | None:
    """Return the question set whose questions are to be worded, None for those of no set.

    Raises Failed for one that the corpus does not have, and for one that never changes any more.
    """
    if not (told := str(settings.get(SET) or "")):
        return None
    chosen = question_set(dialogue, told)
    if is_kept(chosen):
        why = "a simulation used it" if chosen.used_at else "people answered about its questions"
        raise Failed(
            f"the questions of the set {named(chosen)} keep their texts, since {why}: make a set under "
            "another name, and word that one"
        )
    return chosen


def relations_of(corpus: int) -> RelationTable:
    """Return a corpus's own table of relations, else the one that comes with Concord."""
    own = RelationRows.objects.filter(corpus=corpus).order_by("-version").first()
    return DEFAULT if own is None else RelationTable.parse(own.rows)


LOADER = WithRecords()


KEPT = 4
"""So many generators with their material stay in a process's memory."""


class Loader(Protocol):
    """What reads one kind of material. Both raise Failed where there is none."""

    def key(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Hashable:
        """Return what changes when the material does; quick to find out."""

    def load(self, dialogue: int, settings: Settings, endpoint: Endpoint | None) -> Any:
        """Return the material of a dialogue."""


LOADERS: dict[str, Loader] = {"script": scripts.LOADER, "records": LOADER}
"""Per need of a generator: what reads the material."""
_bound: Kept[Generator] = Kept(KEPT)


def bound(
    generator: Generator, *, dialogue: int, settings: Mapping[str, Any], endpoint: Endpoint | None
) -> Generator:
    """Return a generator bound to what it needs of a dialogue. Raises Failed where that is not there."""
    if not generator.needs:
        return generator
    loader = LOADERS[generator.needs]
    key = (generator.key, generator.needs, loader.key(dialogue, settings, endpoint))
    return _bound.get(key, lambda: generator.bound(loader.load(dialogue, settings, endpoint)))
