"""What PostgreSQL knows of a database's tables, in words that can be compared.

The names that Django and PostgreSQL make up start with the table's and are left out, since a renamed table
keeps them; those that somebody chose are compared. So is everything else, but the order of columns.
"""

from __future__ import annotations

import re

from django.db import connection

MADE_UP = re.compile(r"\b(annotation|calibration|config|jobs|judges|auth|axes|django)_\w+")

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity::text,
       a.attgenerated::text, a.attcollation, pg_get_expr(d.adbin, d.adrelid)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
"""
CONSTRAINTS = """
SELECT c.relname, o.conname, o.contype::text, o.convalidated, pg_get_constraintdef(o.oid)
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
 WHERE o.connamespace = 'public'::regnamespace
"""
INDEXES = """
SELECT c.relname, i.relname, x.indisvalid, x.indisunique,
       regexp_replace(pg_get_indexdef(x.indexrelid), 'INDEX \\S+ ON', 'INDEX ON')
  FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
 WHERE c.relnamespace = 'public'::regnamespace
"""
TRIGGERS = """
SELECT c.relname, t.tgname, t.tgenabled::text, pg_get_triggerdef(t.oid)
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
"""
FUNCTIONS = """
SELECT p.proname, pg_get_functiondef(p.oid), ''
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
"""
OTHERS = """
SELECT c.relkind::text, c.relname, '' FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'S')
"""
SEQUENCES = """
SELECT t.relname, a.attname, s.seqtypid::regtype::text, s.seqstart, s.seqincrement, s.seqmax, s.seqcycle
  FROM pg_sequence s JOIN pg_depend d ON d.objid = s.seqrelid AND d.deptype IN ('a', 'i')
  JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
"""
KINDS = {
    "tables": OTHERS,
    "columns": COLUMNS,
    "constraints": CONSTRAINTS,
    "indexes": INDEXES,
    "triggers": TRIGGERS,
    "functions": FUNCTIONS,
    "sequences": SEQUENCES,
}


def catalog() -> dict[str, list[str]]:
    """By kind, a sorted line for each thing that the database has."""
    found = {}
    with connection.cursor() as cursor:
        for kind, sql in KINDS.items():
            cursor.execute(sql)
            found[kind] = sorted(_line(kind, row) for row in cursor.fetchall())
    return found


def _line(kind: str, row: tuple[object, ...]) -> str:
    first, name, *rest = row
    if kind in ("constraints", "indexes") and MADE_UP.fullmatch(str(name)):
        name = "(made up)"
    return " | ".join(str(part) for part in (first, name, *rest))
