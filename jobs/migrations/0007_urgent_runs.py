"""Runs whose replies somebody waits for."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0006_served_models'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='urgent',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
