"""Tests' committed data is removed after each test, regardless of the product's own retention rules."""

from __future__ import annotations

import threading

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from annotation.models import Corpus, Item, Label, Rater
from tests import emptying, factories

pytestmark = pytest.mark.django_db(transaction=True)


def labelled() -> None:
    """A corpus with a label, which the database never lets go."""
    factories.dialogue(factories.corpus(), turns=2)
    question = factories.scheme_version("comperdial_turn").questions.get()
    item = Item.objects.filter(kind="turn").first()
    rater = Rater.objects.create(kind="human", name="ann")
    Label.objects.create(item=item, rater=rater, question=question, number=3, occasion="imported")


def rows() -> dict[str, int]:
    """The tables that hold something, but for those which every test finds alike."""
    with connection.cursor() as cursor:
        counts = {}
        for table in set(connection.introspection.django_table_names()) - emptying.KEPT:
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            counts[table] = cursor.fetchone()[0]
    return {table: count for table, count in counts.items() if count}


@pytest.mark.parametrize("limit", [emptying.MANY_PAGES, 0])
def test_small_tables_and_large_ones_are_emptied(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emptying, "MANY_PAGES", limit)
    permissions = set(Permission.objects.values_list("codename", flat=True))
    labelled()
    assert {"annotation_label", "annotation_turn", "annotation_item"} <= rows().keys()
    emptying.empty()
    assert rows() == {}
    assert set(Permission.objects.values_list("codename", flat=True)) == permissions
    labelled()
    assert Label.objects.count() == 1


def test_the_planner_knows_no_more_of_an_emptied_table_than_of_a_new_one() -> None:
    labelled()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE annotation_turn")
        emptying.empty()
        cursor.execute("SELECT relpages, reltuples FROM pg_class WHERE relname = 'annotation_turn'")
        assert cursor.fetchone() == (0, -1)


def test_what_is_just_being_written_is_waited_for() -> None:
    written, commit = threading.Event(), threading.Event()

    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN")
            Corpus.objects.create(name="late")
            written.set()
            assert commit.wait(30)
            cursor.execute("COMMIT")
        connection.close()

    writer, emptier = threading.Thread(target=write), threading.Thread(target=emptied)
    writer.start()
    assert written.wait(30)
    emptier.start()
    wait_until_it_waits()
    commit.set()
    writer.join(30)
    emptier.join(30)
    assert rows() == {}


def emptied() -> None:
    emptying.empty()
    connection.close()


def wait_until_it_waits() -> None:
    """Return once somebody stands before a lock."""
    with connection.cursor() as cursor:
        for _ in range(3000):
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.01)")
    pytest.fail("the table was not locked against a writer")
