"""Database constraints on labels, and on rows frozen by them."""

import pytest
from django.db import connection, transaction

from annotation.models import Label, Rater
from tests import factories
from tests.constraints.sql import execute

pytestmark = pytest.mark.django_db
LABEL = (
    "INSERT INTO annotation_label (item_id, question_id, rater_id, occasion, sample, number, text, missing,"
    " explanation, campaign_id, assignment_id, supersedes_id, created_at)"
    " VALUES (%s, %s, %s, 'main', 0, %s, %s, %s, '', %s, %s, %s, now())"
)


def values(world, *, item=None, question=None, rater=None, number=4, text=None, missing="", **more):
    return (
        (item or world.turn_item).pk,
        (question or world.overall).pk,
        (rater or world.rater).pk,
        number,
        text,
        missing,
        more.get("campaign"),
        more.get("assignment"),
        more.get("supersedes"),
    )


@pytest.fixture
def label(world):
    execute(LABEL, *values(world))
    return Label.objects.get()


def test_a_label_is_stored(label):
    assert (label.number, label.superseded_at) == (4, None)


def test_a_label_belongs_to_an_existing_item_and_question(world, refused):
    wrong = list(values(world))
    wrong[0] = 10**9
    refused("foreign key", LABEL, *wrong)
    wrong = list(values(world))
    wrong[1] = 10**9
    refused("foreign key", LABEL, *wrong)


def test_a_question_is_answered_on_the_kind_of_item_it_is_made_for(world, refused):
    refused("made for turn items", LABEL, *values(world, item=world.dialogue_item))


@pytest.mark.parametrize("number", [0, 6, 2.5, -1])
def test_a_value_off_the_scale_is_refused(world, refused, number):
    refused("not on the scale", LABEL, *values(world, number=number))


def test_a_text_is_no_answer_to_a_scale(world, refused):
    refused("not on the scale", LABEL, *values(world, number=None, text="good"))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_value_is_a_finite_number(world, refused, number):
    refused("label_number_finite|not on the scale", LABEL, *values(world, number=number))


@pytest.mark.parametrize(
    "answer", [{"number": None}, {"number": 4, "text": "x"}, {"number": 4, "missing": "tired"}]
)
def test_a_label_is_a_number_a_text_or_missing_and_only_one_of_them(world, refused, answer):
    refused("label_one_answer", LABEL, *values(world, **answer))


def test_a_missing_answer_has_a_reason(world):
    execute(LABEL, *values(world, number=None, missing="N/A"))
    assert Label.objects.get().value is None


def test_there_is_one_live_label_for_an_item_question_rater_and_occasion(world, label, refused):
    refused("label_live_once", LABEL, *values(world, number=5))


@pytest.mark.parametrize(
    "change",
    ["number = 5", "missing = 'x', number = NULL", "explanation = 'x'", "occasion = 'check'", "sample = 1"],
)
def test_a_label_is_never_changed(world, label, refused, change):
    refused("never changed", f"UPDATE annotation_label SET {change} WHERE id = %s", label.pk)


def test_superseding_cannot_carry_another_change(world, label, refused):
    refused(
        "never changed",
        "UPDATE annotation_label SET superseded_at = now(), number = 5 WHERE id = %s",
        label.pk,
    )


def test_a_label_is_never_deleted_not_even_with_what_it_is_about(world, label, refused):
    refused("never deleted", "DELETE FROM annotation_label WHERE id = %s", label.pk)
    refused("foreign key", "DELETE FROM annotation_item WHERE id = %s", label.item_id)


def test_only_an_explicit_purge_deletes_labels(world, label):
    with transaction.atomic():
        execute("SET LOCAL concord.purge = 'on'")
        execute("DELETE FROM annotation_label WHERE id = %s", label.pk)
    assert not Label.objects.exists()


def test_a_revision_supersedes_and_is_then_the_live_one(world, label):
    execute("UPDATE annotation_label SET superseded_at = now() WHERE id = %s", label.pk)
    execute(LABEL, *values(world, number=5, supersedes=label.pk))
    assert Label.objects.get(superseded_at=None).number == 5


def test_a_superseded_label_stays_superseded(world, label, refused):
    execute("UPDATE annotation_label SET superseded_at = now() WHERE id = %s", label.pk)
    refused("never changed", "UPDATE annotation_label SET superseded_at = NULL WHERE id = %s", label.pk)


def test_a_label_supersedes_only_one_that_is_no_longer_live_and_about_the_same(world, label, refused):
    other = Rater.objects.create(kind="human", name="r2")
    refused("live or about something else", LABEL, *values(world, rater=other, supersedes=label.pk))
    execute("UPDATE annotation_label SET superseded_at = now() WHERE id = %s", label.pk)
    refused("live or about something else", LABEL, *values(world, rater=other, supersedes=label.pk))


def test_a_label_is_superseded_once(world, label, refused):
    execute("UPDATE annotation_label SET superseded_at = now() WHERE id = %s", label.pk)
    execute(LABEL, *values(world, number=5, supersedes=label.pk))
    execute("UPDATE annotation_label SET superseded_at = now() WHERE superseded_at IS NULL")
    refused("supersedes_id", LABEL, *values(world, number=3, supersedes=label.pk))


def test_a_rater_of_one_corpus_answers_nothing_in_another(world, refused):
    local = Rater.objects.create(kind="human", name="slot 1", corpus=world.other)
    refused("rater is of another corpus", LABEL, *values(world, rater=local))


def test_a_campaign_gives_labels_to_its_own_corpus_alone(world, refused):
    campaign = factories.campaign(world.other, annotators=[world.ana])
    refused("campaign is of another corpus", LABEL, *values(world, campaign=campaign.pk))


def test_a_label_of_an_assignment_is_about_its_task_and_by_its_annotator(world, refused):
    from annotation.work import labels
    from annotation.work import task_actions as labelling

    campaign = factories.campaign(world.corpus, annotators=[world.ana])
    hold = labelling.start(by=world.ana, campaign=campaign.pk)[1]
    mine = labels.rater_of_person(user=world.ana)
    right = {"campaign": campaign.pk, "assignment": hold.assignment}
    refused("about something else", LABEL, *values(world, **right))
    refused("about something else", LABEL, *values(world, rater=mine, assignment=hold.assignment))
    own = world.own.items.filter(kind="turn").first()
    refused("about something else", LABEL, *values(world, rater=mine, item=own, **right))
    execute(LABEL, *values(world, rater=mine, **right))


def test_a_used_scheme_version_is_frozen_with_its_questions(world, label, refused):
    version = world.version.pk
    refused("frozen", "UPDATE annotation_schemeversion SET introduction = 'x' WHERE id = %s", version)
    refused("frozen", "UPDATE annotation_schemeversion SET frozen_at = NULL WHERE id = %s", version)
    refused("frozen", "UPDATE annotation_question SET wording = 'x' WHERE version_id = %s", version)
    refused("frozen", "DELETE FROM annotation_question WHERE version_id = %s", version)
    execute("UPDATE annotation_question SET short_name = 'x' WHERE version_id = %s", version)
    both = "UPDATE annotation_question SET short_name = 'x', wording = 'x' WHERE version_id = %s"
    refused("frozen", both, version)
    copy = (
        "INSERT INTO annotation_question (version_id, key, position, wording, level, values, anchors,"
        ' "group", help, shortcut, required)'
        " VALUES (%s, 'new', 9, 'x', 'text', '[]', '{}', '', '{}', '', false)"
    )
    refused("frozen", copy, version)


def test_an_unused_scheme_version_may_still_change(world):
    execute("UPDATE annotation_schemeversion SET introduction = 'x' WHERE id = %s", world.version.pk)


def test_guidelines_are_frozen_once_a_label_was_given_under_them(world, refused):
    from annotation.work import task_actions as labelling

    campaign = factories.campaign(world.corpus, annotators=[world.ana])
    hold = labelling.start(by=world.ana, campaign=campaign.pk)[1]
    execute("UPDATE annotation_guidelines SET text = 'before' WHERE campaign_id = %s", campaign.pk)
    answers = {str(world.turn_item.pk): {"overall": 4}}
    labelling.submit(by=world.ana, campaign=campaign.pk, assignment=hold.assignment, answers=answers)
    refused("frozen", "UPDATE annotation_guidelines SET text = 'after' WHERE campaign_id = %s", campaign.pk)
    refused("frozen", "DELETE FROM annotation_guidelines WHERE campaign_id = %s", campaign.pk)


@pytest.mark.parametrize(
    "change", ["name = 'other'", "kind = 'judge'", "spec = '{\"a\": 1}'", "identified = false"]
)
def test_a_rater_with_labels_never_changes(world, label, refused, change):
    refused("cannot change", f"UPDATE annotation_rater SET {change} WHERE id = %s", world.rater.pk)


def test_a_rater_without_labels_may_change(world):
    execute("UPDATE annotation_rater SET name = 'other' WHERE id = %s", world.rater.pk)


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("rater_only_people_anonymous", "kind = 'judge', identified = false"),
        ("rater_kind_known", "kind = 'parrot'"),
    ],
)
def test_only_people_are_unidentified_and_kinds_are_known(world, refused, rule, change):
    refused(rule, f"UPDATE annotation_rater SET {change} WHERE id = %s", world.rater.pk)


def test_a_machine_has_no_account(world, refused):
    sql = "UPDATE annotation_rater SET kind = 'judge', user_id = %s WHERE id = %s"
    refused("rater_user_human", sql, world.ana.pk, world.rater.pk)


def test_many_labels_in_one_statement_are_all_checked(world, refused):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM annotation_label")
        assert cursor.fetchone() == (0,)
    sql = (
        "INSERT INTO annotation_label (item_id, question_id, rater_id, occasion, sample, number, missing,"
        " explanation, created_at)"
        " SELECT %s, %s, %s, 'main', n, n, '', '', now() FROM generate_series(1, 6) AS n"
    )
    refused("not on the scale", sql, world.turn_item.pk, world.overall.pk, world.rater.pk)
    assert not Label.objects.exists()
