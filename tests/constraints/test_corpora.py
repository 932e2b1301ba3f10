"""Database constraints on dialogues, continuations, turns and items."""

import pytest

from annotation.models import Item, Turn

pytestmark = pytest.mark.django_db
TURN = (
    "INSERT INTO annotation_turn (continuation_id, position, speaker, text, given)"
    " VALUES (%s, %s, 'A', 'x', false)"
)
CONTINUATION = (
    "INSERT INTO annotation_continuation (dialogue_id, key, system_id, mode, trial, condition)"
    " VALUES (%s, %s, %s, %s, 0, '{}')"
)
ITEM = "INSERT INTO annotation_item (corpus_id, kind, continuation_id, turn_id) VALUES (%s, %s, %s, %s)"
DIALOGUE = (
    "INSERT INTO annotation_dialogue (corpus_id, key, cluster, language, summary, participants, metadata)"
    " VALUES (%s, %s, 'c', '', '', '[]', '{}')"
)


def test_a_position_holds_one_turn(world, refused):
    refused("turn_position_once", TURN, world.continuation.pk, 1)


def test_a_continuation_id_is_unique_in_its_dialogue(world, refused):
    refused("continuation_key_once", CONTINUATION, world.dialogue.pk, "x", world.own.system_id, "rollout")


def test_a_dialogue_id_is_unique_in_its_corpus(world, refused):
    refused("dialogue_key_once", DIALOGUE, world.corpus.pk, "d")


def test_a_corpus_name_is_used_once(world, refused):
    sql = "UPDATE annotation_corpus SET name = %s WHERE id = %s"
    refused("annotation_corpus_name", sql, world.corpus.name, world.other.pk)


def test_a_dialogues_own_turns_are_a_rollout(world, refused):
    refused(
        "continuation_self_rollout", "UPDATE annotation_continuation SET mode = 'static' WHERE key = 'self'"
    )


def test_a_mode_is_rollout_or_static(world, refused):
    refused("continuation_mode_known", CONTINUATION, world.dialogue.pk, "y", world.own.system_id, "free")


def test_a_given_turn_is_no_item(world, refused):
    given = Turn.objects.get(continuation=world.continuation, given=True)
    refused("given or of another", ITEM, world.corpus.pk, "turn", world.continuation.pk, given.pk)


def test_an_item_is_a_turn_of_its_own_continuation(world, refused):
    Item.objects.filter(pk=world.other_item.pk).delete()
    turn = world.other_item.turn_id
    refused("given or of another", ITEM, world.corpus.pk, "turn", world.continuation.pk, turn)


def test_an_item_belongs_to_the_corpus_of_its_dialogue(world, refused):
    sql = "UPDATE annotation_item SET corpus_id = %s WHERE id = %s"
    refused("another corpus", sql, world.other.pk, world.turn_item.pk)


def test_a_turn_is_one_item(world, refused):
    turn = world.turn_item.turn_id
    refused("annotation_item_turn_id", ITEM, world.corpus.pk, "turn", world.continuation.pk, turn)


def test_a_continuation_is_one_dialogue_item(world, refused):
    refused("item_dialogue_once", ITEM, world.corpus.pk, "dialogue", world.continuation.pk, None)


@pytest.mark.parametrize(("kind", "with_turn"), [("turn", False), ("dialogue", True), ("session", True)])
def test_a_turn_item_has_a_turn_and_a_dialogue_item_none(world, refused, kind, with_turn):
    turn = world.turn_item.turn_id if with_turn else None
    sql = "UPDATE annotation_item SET kind = %s, turn_id = %s WHERE id = %s"
    refused("item_kind_fits_turn", sql, kind, turn, world.turn_item.pk)


def test_a_split_is_fixed_once_used(world, refused):
    from annotation.models import Split, SplitCluster

    split = Split.objects.create(corpus=world.corpus)
    cluster = SplitCluster.objects.create(split=split, cluster="d", part="dev")
    refused("split_part_known", "UPDATE annotation_splitcluster SET part = 'both' WHERE id = %s", cluster.pk)
    Split.objects.filter(pk=split.pk).update(fixed_at="2026-01-01T00:00Z")
    refused("fixed at its first use", "UPDATE annotation_split SET seed = 7 WHERE id = %s", split.pk)
    refused(
        "fixed at its first use", "UPDATE annotation_splitcluster SET part = 'test' WHERE id = %s", cluster.pk
    )
    refused("fixed at its first use", "DELETE FROM annotation_splitcluster WHERE id = %s", cluster.pk)
