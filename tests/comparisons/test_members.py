"""Members of a comparison: whole continuations or responses to one point, in a fixed order."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from annotation.corpora import comparisons
from annotation.models import Continuation, Corpus, Item, ItemMember, Label
from annotation.schemes.definitions import as_shown, in_own_order, is_ranking
from annotation.text.references import members_key_sql
from annotation.work import labels
from annotation.work.labels import Answer
from tests import factories

KEY = members_key_sql("i.id", "(SELECT 'd'::text)")


def corpus_of(*systems: str, at: int = 2) -> tuple[Corpus, list[Continuation]]:
    """Make a dialogue that each system answers once at a point of it."""
    made = factories.corpus()
    dialogue = factories.dialogue(made, "d")
    answer = [{"text": "so", "at": at}]
    return made, [
        factories.continuation(dialogue, name, system=name, turns=answer, mode="static") for name in systems
    ]


@pytest.mark.django_db
def test_a_set_of_members_is_one_item_in_one_order() -> None:
    corpus, (one, other, _) = corpus_of("m", "n", "o")
    turns = [(part.pk, part.turns.get().pk) for part in (one, other)]
    whole = [(one.pk, None), (other.pk, None)]
    assert comparisons.make(corpus=corpus, sets=[turns, whole, turns[::-1]]) == 2
    assert comparisons.make(corpus=corpus, sets=[whole[::-1]]) == 0
    by_turn, by_whole = Item.objects.filter(kind="pair").order_by("id")
    assert (by_turn.compared, by_whole.compared) == (comparisons.compared(turns), comparisons.compared(whole))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {KEY} FROM annotation_item i WHERE i.id = %s", [by_turn.pk])
        assert cursor.fetchone() == (by_turn.key,)
    assert comparisons.keys_of([by_turn.pk, by_whole.pk]) == {one.pk: one.key for one in (by_turn, by_whole)}


@pytest.mark.django_db
def test_members_that_do_not_fit_or_change_are_refused() -> None:
    corpus, parts = corpus_of("m", "n", "o")
    elsewhere = factories.continuation(
        factories.dialogue(corpus, "e"), "m", system="m", turns=[{"text": "a"}]
    )
    later = factories.continuation(
        parts[0].dialogue, "late", system="m", turns=[{"text": "a", "at": 1}], mode="static"
    )
    first, second = parts[0].turns.get().pk, later.turns.get().pk
    for sets in (
        [(parts[0].pk, None), (elsewhere.pk, None)],
        [(parts[0].pk, None), (parts[1].pk, parts[1].turns.get().pk)],
        [(parts[0].pk, first), (later.pk, second)],
        [(parts[0].pk, first), (parts[1].pk, first)],
        [(parts[0].pk, None)],
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            comparisons.make(corpus=corpus, sets=[sets])
    comparisons.make(corpus=corpus, sets=[[(part.pk, None) for part in parts[:2]]])
    pair = Item.objects.get(kind="pair")
    for change in (
        lambda: pair.members.update(number=3),
        lambda: pair.members.all().delete(),
        lambda: Item.objects.filter(pk=pair.pk).update(continuation=parts[2]),
        lambda: ItemMember.objects.create(item=pair, number=2, continuation=parts[2]),
        lambda: _bare(corpus, parts[0]),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


def _bare(corpus: Corpus, part: Continuation) -> None:
    Item.objects.create(corpus=corpus, kind="pair", continuation=part, compared="x")
    connection.check_constraints()


@pytest.mark.django_db
def test_answers_that_are_no_order_of_the_members_are_refused() -> None:
    corpus, parts = corpus_of("m", "n", "o")
    comparisons.make(corpus=corpus, sets=[[(part.pk, None) for part in parts]])
    item = Item.objects.get(kind="ranking")
    question = factories.scheme_version("preference_ranking").questions.get()
    rater = labels.imported_rater(corpus=corpus, kind="human", name="r")
    for wrong in ("0>1", "0>1>2>3", "0>1>1", "1=0>2", "0>2,1", "2 > 1 > 0", ""):
        assert not is_ranking(wrong, 3)
        with pytest.raises(DatabaseError), transaction.atomic():
            labels.record(rater=rater, answers=[Answer(item, question, wrong)], occasion="main")
    (label,) = labels.record(rater=rater, answers=[Answer(item, question, "2>0=1")], occasion="main")
    with pytest.raises(DatabaseError), transaction.atomic():
        Label.objects.create(
            item=item, question=question, rater=rater, occasion="imported", text="0>1>2", shown=[0, 1]
        )
    assert label.text == "2>0=1"


def test_an_answer_means_the_same_whatever_order_was_shown() -> None:
    pair = ("nominal", ("first", "tie", "second", "both_bad"))
    assert in_own_order("first", [1, 0], *pair) == "second"
    assert in_own_order("first", [0, 1], *pair) == in_own_order("first", None, *pair) == "first"
    assert in_own_order("tie", [1, 0], *pair) == "tie"
    assert in_own_order("0>1=2", [2, 0, 1], "ranking", ()) == "2>0=1"
    assert as_shown("2>0=1", [2, 0, 1], "ranking", ()) == "0>1=2"
    assert in_own_order("first", [1, 0], "text", ()) == "first", "a text is about nothing in particular"
    assert in_own_order("first", [1, 0], "nominal", ("first", "last")) == "first"
