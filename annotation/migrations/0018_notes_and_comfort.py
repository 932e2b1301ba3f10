"""Notes on turns, bookmarks, messages between researcher and annotator, comfort settings, and when to revise."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

KEPT = """
CREATE FUNCTION concord_keep_turn_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('concord.purge', true) = 'on' THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'UPDATE' AND OLD.superseded_at IS NULL AND NEW.superseded_at IS NOT NULL
     AND (to_jsonb(NEW) - 'superseded_at') = (to_jsonb(OLD) - 'superseded_at') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'note %: a note is replaced by a new one, never changed or deleted', OLD.id
    USING ERRCODE = '23514';
END $$;
CREATE TRIGGER turn_notes_kept BEFORE UPDATE OR DELETE ON annotation_turnnote
  FOR EACH ROW EXECUTE FUNCTION concord_keep_turn_note();

CREATE FUNCTION concord_check_turn_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_assignment
    WHERE id = NEW.assignment_id AND campaign_id = NEW.campaign_id AND user_id = NEW.user_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION '% on assignment %: it is not one of its writer', TG_TABLE_NAME, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER turn_notes_by_holder BEFORE INSERT ON annotation_turnnote
  FOR EACH ROW EXECUTE FUNCTION concord_check_turn_note();
CREATE TRIGGER bookmarks_by_holder BEFORE INSERT OR UPDATE ON annotation_bookmark
  FOR EACH ROW EXECUTE FUNCTION concord_check_turn_note();

CREATE FUNCTION concord_check_thread() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.assignment_id IS NULL THEN RETURN NEW; END IF;
  PERFORM 1 FROM annotation_assignment
    WHERE id = NEW.assignment_id AND campaign_id = NEW.campaign_id AND user_id = NEW.annotator_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'thread %: assignment % is not one of its annotator', NEW.id, NEW.assignment_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER threads_with_holder
  BEFORE INSERT OR UPDATE OF campaign_id, annotator_id, assignment_id ON annotation_thread
  FOR EACH ROW EXECUTE FUNCTION concord_check_thread();

CREATE FUNCTION concord_keep_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM 1 FROM annotation_thread WHERE id = NEW.thread_id AND closed_at IS NULL;
    IF FOUND THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'thread %: it is closed, nothing more is said in it', NEW.thread_id USING ERRCODE = '23514';
  END IF;
  IF current_setting('concord.purge', true) = 'on' THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'message %: what was said is never changed or deleted', OLD.id USING ERRCODE = '23514';
END $$;
CREATE TRIGGER messages_kept BEFORE INSERT OR UPDATE OR DELETE ON annotation_message
  FOR EACH ROW EXECUTE FUNCTION concord_keep_message();
"""
KEPT_BACK = """
DROP TRIGGER turn_notes_kept ON annotation_turnnote;
DROP TRIGGER turn_notes_by_holder ON annotation_turnnote;
DROP TRIGGER bookmarks_by_holder ON annotation_bookmark;
DROP TRIGGER threads_with_holder ON annotation_thread;
DROP TRIGGER messages_kept ON annotation_message;
DROP FUNCTION concord_keep_turn_note, concord_check_turn_note, concord_check_thread, concord_keep_message;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_people_and_rules'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Bookmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Comfort',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('auto_advance', models.BooleanField(default=False)),
                ('text_size', models.CharField(choices=[('usual', 'Usual'), ('large', 'Large'), ('largest', 'Largest')], default='usual', max_length=10)),
                ('more_contrast', models.BooleanField(default=False)),
                ('break_after', models.PositiveSmallIntegerField(null=True)),
                ('keys', models.JSONField(default=dict)),
            ],
            options={
                'verbose_name_plural': 'comfort settings',
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('from_annotator', models.BooleanField()),
                ('text', models.TextField()),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Thread',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('unread', models.PositiveIntegerField(default=0)),
                ('waits', models.BooleanField(default=False)),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('last_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-last_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='TurnNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('comment', models.TextField(blank=True)),
                ('flagged', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('superseded_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='campaign',
            name='revise_hours',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='campaign',
            name='shows_agreement',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='campaign',
            name='unseen_check',
            field=models.CharField(choices=[('rated', 'The turns that are judged'), ('shown', 'All turns that are shown'), ('off', 'None: nothing is asked')], db_default='rated', default='rated', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='campaign',
            constraint=models.CheckConstraint(condition=models.Q(('unseen_check__in', ['rated', 'shown', 'off'])), name='campaign_seeing_known'),
        ),
        migrations.AddField(
            model_name='bookmark',
            name='assignment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bookmarks', to='annotation.assignment'),
        ),
        migrations.AddField(
            model_name='bookmark',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bookmarks', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='bookmark',
            name='turn',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.turn'),
        ),
        migrations.AddField(
            model_name='bookmark',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bookmarks', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comfort',
            name='user',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='comfort', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='message',
            name='by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='thread',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='threads', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='thread',
            name='assignment',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='threads', to='annotation.assignment'),
        ),
        migrations.AddField(
            model_name='thread',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='threads', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='thread',
            name='turn',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.turn'),
        ),
        migrations.AddField(
            model_name='message',
            name='thread',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='annotation.thread'),
        ),
        migrations.AddField(
            model_name='turnnote',
            name='assignment',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turn_notes', to='annotation.assignment'),
        ),
        migrations.AddField(
            model_name='turnnote',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turn_notes', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='turnnote',
            name='turn',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='annotation.turn'),
        ),
        migrations.AddField(
            model_name='turnnote',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turn_notes', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='bookmark',
            constraint=models.UniqueConstraint(fields=('campaign', 'user', 'turn'), name='bookmark_once'),
        ),
        migrations.AddConstraint(
            model_name='comfort',
            constraint=models.CheckConstraint(condition=models.Q(('text_size__in', ['usual', 'large', 'largest'])), name='comfort_size_known'),
        ),
        migrations.AddConstraint(
            model_name='comfort',
            constraint=models.CheckConstraint(condition=models.Q(('break_after__isnull', True), models.Q(('break_after__gte', 5), ('break_after__lte', 240)), _connector='OR'), name='comfort_break_in_bounds'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(condition=models.Q(('unread__gt', 0)), fields=['annotator'], name='thread_unread'),
        ),
        migrations.AddIndex(
            model_name='thread',
            index=models.Index(fields=['campaign', 'annotator'], name='thread_of_member'),
        ),
        migrations.AddConstraint(
            model_name='thread',
            constraint=models.CheckConstraint(condition=models.Q(('turn__isnull', True), ('assignment__isnull', False), _connector='OR'), name='thread_turn_has_task'),
        ),
        migrations.AddConstraint(
            model_name='message',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='message_says_something'),
        ),
        migrations.AddConstraint(
            model_name='turnnote',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at__isnull', True)), fields=('campaign', 'user', 'turn'), name='turn_note_live_once'),
        ),
        migrations.AddConstraint(
            model_name='turnnote',
            constraint=models.CheckConstraint(condition=models.Q(('superseded_at__isnull', False), models.Q(('comment', ''), _negated=True), ('flagged', True), _connector='OR'), name='turn_note_says_something'),
        ),
        migrations.RunSQL(KEPT, KEPT_BACK),
    ]
