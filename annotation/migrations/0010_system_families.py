from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0009_scheme_texts'),
    ]

    operations = [
        migrations.AddField(
            model_name='system',
            name='family',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
    ]
