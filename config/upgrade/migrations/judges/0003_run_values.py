from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judges", "0002_endpoint_addresses_and_tests")]

    operations = [
        migrations.AddField("run", "values", models.PositiveIntegerField(null=True)),
        migrations.AddField("run", "missing", models.PositiveIntegerField(null=True)),
        migrations.AddField(
            "run", "missing_reason", models.TextField(blank=True, default=""), preserve_default=False
        ),
    ]
