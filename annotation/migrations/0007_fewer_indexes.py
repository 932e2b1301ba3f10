"""Indexes on columns with which another index begins are not kept twice."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0006_dialogues_in_order'),
    ]

    operations = [
        migrations.AlterField(
            model_name='continuation',
            name='dialogue',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='continuations', to='annotation.dialogue'),
        ),
        migrations.AlterField(
            model_name='label',
            name='question',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='annotation.question'),
        ),
        migrations.AlterField(
            model_name='turn',
            name='continuation',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='annotation.continuation'),
        ),
    ]
