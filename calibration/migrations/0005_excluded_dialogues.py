from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("calibration", "0004_anchor_sets"),
    ]

    operations = [
        migrations.AddField(
            model_name="export",
            name="excluded",
            field=models.JSONField(null=True),
        ),
    ]
