"""Roles in one campaign, groups of people, and who may rate what."""

import django.contrib.postgres.functions
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


MAY_TAKE = """
CREATE FUNCTION concord_passes(which bigint, person bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (g.language = '' OR EXISTS (SELECT 1 FROM annotation_personlanguage l
                                      WHERE l.user_id = person AND l.language = g.language))
     AND (g.group_id IS NULL OR EXISTS (SELECT 1 FROM annotation_peoplegroup_people p
                                         WHERE p.user_id = person AND p.peoplegroup_id = g.group_id))
     AND (g.reserved_id IS NULL OR EXISTS (SELECT 1 FROM annotation_peoplegroup_people p
                                            WHERE p.user_id = person AND p.peoplegroup_id = g.reserved_id))
    FROM annotation_gate g WHERE g.id = which
$$;

CREATE FUNCTION concord_wrote(which bigint, person bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM annotation_taskauthor w WHERE w.task_id = which AND w.name IN (
    SELECT u.folded FROM annotation_username u WHERE u.user_id = person
    UNION ALL SELECT n.folded FROM annotation_writingname n WHERE n.user_id = person))
$$;

CREATE OR REPLACE FUNCTION concord_mark_slot() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE door bigint; other bigint;
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'DELETE' OR NEW.slot_id <> OLD.slot_id OR NEW.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = false WHERE id = OLD.slot_id RETURNING gate_id INTO door;
    -- A reserved slot that is free goes to somebody of its group who has an open one, so that this one is free.
    IF door IS NOT NULL AND EXISTS (SELECT 1 FROM annotation_gate WHERE id = door AND reserved_id IS NOT NULL) THEN
      SELECT a.id INTO other FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
        LEFT JOIN annotation_gate g ON g.id = s.gate_id
       WHERE a.task_id = OLD.task_id AND a.id <> OLD.id AND a.state IN ('leased', 'submitted', 'returned')
         AND g.reserved_id IS NULL AND concord_passes(door, a.user_id) AND NOT concord_wrote(a.task_id, a.user_id)
       ORDER BY a.state <> 'submitted', a.id LIMIT 1 FOR UPDATE OF a SKIP LOCKED;
      IF FOUND THEN
        UPDATE annotation_assignment SET slot_id = OLD.slot_id WHERE id = other;
      END IF;
    END IF;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'INSERT' OR NEW.slot_id <> OLD.slot_id OR OLD.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = true WHERE id = NEW.slot_id RETURNING gate_id INTO door;
    IF door IS NOT NULL AND NOT (concord_passes(door, NEW.user_id) AND NOT concord_wrote(NEW.task_id, NEW.user_id)) THEN
      RAISE EXCEPTION 'slot %: not for person %, by the rules of its campaign', NEW.slot_id, NEW.user_id
        USING ERRCODE = '23514';
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION concord_check_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_gate WHERE id = NEW.gate_id AND campaign_id = NEW.campaign_id;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot %: its gate is of another campaign', NEW.id USING ERRCODE = '23514';
  END IF;
  PERFORM 1 FROM annotation_campaign WHERE id = NEW.campaign_id AND ruled;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'slot %: its campaign has no rules', NEW.id USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER slots_have_gates AFTER INSERT OR UPDATE OF gate_id ON annotation_slot
  FOR EACH ROW WHEN (NEW.gate_id IS NOT NULL) EXECUTE FUNCTION concord_check_gate();
"""

MAY_TAKE_BACK = """
DROP TRIGGER slots_have_gates ON annotation_slot;
CREATE OR REPLACE FUNCTION concord_mark_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'DELETE' OR NEW.slot_id <> OLD.slot_id OR NEW.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = false WHERE id = OLD.slot_id;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.state IN ('leased', 'submitted', 'returned')
     AND (TG_OP = 'INSERT' OR NEW.slot_id <> OLD.slot_id OR OLD.state NOT IN ('leased', 'submitted', 'returned')) THEN
    UPDATE annotation_slot SET taken = true WHERE id = NEW.slot_id;
  END IF;
  RETURN NULL;
END $$;
DROP FUNCTION concord_check_gate, concord_wrote, concord_passes;
"""

PARTICIPANTS = """
CREATE FUNCTION concord_keep_participant_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM annotation_participant WHERE user_id = NEW.user_id AND campaign_id <> NEW.campaign_id;
  IF FOUND THEN
    RAISE EXCEPTION 'person %: they joined another campaign by a link, and are let into no other', NEW.user_id
      USING ERRCODE = '23514';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER participants_stay_members AFTER INSERT OR UPDATE OF user_id, campaign_id ON annotation_campaignmember
  FOR EACH ROW EXECUTE FUNCTION concord_keep_participant_in();
"""

PARTICIPANTS_BACK = """
DROP TRIGGER participants_stay_members ON annotation_campaignmember;
DROP FUNCTION concord_keep_participant_in;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0016_training_and_checks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='JoinLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('most', models.PositiveIntegerField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('code', models.CharField(blank=True, max_length=64)),
                ('return_url', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='JoinTry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address', models.CharField(max_length=64)),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'join tries',
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(max_length=64)),
                ('study_id', models.CharField(blank=True, max_length=64)),
                ('session_id', models.CharField(blank=True, max_length=64)),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('code', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='PeopleGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='PersonLanguage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=40)),
            ],
            options={
                'ordering': ['language'],
            },
        ),
        migrations.CreateModel(
            name='RequiredGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('raters', models.PositiveSmallIntegerField(default=1)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='StratumGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stratum', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['stratum'],
            },
        ),
        migrations.CreateModel(
            name='TaskAuthor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=800)),
            ],
        ),
        migrations.CreateModel(
            name='WritingName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('folded', models.CharField(db_index=True, max_length=800)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='by_language',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='campaign',
            name='groups_by',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='campaign',
            name='not_own',
            field=models.CharField(blank=True, db_default='', default='', max_length=120),
        ),
        migrations.AddField(
            model_name='campaign',
            name='ruled',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='rater',
            name='secret',
            field=models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False),
        ),
        migrations.CreateModel(
            name='CampaignRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('adjudicator', 'Adjudicator'), ('researcher', 'Researcher of this campaign')], max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roles', to='annotation.campaign')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaign_roles', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['campaign', 'role', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Gate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(blank=True, default='', max_length=40)),
                ('authored', models.BooleanField(default=False)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gates', to='annotation.campaign')),
            ],
        ),
        migrations.AddField(
            model_name='slot',
            name='gate',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='slots', to='annotation.gate'),
        ),
        migrations.AddIndex(
            model_name='slot',
            index=models.Index(condition=models.Q(('gate__isnull', False), ('taken', False)), fields=['gate', 'position'], name='slot_free_by_gate'),
        ),
        migrations.AddField(
            model_name='joinlink',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='join_links', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='joinlink',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='jointry',
            index=models.Index(fields=['address', 'at'], name='join_tries_of_address'),
        ),
        migrations.AddField(
            model_name='participant',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='participant',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='annotation.joinlink'),
        ),
        migrations.AddField(
            model_name='participant',
            name='user',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='participant', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='peoplegroup',
            name='people',
            field=models.ManyToManyField(blank=True, related_name='people_groups', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='gate',
            name='group',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.peoplegroup'),
        ),
        migrations.AddField(
            model_name='gate',
            name='reserved',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.peoplegroup'),
        ),
        migrations.AddField(
            model_name='personlanguage',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='languages', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='requiredgroup',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='required', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='requiredgroup',
            name='group',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='required', to='annotation.peoplegroup'),
        ),
        migrations.AddField(
            model_name='stratumgroup',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='strata', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='stratumgroup',
            name='group',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='strata', to='annotation.peoplegroup'),
        ),
        migrations.AddField(
            model_name='taskauthor',
            name='task',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='authors', to='annotation.task'),
        ),
        migrations.AddField(
            model_name='writingname',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='writes_as', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='campaignrole',
            constraint=models.UniqueConstraint(fields=('campaign', 'user', 'role'), name='campaign_role_once'),
        ),
        migrations.AddConstraint(
            model_name='campaignrole',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['adjudicator', 'researcher'])), name='campaign_role_known'),
        ),
        migrations.AddConstraint(
            model_name='joinlink',
            constraint=models.CheckConstraint(condition=models.Q(('most__isnull', True), ('most__gte', 1), _connector='OR'), name='join_link_lets_somebody_in'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('campaign', 'external_id'), name='participant_once_a_campaign'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('code', ''), ('finished_at__isnull', True)), models.Q(('finished_at__isnull', False), models.Q(('code', ''), _negated=True)), _connector='OR'), name='participant_has_code_when_done'),
        ),
        migrations.AddConstraint(
            model_name='gate',
            constraint=models.UniqueConstraint(fields=('campaign', 'language', 'group', 'reserved', 'authored'), name='gate_once', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='personlanguage',
            constraint=models.UniqueConstraint(fields=('user', 'language'), name='language_once_a_person'),
        ),
        migrations.AddConstraint(
            model_name='requiredgroup',
            constraint=models.UniqueConstraint(fields=('campaign', 'group'), name='group_required_once'),
        ),
        migrations.AddConstraint(
            model_name='requiredgroup',
            constraint=models.CheckConstraint(condition=models.Q(('raters__gte', 1)), name='group_required_of_someone'),
        ),
        migrations.AddConstraint(
            model_name='stratumgroup',
            constraint=models.UniqueConstraint(fields=('campaign', 'stratum'), name='stratum_has_one_group'),
        ),
        migrations.AddConstraint(
            model_name='taskauthor',
            constraint=models.UniqueConstraint(fields=('task', 'name'), name='author_once_a_task'),
        ),
        migrations.AddConstraint(
            model_name='writingname',
            constraint=models.UniqueConstraint(fields=('user', 'folded'), name='writing_name_once_a_person'),
        ),
        migrations.RunSQL(MAY_TAKE, MAY_TAKE_BACK),
        migrations.RunSQL(PARTICIPANTS, PARTICIPANTS_BACK),
    ]
