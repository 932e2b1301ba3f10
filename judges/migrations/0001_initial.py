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
            name='PromptText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('system', models.TextField(blank=True)),
                ('user', models.TextField()),
                ('form', models.CharField(blank=True, max_length=40)),
                ('examples', models.JSONField(default=list)),
                ('picking', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Bench',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('protocol', models.CharField(max_length=60)),
                ('variant', models.CharField(blank=True, max_length=60)),
                ('questions', models.JSONField(default=dict)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('include_self', models.BooleanField(db_default=False, default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='benches', to='annotation.campaign')),
                ('corpus', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='benches', to='annotation.corpus')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('scheme_version', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='benches', to='annotation.schemeversion')),
                ('split', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='benches', to='annotation.split')),
            ],
            options={
                'verbose_name_plural': 'benches',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='CallLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='made', to='jobs.call')),
                ('label', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='made_by', to='annotation.label')),
            ],
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('variant', models.CharField(blank=True, max_length=60)),
                ('parent', models.CharField(blank=True, max_length=120)),
                ('options', models.JSONField(default=dict)),
                ('targets', models.PositiveIntegerField(default=0)),
                ('samples', models.PositiveIntegerField(default=1)),
                ('check_key', models.CharField(blank=True, max_length=40)),
                ('change', models.JSONField(default=dict)),
                ('kept', models.CharField(blank=True, max_length=120)),
                ('discarded_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('bench', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='judges.bench')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='jobs.endpoint')),
                ('kept_rater', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.rater')),
                ('of', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='judges.draft')),
                ('rater', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='draft', to='annotation.rater')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='judges.prompttext')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('bench', 'number'), name='draft_number_once'), models.CheckConstraint(condition=models.Q(('samples__gte', 1)), name='draft_has_samples'), models.CheckConstraint(condition=models.Q(models.Q(('kept', ''), ('kept_rater', None)), models.Q(models.Q(('kept', ''), _negated=True), ('kept_rater__isnull', False)), _connector='OR'), name='draft_kept_whole'), models.CheckConstraint(condition=models.Q(models.Q(('check_key', ''), ('of', None)), models.Q(('kept', ''), ('of__isnull', False), models.Q(('check_key', ''), _negated=True)), _connector='OR'), name='draft_check_of_another')],
            },
        ),
        migrations.CreateModel(
            name='Embedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=200)),
                ('text_hash', models.CharField(max_length=64)),
                ('vector', models.BinaryField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('model', 'text_hash'), name='embedding_once')],
            },
        ),
        migrations.CreateModel(
            name='Prompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('protocol', models.CharField(max_length=60)),
                ('variant', models.CharField(blank=True, max_length=60)),
                ('description', models.TextField(blank=True)),
                ('archived', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='prompts', to=settings.AUTH_USER_MODEL)),
                ('scheme_version', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='prompts', to='annotation.schemeversion')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='PromptVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('parent', models.CharField(blank=True, max_length=120)),
                ('origin', models.CharField(choices=[('written', 'Written'), ('copied', 'Copied'), ('imported', 'Imported'), ('proposed', 'Proposed')], default='written', max_length=10)),
                ('note', models.TextField(blank=True)),
                ('detail', models.JSONField(default=dict)),
                ('adopted_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('adopted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='prompt_versions', to=settings.AUTH_USER_MODEL)),
                ('prompt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='judges.prompt')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='judges.prompttext')),
            ],
            options={
                'ordering': ['prompt', '-number'],
                'constraints': [models.UniqueConstraint(fields=('prompt', 'number'), name='prompt_version_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='prompt_version_from_one'), models.CheckConstraint(condition=models.Q(('origin__in', ['written', 'copied', 'imported', 'proposed'])), name='prompt_origin_known')],
            },
        ),
        migrations.CreateModel(
            name='Trial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('protocol', models.CharField(max_length=60)),
                ('fingerprint', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=200)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('split', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='annotation.split')),
            ],
            options={
                'ordering': ['id'],
                'constraints': [models.UniqueConstraint(fields=('split', 'protocol', 'fingerprint'), name='trial_once')],
            },
        ),
        migrations.CreateModel(
            name='BenchTarget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('bench', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='targets', to='judges.bench')),
                ('continuation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.continuation')),
                ('item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('bench', 'position'), name='bench_position_once'), models.UniqueConstraint(fields=('bench', 'continuation', 'item'), name='bench_target_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='DraftAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sample', models.PositiveIntegerField(default=0)),
                ('number', models.FloatField(null=True)),
                ('text', models.TextField(null=True)),
                ('missing', models.TextField(blank=True)),
                ('explanation', models.TextField(blank=True)),
                ('call', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafted', to='jobs.call')),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='judges.draft')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.item')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.question')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('draft', 'item', 'question', 'sample'), name='draft_answer_once'), models.CheckConstraint(condition=models.Q(models.Q(('missing', ''), ('number__isnull', False), ('text__isnull', True)), models.Q(('missing', ''), ('number__isnull', True), ('text__isnull', False)), models.Q(('number__isnull', True), ('text__isnull', True), models.Q(('missing', ''), _negated=True)), _connector='OR'), name='draft_one_answer')],
            },
        ),
    ]
