import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('jobs', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('sources', models.JSONField()),
                ('made_from', models.JSONField(default=list)),
                ('order', models.JSONField()),
                ('leave_out_failed', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('making', 'Making'), ('stuck', 'Stuck'), ('done', 'Done'), ('cancelled', 'Cancelled')], default='making', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('error', models.TextField(blank=True)),
                ('figures', models.JSONField(default=dict)),
                ('sha256', models.CharField(blank=True, max_length=64)),
                ('checked_by_name', models.CharField(blank=True, max_length=150)),
                ('checked_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('checked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('corpus', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='benchmark', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.endpoint')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['making', 'stuck', 'done', 'cancelled'])), name='benchmark_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('corpus__isnull', False), ('state', 'done')), models.Q(models.Q(('state', 'done'), _negated=True), ('corpus__isnull', True)), _connector='OR'), name='benchmark_done_has_its_corpus'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'stuck'), _negated=True), models.Q(('error', ''), _negated=True), _connector='OR'), name='benchmark_stuck_says_why')],
            },
        ),
        migrations.CreateModel(
            name='BenchmarkRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(max_length=20)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='systems.benchmark')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='benchmarks', to='jobs.run')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'step', 'run'), name='benchmark_run_once')],
            },
        ),
        migrations.CreateModel(
            name='Writer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('spec', models.JSONField()),
                ('fingerprint', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='writers', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('system', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='writer', to='annotation.system')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('corpus', 'name'), name='writer_name_once'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='writer_has_a_name')],
            },
        ),
        migrations.CreateModel(
            name='Production',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('generator', models.CharField(max_length=60)),
                ('condition', models.JSONField()),
                ('condition_hash', models.CharField(max_length=64)),
                ('trial', models.PositiveIntegerField(default=0)),
                ('memory', models.JSONField(default=dict)),
                ('step', models.PositiveIntegerField(default=0)),
                ('status', models.CharField(choices=[('writing', 'Writing'), ('done', 'Done'), ('failed', 'Failed')], default='writing', max_length=10)),
                ('error', models.TextField(blank=True)),
                ('flags', models.JSONField(default=list)),
                ('result', models.JSONField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('continuation', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='production', to='annotation.continuation')),
                ('dialogue', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='productions', to='annotation.dialogue')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='productions', to='jobs.run')),
                ('writer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='productions', to='systems.writer')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['run', 'status'], name='production_by_status')],
                'constraints': [models.UniqueConstraint(fields=('dialogue', 'writer', 'condition_hash', 'trial'), name='production_once'), models.CheckConstraint(condition=models.Q(('status__in', ['writing', 'done', 'failed'])), name='production_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('continuation__isnull', False), ('result__isnull', True), ('status', 'done')), models.Q(('continuation__isnull', True), ('result__isnull', False), ('status', 'done')), models.Q(models.Q(('status', 'done'), _negated=True), ('continuation__isnull', True), ('result__isnull', True)), _connector='OR'), name='production_done_has_what_it_wrote'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), _negated=True), models.Q(('error', ''), _negated=True), _connector='OR'), name='production_failed_says_why')],
            },
        ),
        migrations.CreateModel(
            name='ProductionCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.PositiveIntegerField()),
                ('part', models.PositiveIntegerField()),
                ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='productions', to='jobs.call')),
                ('production', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='systems.production')),
            ],
            options={
                'ordering': ['production', 'step', 'part'],
                'constraints': [models.UniqueConstraint(fields=('production', 'step', 'part'), name='production_call_once')],
            },
        ),
        migrations.CreateModel(
            name='Simulation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('order', models.JSONField()),
                ('digest', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('making', 'Making'), ('stuck', 'Stuck'), ('done', 'Done'), ('cancelled', 'Cancelled')], default='making', max_length=10)),
                ('step', models.CharField(blank=True, max_length=20)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='simulations', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.endpoint')),
                ('question_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='simulations', to='annotation.questionset')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('corpus', 'digest'), name='simulation_once'), models.CheckConstraint(condition=models.Q(('state__in', ['making', 'stuck', 'done', 'cancelled'])), name='simulation_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'stuck'), _negated=True), models.Q(('error', ''), _negated=True), _connector='OR'), name='simulation_stuck_says_why')],
            },
        ),
        migrations.CreateModel(
            name='SimulationRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(max_length=20)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='simulations', to='jobs.run')),
                ('simulation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='systems.simulation')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('simulation', 'step', 'run'), name='simulation_run_once')],
            },
        ),
    ]
