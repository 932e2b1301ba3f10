"""From wherever a database stands, one upgrade leads to the end; from nowhere else is it tried."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from config.commands import migrations_wait
from config.upgrade.chain import APPS, PUBLISHED, ChainExecutor
from config.upgrade.states import INITIAL, UpgradeError, is_earlier
from config.upgrade.upgrading import upgrade
from tests.upgrade.catalog import catalog
from tests.upgrade.databases import rows


def applied() -> set[tuple[str, str]]:
    return {pair for pair in MigrationRecorder(connection).applied_migrations() if pair[0] in APPS}


def after_publication() -> list[tuple[str, str]]:
    """The chain's steps since the last release, in the order in which they are applied."""
    executor = ChainExecutor(connection)
    return [(step.app_label, step.name) for step, _ in executor.migration_plan(executor.end())]


def test_a_second_upgrade_does_nothing(old) -> None:
    assert upgrade(connection)
    before = rows()
    assert not upgrade(connection)
    assert rows() == before


@pytest.mark.slow
def test_a_database_at_any_point_of_the_chain_is_upgraded(old) -> None:
    plan = after_publication()
    assert len(plan) == 15
    ends = {}
    for reached in [PUBLISHED[0], *plan[:: max(1, len(plan) // 2)], plan[-1]]:
        with transaction.atomic():
            ChainExecutor(connection).migrate([reached])
            assert upgrade(connection)
            assert applied() == set(INITIAL)
            ends[reached] = catalog()["constraints"]
            transaction.set_rollback(True)
    assert len({tuple(lines) for lines in ends.values()}) == 1


def test_a_chain_that_was_never_finished_is_upgraded(empty) -> None:
    ChainExecutor(connection).migrate([("annotation", "0002_invariants")])
    call_command("migrate", interactive=False, verbosity=0)
    assert not migrations_wait()


def test_an_empty_database_is_made_without_the_chain(empty) -> None:
    assert not upgrade(connection)
    assert applied() == set()


def test_the_command_says_what_it_does_and_a_look_changes_nothing(old) -> None:
    said = io.StringIO()
    call_command("migrate", plan=True, stdout=said)
    with pytest.raises(SystemExit):
        call_command("migrate", check_unapplied=True, stdout=said)
    assert said.getvalue() == "The database is of an earlier release and will be upgraded.\n" * 2
    assert applied() & set(PUBLISHED)
    assert migrations_wait()
    call_command("migrate", interactive=False, stdout=(done := io.StringIO()))
    assert done.getvalue().startswith("The database of an earlier release was upgraded.\n")
    assert not migrations_wait()


def test_a_state_that_no_release_had_is_refused_in_one_line(old) -> None:
    before = rows()
    for name, sentence in (
        ("0009_later", "does not know the migration annotation.0009_later"),
        ("0001_tables", "annotation.0001_tables are of two releases"),
        ("0006_people_data", "in an order that no release had"),
    ):
        recorder = MigrationRecorder(connection)
        recorder.record_applied("annotation", name)
        with pytest.raises(CommandError, match=sentence) as refused:
            call_command("migrate", interactive=False, verbosity=0)
        assert len(str(refused.value).splitlines()) == 1
        recorder.record_unapplied("annotation", name)
    assert without_numbers(rows()) == without_numbers(before)


def without_numbers(found: dict[str, list[dict[str, object]]]) -> dict[str, list[dict[str, object]]]:
    return {table: lines for table, lines in found.items() if table != "django_migrations"}


def test_other_apps_do_not_matter_to_what_a_state_is() -> None:
    assert not is_earlier([("auth", "0012_x"), ("elsewhere", "0001_initial")])
    assert not is_earlier(INITIAL[:3])
    assert is_earlier([*PUBLISHED, ("authtoken", "0001_initial")])
    with pytest.raises(UpgradeError, match=r"does not know the migration jobs\.0009_x"):
        is_earlier([*INITIAL, ("jobs", "0009_x")])
