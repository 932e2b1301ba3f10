"""Removes the rows that a test has committed from the database.

Django's own way truncates about a hundred tables with their indexes and rechecks the permissions of all
models, which takes a quarter of a second. Here only tables with rows are touched.
"""

from __future__ import annotations

from django.db import connection, transaction

KEPT = {"django_content_type", "auth_permission"}
"""Registries of models and permissions, the same before and after a test."""
MANY_PAGES = 256
"""Tables up to this many pages of 8 KiB are emptied row by row; truncating is faster for larger ones."""
# Foreign keys and the product's constraints (labels are never deleted) are suspended here.
UNBOUND = "SET LOCAL session_replication_role = replica"
# Waits for writers in progress, whose commits would otherwise be left for the next test.
LOCK = "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE"
SIZES = """
SELECT relname, pg_relation_size(oid) / 8192 FROM pg_class
 WHERE oid = ANY(%s::text[]::regclass[]) AND pg_relation_size(oid) > 0
"""
# As after TRUNCATE: a plan made for a table known to be empty takes minutes over a full one.
FORGET = "SELECT pg_clear_relation_stats('public', name) FROM unnest(%s::text[]) AS name"


def empty() -> None:
    """Restore every table of the models to that of a new database, except for the next ids."""
    tables = sorted(set(connection.introspection.django_table_names(include_views=False)) - KEPT)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(UNBOUND)
        cursor.execute(LOCK.format(_listed(tables)))
        cursor.execute(SIZES, [tables])
        pages = dict(cursor.fetchall())
        if max(pages.values(), default=0) > MANY_PAGES:
            cursor.execute(f"TRUNCATE {_listed(tables)}")
            return
        for table in pages:
            cursor.execute(f"DELETE FROM {_listed([table])}")
    if pages:
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM (INDEX_CLEANUP ON) {_listed(list(pages))}")
            cursor.execute(FORGET, [list(pages)])


def _listed(tables: list[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, tables))
