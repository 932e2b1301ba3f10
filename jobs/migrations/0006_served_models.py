"""Model and build that a server says answered a call."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0005_model_prices'),
    ]

    operations = [
        migrations.AddField(
            model_name='call',
            name='served_model',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='call',
            name='system_fingerprint',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(condition=models.Q(('served_model', ''), ('system_fingerprint', ''), _negated=True), fields=['run', 'served_model', 'system_fingerprint'], name='call_served'),
        ),
    ]
