"""That a fake model answered is told once for a run, no more by a flag on each of its calls."""

from django.db import migrations

UNFLAGGED = """
UPDATE jobs_call SET flags = flags - 'fake_model' WHERE flags <> '[]' AND flags @> '["fake_model"]'
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0004_runner'),
    ]

    operations = [
        migrations.RunSQL(UNFLAGGED, migrations.RunSQL.noop),
    ]
