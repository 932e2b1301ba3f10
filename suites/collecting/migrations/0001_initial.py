import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0008_review_queue'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Inventory',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('names', models.JSONField()),
                ('families', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'inventories',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='PersonaHead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('text', models.CharField(max_length=300)),
                ('start_age', models.PositiveSmallIntegerField()),
                ('end_age', models.PositiveSmallIntegerField()),
                ('genders', models.JSONField()),
                ('tails', models.JSONField(default=dict)),
                ('negative', models.BooleanField(default=False)),
                ('inventory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='heads', to='collecting.inventory')),
            ],
            options={
                'ordering': ['inventory', 'number'],
            },
        ),
        migrations.CreateModel(
            name='PersonaSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('inventory_sha256', models.CharField(max_length=64)),
                ('seed', models.BigIntegerField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('corpus', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='persona_set', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('dialogues', models.ManyToManyField(related_name='+', to='annotation.corpus')),
                ('inventory', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sets', to='collecting.inventory')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Persona',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=300)),
                ('age', models.PositiveSmallIntegerField()),
                ('gender', models.CharField(max_length=30)),
                ('original', models.JSONField()),
                ('sentences', models.JSONField()),
                ('replaced', models.JSONField(default=list)),
                ('remaining', models.JSONField(default=list)),
                ('flags', models.JSONField(default=list)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('accepted', 'Accepted'), ('corrected', 'Corrected'), ('rejected', 'Rejected')], default='draft', max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('first', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='collecting.personahead')),
                ('second', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='collecting.personahead')),
                ('set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personas', to='collecting.personaset')),
            ],
            options={
                'ordering': ['set', 'number'],
            },
        ),
        migrations.AddConstraint(
            model_name='personahead',
            constraint=models.UniqueConstraint(fields=('inventory', 'number'), name='persona_head_number_once'),
        ),
        migrations.AddConstraint(
            model_name='personahead',
            constraint=models.CheckConstraint(condition=models.Q(('start_age__lte', models.F('end_age'))), name='persona_head_ages_in_order'),
        ),
        migrations.AddConstraint(
            model_name='persona',
            constraint=models.UniqueConstraint(fields=('set', 'number'), name='persona_number_once'),
        ),
        migrations.AddConstraint(
            model_name='persona',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'accepted', 'corrected', 'rejected'])), name='persona_status_known'),
        ),
    ]
