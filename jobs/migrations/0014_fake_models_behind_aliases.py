from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0013_lost_requests'),
    ]

    operations = [
        migrations.AddField(
            model_name='endpoint',
            name='fake_model',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
