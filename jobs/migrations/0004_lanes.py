"""Lanes of the queue of jobs."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0003_own_endpoints'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='lane',
            field=models.CharField(choices=[('short', 'Short'), ('long', 'Long')], db_default='long', default='long', max_length=5),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(('lane__in', ['short', 'long'])), name='job_lane_known'),
        ),
        migrations.RemoveIndex(
            model_name='job',
            name='job_queued',
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state', 'queued')), fields=['lane', 'id'], name='job_queued'),
        ),
    ]
