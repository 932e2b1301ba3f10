"""Emptying the database after a test that commits, of what the test has put there.

Django's own way makes about a hundred tables and their indexes anew and looks through the permissions of all
models, which takes a quarter of a second. Here only tables that hold something are touched.
"""

from __future__ import annotations

from django.db import connection, transaction

KEPT = {"django_content_type", "auth_permission"}
"""Lists of what there is, the same before and after a test."""
MANY_PAGES = 256
"""Tables up to this size, of 8 KiB each, are emptied row by row; larger ones are quicker made anew."""
# Foreign keys and the rules of the product (labels are never deleted) do not hold for what is done here.
UNBOUND = "SET LOCAL session_replication_role = replica"
# No writer is in the middle of anything: what it commits would be there for the next test.
LOCK = "LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE"
SIZES = """
SELECT relname, pg_relation_size(oid) / 8192 FROM pg_class
 WHERE oid = ANY(%s::text[]::regclass[]) AND pg_relation_size(oid) > 0
"""
# As after TRUNCATE: a plan made for a table that is known to be empty takes minutes over a full one.
FORGET = "SELECT pg_clear_relation_stats('public', name) FROM unnest(%s::text[]) AS name"


def empty() -> None:
    """Leave every table of the models as a new database has it, but for the numbers given next."""
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
