"""Creation of question sets: every question with every session in which it is asked, at once or by a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from annotation import records
from annotation.corpora import exclusion
from annotation.errors import ExclusionRefused, QuestionsRefused
from annotation.models import Label, Record, Turn
from annotation.models.corpora import Corpus, Dialogue
from annotation.models.records import QuestionSet
from annotation.records import SELF
from annotation.script_records import QUESTION, question_json
from config.models import Event
from config.planner import WORTH_TELLING, analyse_tables
from jobs import job_actions as jobs
from jobs.endpoints.parameters import Parameter
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from suites.long_dialogue.editing import question_figures, question_relations
from suites.long_dialogue.editing.import_records import NewRecord, make_records, write_uses
from suites.long_dialogue.editing.question_editing import supersede
from suites.long_dialogue.editing.question_figures import Figures
from suites.long_dialogue.editing.question_records import asked_before, called, is_kept
from suites.long_dialogue.editing.question_relations import table_of, version_of
from suites.long_dialogue.scripts.making import MadeSet
from suites.long_dialogue.scripts.making import make as make_one
from suites.long_dialogue.scripts.quiz import POLICIES

# Wordings of questions by asker: stored in the questions, and kept when a set is rebuilt.

Styles = Mapping[str, str]
"""Texts by the asker's id, and `default`."""
Wordings = Mapping[tuple[int, str], tuple[str, Styles]]
"""A question's text and its wordings, by dialogue and by key within its set."""


@transaction.atomic
def take_wordings(*, dialogue: Dialogue, styles: Mapping[str, Styles], by: User | None) -> dict[str, int]:
    """Store wordings in questions of a script, by their keys; return how many were `worded` and `superseded`.

    A question that people rated, or that a used set asks, is superseded by a copy with the wordings.
    Questions created by a set stay unchanged once the set is kept (counted as `used`), as do questions that
    already have these wordings.
    """
    sets = {
        question_set.pk: question_set
        for question_set in dialogue.corpus.question_sets.select_for_update(no_key=True)
    }
    rows = Record.objects.select_for_update(of=("self",)).select_related("corpus")
    records = rows.filter(dialogue=dialogue, kind=QUESTION, key__in=list(styles), superseded_by=None)
    counts = {"worded": 0, "superseded": 0, "used": 0}
    labelled = set(
        Label.objects.filter(item__record__in=records).values_list("item__record", flat=True).distinct()
    )
    asked_ids = asked_before(records)
    frozen_sets = {number for number, question_set in sets.items() if is_kept(question_set)}
    for record in records.order_by("pk"):
        content = record.content | {"styles": dict(styles[record.key])}
        if content == record.content:
            continue
        if record.set_id in frozen_sets or (record.set_id is not None and record.pk in asked_ids):
            counts["used"] += 1
        elif record.pk in labelled or record.pk in asked_ids:
            supersede(record=record, content=content, provenance={"by": "wording", "of": record.key}, by=by)
            counts["superseded"] += 1
        else:
            Record.objects.filter(pk=record.pk).update(content=content)
            counts["worded"] += 1
    if counts["superseded"]:
        question_relations.mark_stale(dialogue.corpus, "quiz questions were given wordings")
    if counts["worded"] or counts["superseded"]:
        subject = f"{dialogue.key} in {dialogue.corpus.name}"[:300]
        Event.objects.create(by=by, verb="word questions", subject=subject, detail=counts)
    return counts


def previous_wordings(question_set: QuestionSet | None) -> Wordings:
    """Return the wordings of a set's own questions, for the set that replaces it."""
    if question_set is None:
        return {}
    rows = Record.objects.filter(set=question_set, superseded_by=None, content__has_key="styles")
    return {
        (dialogue, key.partition(":")[2]): (content["text"], content["styles"])
        for dialogue, key, content in rows.values_list("dialogue", "key", "content")
    }


def worded(previous: Wordings, dialogue: int, key: str, text: str) -> Styles:
    """Return a question's wordings in the previous set, if its text is unchanged."""
    before, styles = previous.get((dialogue, key.partition(":")[2]), ("", {}))
    return styles if before == text else {}


# Creation of a question set: every question with every session in which it is asked, by the rules.

# A set's questions and uses as rows, written by COPY, and their deletion before a rebuild.

CLEAR = (
    "DELETE FROM annotation_use WHERE set_id = %s",
    """DELETE FROM annotation_item WHERE record_id IN
       (SELECT id FROM annotation_record WHERE set_id = %s)""",
    "DELETE FROM annotation_record WHERE set_id = %s",
)


def write(
    stored: QuestionSet, row: Dialogue, dialogue: records.Dialogue, made_set: MadeSet, previous: Wordings
) -> None:
    """Write one script's part of a set, in the current transaction, with the `previous` wordings."""
    questions = [
        replace(question, styles=worded(previous, row.pk, question.id, question.text))
        for question in made_set.questions
    ]
    make_records(
        corpus=stored.corpus,
        rows=[
            NewRecord(row.pk, QUESTION, question.id, question_json(question), question.status, stored.pk)
            for question in questions
        ],
        provenance={"by": "rules", "set": stored.name, "version": stored.version},
    )
    write_uses(stored=stored, dialogue=row.pk, record=dialogue, uses=made_set.set.uses)
    if len(made_set.set.uses) >= WORTH_TELLING:
        analyse_tables("annotation_record", "annotation_use")


def clear(stored: QuestionSet) -> None:
    """Delete the content of an unused set, in the current transaction."""
    with connection.cursor() as cursor:
        for statement in CLEAR:
            cursor.execute(statement, [stored.pk])


LONGEST_NAME = 60
MOST_SEED = 2**31 - 1
SEED = Parameter("seed", "whole", "Seed", "Of choices and their order.", 0, MOST_SEED)


@dataclass(frozen=True, slots=True)
class MakeResult:
    """A question set, and whether it is new; False if the same set existed already."""

    set: QuestionSet
    created: bool

    def as_json(self) -> dict[str, Any]:
        """Return the counts printed by the command."""
        question_set = self.set
        data = {"set": question_set.name, "version": question_set.version, "created": self.created}
        return data | question_set.options | question_set.figures


@transaction.atomic
def make(
    *,
    corpus: Corpus,
    name: str,
    seed: int = 0,
    policy: str = "body",
    presence: bool = True,
    exclude: str = "",
    by: User | None,
    progress: Callable[[int, int], None] | None = None,
) -> MakeResult:
    """Make the question set with a name from a corpus's accepted facts and quiz questions, and return it.

    `exclude` leaves out scripts by people's answers, as of now. A set with equal inputs is returned as it is.
    A set that no simulation used and nobody reviewed is replaced, any other set gets a new version.
    `progress` receives (done, total) scripts. Raises QuestionsRefused.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    name, exclude = checked(corpus, name, seed, policy), checked_exclusion(corpus, exclude)
    last = corpus.question_sets.filter(name=name).order_by("-version").first()
    options: dict[str, Any] = {"seed": seed, "policy": policy, "presence": presence}
    options |= {"exclude": exclude} if exclude else {}
    digest = question_figures.digest(corpus, options | {"relations": table_of(corpus).as_rows()})
    if last is not None and last.digest == digest:
        if last.stale:
            last.stale = ""
            last.save(update_fields=["stale"])
        return MakeResult(last, created=False)
    previous = previous_wordings(last)
    question_set = _row(corpus, name, last, by)
    excluded = exclusion.described(corpus, exclude)
    left_out = {"excluded": excluded} if excluded else {}
    question_set.options = options | {"relations": version_of(corpus)} | left_out
    question_set.digest, question_set.stale = digest, ""
    question_set.figures = _fill(question_set, previous, progress or _untold)
    question_set.save()
    detail = {"version": question_set.version, **options, "uses": question_set.figures["uses"]}
    Event.objects.create(by=by, verb="make questions", subject=f"{corpus.name}: {name}"[:300], detail=detail)
    return MakeResult(question_set, created=True)


def checked(corpus: Corpus, name: str, seed: int, policy: str) -> str:
    """Return a set's name, tidied; raise QuestionsRefused for invalid inputs."""
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
        raise QuestionsRefused(f"The set {name} was imported with a file. Choose another name.", field="name")
    if not corpus.dialogues.filter(script__isnull=False).exists():
        raise QuestionsRefused(f"{corpus.name} has no long dialogue of dated sessions to ask about.")
    if not corpus.records.filter(status="accepted", set=None).exists():
        raise QuestionsRefused(
            f"{corpus.name} has no accepted fact or quiz question to ask about: accept some, or have drafts "
            "reviewed."
        )
    return name


def checked_exclusion(corpus: Corpus, exclude: str) -> str:
    """Return an exclusion of scripts without spaces; raise QuestionsRefused for an invalid one."""
    try:
        return exclusion.check(corpus, exclude)
    except ExclusionRefused as error:
        raise QuestionsRefused(f"{error}.", field="exclude") from error


def _row(corpus: Corpus, name: str, last: QuestionSet | None, by: User | None) -> QuestionSet:
    """Return the row to fill: the last version, emptied, or a new version."""
    if last is not None and not is_kept(last):
        clear(last)
        return last
    version = 1 if last is None else last.version + 1
    return QuestionSet.objects.create(corpus=corpus, name=name, version=version, created_by=by)


def _fill(
    question_set: QuestionSet, previous: Wordings, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Write a set's questions and uses, script by script; return its figures."""
    figures, table = Figures(), table_of(question_set.corpus)
    scripts = question_figures.scripts(question_set.corpus, question_set.options.get("exclude", ""))
    label = called(question_set)
    progress(0, len(scripts))
    for number, row in enumerate(scripts, start=1):
        dialogue = question_figures.without_texts(row)
        made_set = make_one(
            dialogue,
            name=label,
            seed=question_set.options["seed"],
            policy=question_set.options["policy"],
            presence=question_set.options["presence"],
            table=table,
        )
        write(question_set, row, dialogue, made_set, previous)
        figures.add(dialogue, made_set)
        progress(number, len(scripts))
    return figures.as_json()


def _untold(_done: int, _total: int) -> None:
    """Ignore progress."""


# Question sets of a large corpus: made in a job, because a page cannot wait that long.

KIND = "questions"
AT_ONCE = 2_000
"""Maximum total of own turns in a corpus's scripts for making a set while the page waits."""


def subject(corpus: Corpus) -> str:
    """Return the subject of a corpus's job: only one runs at a time."""
    return f"corpus {corpus.pk}: questions of {corpus.name}"[:300]


def make_or_start(
    *, corpus: Corpus, name: str, seed: int, policy: str, presence: bool, exclude: str = "", by: User | None
) -> MakeResult | Job:
    """Make a question set at once for a small corpus, else start a job. Raises QuestionsRefused."""
    options: dict[str, Any] = {"name": name, "seed": seed, "policy": policy, "presence": presence}
    options |= {"exclude": exclude}
    own = Turn.objects.filter(
        continuation__key=SELF,
        continuation__dialogue__corpus=corpus,
        continuation__dialogue__script__isnull=False,
    )
    if own[: AT_ONCE + 1].count() <= AT_ONCE:
        return make(corpus=corpus, by=by, **options)
    checked(corpus, name, seed, policy)
    checked_exclusion(corpus, exclude)
    return jobs.start(kind=KIND, subject=subject(corpus), params=options | {"corpus": corpus.pk}, by=by)


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Make a job's set; its result is the counts. Idempotent."""
    params = dict(job.params)
    corpus = Corpus.objects.filter(pk=params.pop("corpus")).first()
    if corpus is None:
        raise JobRefused("the corpus was deleted")
    try:
        return make(corpus=corpus, by=job.created_by, progress=progress, **params).as_json()
    except QuestionsRefused as error:
        raise JobRefused(str(error)) from error


JOB = JobKind(KIND, "Making of questions", run)
