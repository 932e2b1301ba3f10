from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0014_authors'),
        ('collecting', '0002_chats'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WriterNumber',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('corpus', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.corpus')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('corpus', 'user'), name='writer_numbered_once'), models.UniqueConstraint(fields=('corpus', 'number'), name='writer_number_once')],
            },
        ),
        migrations.CreateModel(
            name='WritingPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('personas', models.CharField(choices=[('both', "Both speakers' personas"), ('own', 'Only that of the one for whom they write')], default='both', max_length=10)),
                ('most_characters', models.PositiveIntegerField(default=500)),
                ('show_real', models.BooleanField(default=False)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='writing_plan', to='annotation.campaign')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('most_characters__range', (1, 10000)), ('personas__in', ['both', 'own'])), name='writing_plan_known')],
            },
        ),
        migrations.CreateModel(
            name='WrittenResponse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('point', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('at', models.DateTimeField()),
                ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='written_responses', to='annotation.assignment')),
            ],
            options={
                'ordering': ['assignment', 'number'],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'number'), name='written_number_once'), models.UniqueConstraint(fields=('assignment', 'point'), name='written_point_once')],
            },
        ),
        migrations.RunSQL((Path(__file__).parent / 'writing.sql').read_text()),
    ]
