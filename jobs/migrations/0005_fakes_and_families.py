"""That a fake model answered is told once for a run, no more by a flag on each of its calls; and the family
of an endpoint's model is kept."""

from django.db import migrations, models

UNFLAGGED = """
UPDATE jobs_call SET flags = flags - 'fake_model' WHERE flags <> '[]' AND flags @> '["fake_model"]'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0004_runner'),
    ]

    operations = [
        migrations.AddField(
            model_name='endpoint',
            name='family',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
        migrations.RunSQL(UNFLAGGED, migrations.RunSQL.noop),
    ]
