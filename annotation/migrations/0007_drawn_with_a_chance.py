from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_transcription_marks"),
    ]

    operations = [
        migrations.AddField(
            model_name="sampleditem",
            name="probability",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="sampleditem",
            name="stratum",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddConstraint(
            model_name="sampleditem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("probability__isnull", True),
                    models.Q(("probability__gt", 0), ("probability__lte", 1)),
                    _connector="OR",
                ),
                name="item_drawn_with_a_chance",
            ),
        ),
    ]
