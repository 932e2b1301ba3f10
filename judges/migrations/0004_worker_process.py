from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judges", "0003_run_values")]

    operations = [
        migrations.AddField(
            "worker", "machine", models.CharField(blank=True, default="", max_length=200), preserve_default=False
        ),
        migrations.AddField("worker", "pid", models.PositiveIntegerField(null=True)),
        migrations.AddField("worker", "began", models.PositiveBigIntegerField(null=True)),
    ]
