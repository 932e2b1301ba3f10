"""Submissions that a researcher hands back or voids, and drafts that know who wrote them.

Only a submission has live labels: withdrawing one leaves none behind, and none can be added to it after.
"""

from django.conf import settings
from django.db import migrations, models

MARK = """
CREATE OR REPLACE FUNCTION concord_mark_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ({held})
     AND (TG_OP = 'DELETE' OR NEW.slot_id <> OLD.slot_id OR NEW.state NOT IN ({held})) THEN
    UPDATE annotation_slot SET taken = false WHERE id = OLD.slot_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ({held})
     AND (TG_OP = 'INSERT' OR NEW.slot_id <> OLD.slot_id OR OLD.state NOT IN ({held})) THEN
    UPDATE annotation_slot SET taken = true WHERE id = NEW.slot_id;
  END IF;
  RETURN NULL;
END $$;
"""

WITHDRAWN = """
CREATE FUNCTION concord_check_withdrawn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_label WHERE assignment_id = NEW.id AND superseded_at IS NULL LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'assignment %: its labels are live, so it cannot be %', NEW.id, NEW.state
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_withdrawn AFTER UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (OLD.state = 'submitted' AND NEW.state <> 'submitted')
  EXECUTE FUNCTION concord_check_withdrawn();

CREATE FUNCTION concord_refuse_withdrawn_labels() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE bad record;
BEGIN
  SELECT a.id, a.state INTO bad FROM fresh l JOIN annotation_assignment a ON a.id = l.assignment_id
   WHERE l.superseded_at IS NULL AND a.state IN ('returned', 'voided') LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'label of assignment %: it is %', bad.id, bad.state USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER labels_of_submissions AFTER INSERT ON annotation_label
  REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION concord_refuse_withdrawn_labels();
"""

WITHDRAWN_BACK = """
DROP TRIGGER assignments_withdrawn ON annotation_assignment;
DROP TRIGGER labels_of_submissions ON annotation_label;
DROP FUNCTION concord_check_withdrawn, concord_refuse_withdrawn_labels;
"""


def _mark(*states: str) -> str:
    return MARK.format(held=", ".join(f"'{state}'" for state in states))


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0006_people_data'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_slot_held_once',
        ),
        migrations.RemoveConstraint(
            model_name='assignment',
            name='assignment_state_known',
        ),
        migrations.AddField(
            model_name='assignment',
            name='revision',
            field=models.PositiveBigIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='assignment',
            name='withdrawn_reason',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='assignment',
            name='written_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AlterField(
            model_name='assignment',
            name='state',
            field=models.CharField(choices=[('leased', 'Leased'), ('submitted', 'Submitted'), ('skipped', 'Skipped'), ('expired', 'Expired'), ('returned', 'Returned'), ('voided', 'Voided')], default='leased', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['leased', 'submitted', 'returned'])), fields=('slot',), name='assignment_slot_held_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['leased', 'submitted', 'skipped', 'expired', 'returned', 'voided'])), name='assignment_state_known'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['returned', 'voided']), _negated=True), models.Q(('withdrawn_reason', ''), _negated=True), _connector='OR'), name='assignment_withdrawal_has_reason'),
        ),
        migrations.RunSQL(
            _mark("leased", "submitted", "returned") + WITHDRAWN,
            _mark("leased", "submitted") + WITHDRAWN_BACK,
        ),
    ]
