"""The label counts read by pages match the labels, whatever wrote, withdrew or deleted them."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.corpora.deletion import purge
from annotation.models import Corpus, Item, Label, LabelCount, Occasion
from annotation.work import labels
from annotation.work.labels import Answer, record
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db(transaction=True)
_RECOUNT = """
SELECT i.corpus_id, l.question_id, l.rater_id, l.campaign_id, l.occasion,
       count(*), count(*) FILTER (WHERE l.missing <> '')
  FROM annotation_label l JOIN annotation_item i ON i.id = l.item_id
 WHERE l.superseded_at IS NULL GROUP BY 1, 2, 3, 4, 5
"""
_KEPT = """
SELECT corpus_id, question_id, rater_id, campaign_id, occasion, sum(n)::bigint, sum(missing)::bigint
  FROM annotation_labelcount GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0 OR sum(missing) <> 0
"""


def _rows(statement: str) -> set[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return set(cursor.fetchall())


def assert_exact() -> None:
    """What is kept equals a recount."""
    assert _rows(_KEPT) == _rows(_RECOUNT)


@pytest.fixture
def asked() -> World:
    built = world(dialogues=2, turns=4)
    built.ask("quality", "ordinal", [1, 2, 3])
    built.ask("tone", "ordinal", [1, 2, 3])
    return built


def _answer(built: World, name: str, item: Item, value: float | None, key: str = "quality") -> None:
    missing = "" if value is not None else "not sure"
    answer = Answer(item, built.questions[key], value, missing)
    record(rater=built.rater(name), answers=[answer], occasion=Occasion.MAIN)


def test_new_revised_and_missing_answers_are_counted_as_they_stand(asked: World) -> None:
    _answer(asked, "ann", asked.turns[0], 1.0)
    _answer(asked, "ann", asked.turns[1], None)
    _answer(asked, "ben", asked.turns[0], 2.0, "tone")
    _answer(asked, "ann", asked.turns[0], 3.0)
    _answer(asked, "ann", asked.turns[1], 3.0)
    assert_exact()
    assert labels.count_labels(asked.corpus) == 3


def test_a_withdrawn_label_counts_no_more(asked: World) -> None:
    _answer(asked, "ann", asked.turns[0], 1.0)
    Label.objects.update(superseded_at="2026-01-01T00:00:00Z")
    assert_exact()
    assert labels.count_labels(asked.corpus) == 0


def test_what_is_rolled_back_was_never_counted(asked: World) -> None:
    with transaction.atomic():
        _answer(asked, "ann", asked.turns[0], 1.0)
        transaction.set_rollback(True)
    assert not LabelCount.objects.exists()


def test_deleting_a_raters_labels_takes_them_off(asked: World) -> None:
    _answer(asked, "ann", asked.turns[0], 1.0)
    _answer(asked, "ben", asked.turns[0], 1.0)
    purge([Label.objects.filter(rater=asked.rater("ann"))])
    assert_exact()
    assert labels.count_labels(asked.corpus) == 1


def test_deleting_a_corpus_leaves_no_count_of_it(asked: World) -> None:
    _answer(asked, "ann", asked.turns[0], 1.0)
    purge([Corpus.objects.filter(pk=asked.corpus.pk)])
    assert not LabelCount.objects.exists()


def test_putting_rows_together_changes_no_sum(asked: World) -> None:
    for item in asked.turns:
        for value in (1.0, 2.0, None):
            _answer(asked, "ann", item, value)
    before = labels.total_labels(LabelCount.objects.all())
    labels.compact()
    assert LabelCount.objects.count() == 1
    assert labels.total_labels(LabelCount.objects.all()) == before
    assert_exact()


def test_putting_together_gives_way_to_a_deletion_under_way(asked: World) -> None:
    for item in asked.turns:
        for value in (1.0, 2.0):
            _answer(asked, "ann", item, value)
    kept = LabelCount.objects.count()
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute("SELECT 1 FROM annotation_corpus FOR UPDATE")
            labels.compact()
            cursor.execute("ROLLBACK")
    finally:
        other.close()
    assert LabelCount.objects.count() == kept
    assert_exact()


def test_the_counts_equal_a_recount_under_writers_at_the_same_time(asked: World) -> None:
    """Six raters answer, revise and roll back while rows are put together all the time."""
    done = threading.Event()

    def write(name: str) -> None:
        try:
            for number, item in enumerate(asked.turns * 2):
                with transaction.atomic():
                    _answer(asked, name, item, float(1 + number % 3))
                    transaction.set_rollback(number % 4 == 3)
        finally:
            connection.close()

    def put_together() -> None:
        try:
            while not done.is_set():
                labels.compact()
        finally:
            connection.close()

    writers = [threading.Thread(target=write, args=(f"r{number}",)) for number in range(6)]
    for name in range(6):
        asked.rater(f"r{name}")
    compactor = threading.Thread(target=put_together)
    for thread in (compactor, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    compactor.join()
    assert_exact()
    assert labels.count_labels(asked.corpus) == Label.objects.filter(superseded_at=None).count() > 0


def test_what_stays_is_looked_for_without_a_search_through_all_that_goes(asked: World) -> None:
    """As `NOT IN` it took the square of a corpus's calls: a large corpus was never deleted."""
    _answer(asked, "ann", asked.turns[0], 1.0)
    with CaptureQueriesContext(connection) as statements:
        purge([Corpus.objects.filter(pk=asked.corpus.pk)])
    asked_for = [query["sql"] for query in statements]
    assert not [statement for statement in asked_for if "NOT IN" in statement]
    assert [statement for statement in asked_for if "NOT EXISTS" in statement]
