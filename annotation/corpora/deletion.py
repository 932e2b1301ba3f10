"""Deletion of corpora and other sets of rows with all dependent rows, at once or by a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection, models, transaction
from psycopg import sql

from annotation.corpora import queries
from annotation.corpora.import_file import lock_corpus
from annotation.corpora.import_names import own_key
from annotation.errors import DeletionRefused
from annotation.kinds import KINDS
from annotation.models import Scheme
from annotation.models.corpora import Corpus
from config.models import Event
from config.permissions import is_administrator
from jobs import job_actions
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job

# Deletion of rows with all dependent rows, as one set and in whatever app they are.
#
# No rows are loaded: ids are gathered in temporary tables, table by table, along the foreign keys that
# cascade, until no more are found; then all are deleted at once. The caller has checked that this is allowed.

Model = type[models.Model]
Relation = tuple[Model, str]
"""A referring model, and its column."""


class StillUsed(Exception):
    """A row that stays refers to one to be deleted."""


@transaction.atomic
def purge(
    querysets: Sequence[models.QuerySet[models.Model]], progress: Callable[[int, int], None] | None = None
) -> dict[str, int]:
    """Delete rows and their dependents; return the number of deleted rows by table. Raises StillUsed.

    `progress` is called with (tables done, tables in all) before each table.
    """
    gathered: set[Model] = set()
    waiting: list[Model] = []
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("SET LOCAL concord.purge = 'on'")
    for queryset in querysets:
        _open(queryset.model, gathered)
        statement, values = queryset.order_by().values("pk").query.sql_with_params()
        insert = sql.SQL("INSERT INTO {} ").format(_ids(queryset.model)).as_string(None)
        _run(f"{insert} {statement} ON CONFLICT DO NOTHING", values)
        waiting.append(queryset.model)
    while waiting:
        _follow(waiting.pop(), gathered, waiting)
    for model in gathered:
        _run(sql.SQL("ANALYZE {}").format(_ids(model)))
    for model in gathered:
        _refuse_used(model, gathered)
    return _delete(gathered, progress)


def _ids(model: Model) -> sql.Identifier:
    return sql.Identifier(f"purge_{model._meta.db_table}"[:63])


def _run(statement: str | sql.Composable, values: Any = ()) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _open(model: Model, gathered: set[Model]) -> None:
    if model not in gathered:
        _run(sql.SQL("DROP TABLE IF EXISTS pg_temp.{}").format(_ids(model)))
        kind = sql.SQL(model._meta.pk.rel_db_type(connection))  # type: ignore[arg-type]
        create = sql.SQL("CREATE TEMPORARY TABLE {} (id {} PRIMARY KEY) ON COMMIT DROP")
        _run(create.format(_ids(model), kind))
        gathered.add(model)


def _relations(model: Model, *kinds: Callable[..., Any]) -> Iterator[Relation]:
    """Yield all foreign keys to a model, in any app, that have one of these behaviours on its deletion."""
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, models.ManyToOneRel) and relation.on_delete in kinds:
            yield relation.related_model, str(relation.field.column)


def _follow(model: Model, gathered: set[Model], waiting: list[Model]) -> None:
    """Gather the rows that cascade from a model's gathered rows."""
    for other, column in _relations(model, models.CASCADE):
        _open(other, gathered)
        added = _run(
            sql.SQL(
                "INSERT INTO {} SELECT {} FROM {} WHERE {} IN (SELECT id FROM {}) ON CONFLICT DO NOTHING"
            ).format(_ids(other), *_names(other, column), _ids(model))
        )
        if added and other not in waiting:
            waiting.append(other)


def _names(model: Model, column: str) -> tuple[sql.Identifier, sql.Identifier, sql.Identifier]:
    """Return the key, the table and the column of a reference, as identifiers."""
    key = str(model._meta.pk.column) if model._meta.pk else "id"
    return sql.Identifier(key), sql.Identifier(model._meta.db_table), sql.Identifier(column)


def _refuse_used(model: Model, gathered: set[Model]) -> None:
    for other, column in _relations(model, models.PROTECT, models.RESTRICT):
        key, table, reference = _names(other, column)
        used = sql.SQL("SELECT 1 FROM {} WHERE {} IN (SELECT id FROM {})").format(
            table, reference, _ids(model)
        )
        if other in gathered:
            # Not as NOT IN: for many ids that searches all of them for each row. Nor with a LIMIT: to find a
            # first row, where there is none, PostgreSQL would look up each row separately.
            gone = sql.SQL(
                " AND NOT EXISTS (SELECT 1 FROM {} AS gone WHERE gone.id = {}.{}) HAVING count(*) > 0"
            )
            used += gone.format(_ids(other), table, key)
        else:
            used += sql.SQL(" LIMIT 1")
        if _run(used):
            raise StillUsed(
                f"{other._meta.verbose_name_plural} that stay refer to {model._meta.verbose_name_plural}"
            )


def _delete(gathered: set[Model], progress: Callable[[int, int], None] | None) -> dict[str, int]:
    for model in gathered:
        for other, column in _relations(model, models.SET_NULL):
            _, table, reference = _names(other, column)
            clear = sql.SQL("UPDATE {} SET {} = NULL WHERE {} IN (SELECT id FROM {})")
            _run(clear.format(table, reference, reference, _ids(model)))
    gone = {}
    for number, model in enumerate(sorted(gathered, key=lambda model: model._meta.db_table)):
        if progress:
            progress(number, len(gathered))
        key, table, _ = _names(model, "id")
        count = _run(
            sql.SQL("DELETE FROM {} WHERE {} IN (SELECT id FROM {})").format(table, key, _ids(model))
        )
        if count:
            gone[model._meta.db_table] = count
    return gone


# Deletion of a whole corpus: an administrator's explicit, confirmed and logged action.
#
# Only this and the deletion of a person (`annotation.people.deletion`) remove labels.


@transaction.atomic
def delete_corpus(
    *, corpus: Corpus, by: User, confirmation: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, int]:
    """Delete a corpus with everything about it; return the number of deleted rows by table.

    `progress` is called with (tables done, tables in all).

    Raises PermissionDenied unless `by` is an administrator, and DeletionRefused unless `confirmation` is the
    corpus's name.
    """
    check(by, confirmation, corpus.name)
    lock_corpus(corpus.name)
    gone = purge([Corpus.objects.filter(pk=corpus.pk)], progress)
    for kind in KINDS:
        _delete_own_scheme(own_key(corpus, kind))
    Event.objects.create(by=by, verb="delete corpus", subject=corpus.name, detail=gone)
    return gone


def _delete_own_scheme(key: str) -> None:
    """Delete a scheme that was the corpus's own, unless another corpus uses it."""
    try:
        purge([Scheme.objects.filter(key=key)])
    except StillUsed:
        return  # its questions are used elsewhere: they stay


def check(by: User, confirmation: str, name: str) -> None:
    """Raise PermissionDenied unless `by` is an administrator, DeletionRefused unless the name was typed."""
    if not is_administrator(by):
        raise PermissionDenied
    if confirmation != name:
        raise DeletionRefused(f"type the name exactly to confirm: {name}")


# Deletion of a large corpus: a job, so that no request has to wait and a restart loses nothing.

KIND = "deletion"
AT_ONCE = 20_000
"""A corpus of at most this many turns is deleted within the request, in two or three seconds."""


def start_deletion(*, corpus: Corpus, by: User, confirmation: str) -> dict[str, int] | Job:
    """Delete a small corpus and return the number of deleted rows by table; start a job for a larger one.

    Raises the same errors as `delete_corpus`, before any job is started.
    """
    if queries.counts([corpus])[corpus.pk]["turns"] <= AT_ONCE:
        return delete_corpus(corpus=corpus, by=by, confirmation=confirmation)
    check(by, confirmation, corpus.name)
    params = {"corpus": corpus.pk}
    return job_actions.start(kind=KIND, subject=_subject(corpus), params=params, by=by)


def under_way(corpus: Corpus) -> Job | None:
    """Return the running job that deletes a corpus, None where there is none."""
    return job_actions.active_job(KIND, _subject(corpus))


def _subject(corpus: Corpus) -> str:
    return f"corpus {corpus.pk}: {corpus.name}"


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Delete the corpus of a job; its result is {deleted: rows by table}."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    if corpus is None:
        return {"deleted": {}}  # an earlier attempt lost its worker after the last step
    if job.created_by is None:
        raise JobRefused("the account that asked for it is gone: an administrator must ask again")
    try:
        gone = delete_corpus(corpus=corpus, by=job.created_by, confirmation=corpus.name, progress=progress)
    except PermissionDenied:
        raise JobRefused("the person who asked for it is no longer an administrator") from None
    except StillUsed as used:
        raise JobRefused(f"it is still used: {used}") from used
    return {"deleted": gone}


JOB = JobKind(KIND, "Deletion of a corpus", run)
