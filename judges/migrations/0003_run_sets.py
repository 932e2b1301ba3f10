"""Run sets: runs that are started and followed together."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_drawn_with_a_chance'),
        ('jobs', '0003_own_endpoints'),
        ('judges', '0002_invariants'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='RunSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='run_sets', to='annotation.campaign')),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_sets', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='RunSetMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('label', models.CharField(max_length=300)),
                ('job', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='jobs.job')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='jobs.run')),
                ('run_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='judges.runset')),
            ],
            options={
                'ordering': ['run_set', 'position'],
            },
        ),
        migrations.AddConstraint(
            model_name='runset',
            constraint=models.UniqueConstraint(fields=('corpus', 'name'), name='run_set_name_once'),
        ),
        migrations.AddConstraint(
            model_name='runset',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='run_set_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='runsetmember',
            constraint=models.UniqueConstraint(fields=('run_set', 'position'), name='run_set_position_once'),
        ),
        migrations.AddConstraint(
            model_name='runsetmember',
            constraint=models.CheckConstraint(condition=models.Q(('run__isnull', False), ('job__isnull', False), _connector='OR'), name='run_set_member_starts'),
        ),
    ]
