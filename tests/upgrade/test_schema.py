"""A new database and one that was upgraded have the same tables, to the last constraint."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config.upgrade.states import INITIAL
from config.upgrade.upgrading import upgrade
from tests.upgrade.catalog import catalog
from tests.upgrade.databases import connected_to, database


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


@pytest.fixture(scope="module")
def fresh(django_db_blocker) -> dict[str, list[str]]:
    """The catalog of a database that has known no other migrations than this release's."""
    with django_db_blocker.unblock(), database("fresh") as name, connected_to(name):
        migrate()
        return catalog()


def test_an_upgraded_database_has_the_tables_of_a_new_one(fresh, old) -> None:
    migrate()
    upgraded = catalog()
    for kind, lines in fresh.items():
        assert upgraded[kind] == lines, kind
    assert len(fresh["triggers"]) == 69
    assert any("mark_slot" in line and "returned" in line for line in fresh["functions"])


@pytest.mark.slow
def test_models_rendered_alone_make_the_same_tables(fresh) -> None:
    """Django's own way, in which every operation renders all related models, makes no other database."""
    with database("rendered_whole") as name, connected_to(name):
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
        assert catalog() == fresh


def test_the_comparison_sees_what_is_missing_or_different(fresh, old) -> None:
    migrate()
    changes = {
        "triggers": "DROP TRIGGER labels_kept ON annotation_label",
        "constraints": "ALTER TABLE annotation_label DROP CONSTRAINT label_number_finite",
        "columns": "ALTER TABLE jobs_run ALTER COLUMN kind SET DEFAULT 'judge'",
        "indexes": "DROP INDEX call_pending",
    }
    with connection.cursor() as cursor:
        for kind, change in changes.items():
            cursor.execute(change)
            assert catalog()[kind] != fresh[kind], change


def test_only_the_initial_set_is_recorded_afterwards(old) -> None:
    assert upgrade(connection)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT app, name FROM django_migrations WHERE app NOT IN ('auth', 'contenttypes', 'sessions')"
        )
        assert sorted(cursor.fetchall()) == sorted(INITIAL)
