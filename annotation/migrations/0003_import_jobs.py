import django.db.models.deletion
from django.db import migrations, models

PROBLEMS = "UPDATE annotation_upload SET problems = jsonb_build_array(problem), result = NULL WHERE problem IS NOT NULL"


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0002_sql_invariants'),
        ('jobs', '0001_tables'),
    ]

    operations = [
        migrations.AddField('upload', 'job', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='upload', to='jobs.job')),
        migrations.AddField('upload', 'sha256', models.CharField(blank=True, max_length=64, default=''), preserve_default=False),
        migrations.AddField('upload', 'guessed', models.BooleanField(default=False)),
        migrations.AddField('upload', 'columns', models.JSONField(blank=True, default=dict)),
        migrations.AddField('import', 'columns', models.JSONField(blank=True, default=dict)),
        migrations.RemoveConstraint('import', 'import_content_once'),
        migrations.AddConstraint('import', models.UniqueConstraint(fields=('corpus', 'content_hash', 'format', 'columns'), name='import_content_once')),
        migrations.AddField('upload', 'problems', models.JSONField(null=True)),
        migrations.RunSQL(PROBLEMS, migrations.RunSQL.noop),
        migrations.RemoveConstraint('upload', 'upload_state_known'),
        migrations.RemoveField('upload', 'problem'),
        migrations.RemoveField('upload', 'state'),
        migrations.RemoveField('upload', 'done_bytes'),
        migrations.RemoveField('upload', 'dialogues'),
        migrations.RemoveField('upload', 'beat'),
        migrations.AddConstraint('upload', models.CheckConstraint(condition=models.Q(('result__isnull', True), ('problems__isnull', True), _connector='OR'), name='upload_ends_one_way')),
    ]
