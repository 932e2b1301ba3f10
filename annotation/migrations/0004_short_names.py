import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_invariants")]
    operations = [
        migrations.AddField(
            model_name="question",
            name="short_name",
            field=models.CharField(blank=True, db_default="", default="", max_length=80),
        ),
        migrations.AddField(
            model_name="rater",
            name="short_name",
            field=models.CharField(blank=True, db_default="", default="", max_length=80),
        ),
        migrations.AddConstraint(
            model_name="rater",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("short_name"),
                condition=models.Q(("short_name", ""), _negated=True),
                name="rater_short_name_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="rater",
            constraint=models.CheckConstraint(
                condition=models.Q(("short_name", ""), ("kind__in", ["judge", "metric"]), _connector="OR"),
                name="rater_short_name_machine",
            ),
        ),
    ]
