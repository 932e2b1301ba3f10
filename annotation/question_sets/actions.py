"""Making a question set: every question with every session in which it is asked, by the rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import records
from annotation.errors import QuestionsRefused
from annotation.importing.script_records import make_records, write_uses
from annotation.models import Corpus, Dialogue
from annotation.models.records import QuestionSet
from annotation.question_sets import figures as material
from annotation.question_sets import wordings
from annotation.question_sets.figures import Figures
from annotation.question_sets.reading import called, is_kept
from annotation.question_sets.relations import table_of, version_of
from annotation.question_sets.wordings import Kept, worded
from annotation.scripts.making import MadeSet
from annotation.scripts.making import make as make_one
from annotation.scripts.quiz import POLICIES
from annotation.scripts.records import QUESTION
from annotation.scripts.stored import question_json
from config.models import Event
from config.planner import WORTH_TELLING, tell_planner

# A set's questions and uses as rows, by COPY; and taking them out again where a set is made anew.

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


LONGEST_NAME = 60
MOST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Made:
    """A question set, and whether it is new: not where the same was there already."""

    set: QuestionSet
    created: bool

    def as_json(self) -> dict[str, Any]:
        """Return the counts that the command prints."""
        one = self.set
        told = {"set": one.name, "version": one.version, "created": self.created}
        return told | one.options | one.figures


@transaction.atomic
def make(
    *,
    corpus: Corpus,
    name: str,
    seed: int = 0,
    policy: str = "body",
    presence: bool = True,
    by: User | None,
    progress: Callable[[int, int], None] | None = None,
) -> Made:
    """Make the question set of a name from a corpus's accepted facts and quiz questions, and return it.

    Made from the same, it is returned as it is. One that no simulation used and nobody reviewed is replaced,
    another one gets a new version. `progress` is told (done, all) scripts. Raises QuestionsRefused.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    name = checked(corpus, name, seed, policy)
    last = corpus.question_sets.filter(name=name).order_by("-version").first()
    options: dict[str, Any] = {"seed": seed, "policy": policy, "presence": presence}
    digest = material.digest(corpus, options | {"relations": table_of(corpus).as_rows()})
    if last is not None and last.digest == digest:
        if last.stale:
            last.stale = ""
            last.save(update_fields=["stale"])
        return Made(last, created=False)
    kept = wordings.kept_of(last)
    chosen = _row(corpus, name, last, by)
    chosen.options = options | {"relations": version_of(corpus)}
    chosen.digest, chosen.stale = digest, ""
    chosen.figures = _fill(chosen, kept, progress or _untold)
    chosen.save()
    detail = {"version": chosen.version, **options, "uses": chosen.figures["uses"]}
    Event.objects.create(by=by, verb="make questions", subject=f"{corpus.name}: {name}"[:300], detail=detail)
    return Made(chosen, created=True)


def checked(corpus: Corpus, name: str, seed: int, policy: str) -> str:
    """Return the name that a set may have, tidied; raise QuestionsRefused for what cannot be made."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable() or set(name) & set("@:/%+"):
        raise QuestionsRefused(
            f"Give the set a name of 1 to {LONGEST_NAME} characters, without @ : / % and +.", field="name"
        )
    if policy not in POLICIES:
        raise QuestionsRefused(f"The policy is one of {', '.join(POLICIES)}.", field="policy")
    if not 0 <= seed <= MOST_SEED:
        raise QuestionsRefused(f"The seed is a whole number from 0 to {MOST_SEED:,}.", field="seed")
    if corpus.question_sets.filter(name=name, imported=True).exists():
        raise QuestionsRefused(
            f"The set {name} came with a file, and its keys stand. Choose another name.", field="name"
        )
    if not corpus.dialogues.filter(script__isnull=False).exists():
        raise QuestionsRefused(f"{corpus.name} has no long dialogue of dated sessions to ask about.")
    if not corpus.records.filter(status="accepted", set=None).exists():
        raise QuestionsRefused(
            f"{corpus.name} has no accepted fact or quiz question to ask about: accept some, or have drafts "
            "reviewed."
        )
    return name


def _row(corpus: Corpus, name: str, last: QuestionSet | None, by: User | None) -> QuestionSet:
    """Return the row to fill: the last one emptied, or another version."""
    if last is not None and not is_kept(last):
        clear(last)
        return last
    version = 1 if last is None else last.version + 1
    return QuestionSet.objects.create(corpus=corpus, name=name, version=version, created_by=by)


def _fill(chosen: QuestionSet, kept: wordings.Kept, progress: Callable[[int, int], None]) -> dict[str, Any]:
    """Write a set's questions and uses, script by script; return its figures."""
    figures, table = Figures(), table_of(chosen.corpus)
    scripts = material.scripts(chosen.corpus)
    label = called(chosen)
    progress(0, len(scripts))
    for number, row in enumerate(scripts, start=1):
        dialogue = material.without_texts(row)
        made = make_one(
            dialogue,
            name=label,
            seed=chosen.options["seed"],
            policy=chosen.options["policy"],
            presence=chosen.options["presence"],
            table=table,
        )
        write(chosen, row, dialogue, made, kept)
        figures.add(dialogue, made)
        progress(number, len(scripts))
    return figures.as_json()


def _untold(_done: int, _total: int) -> None:
    """Tell nobody."""
