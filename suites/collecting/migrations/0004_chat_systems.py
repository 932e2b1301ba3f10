from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_campaign_form'),
        ('collecting', '0003_writing'),
        ('jobs', '0006_served_models'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChatReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('place', models.PositiveSmallIntegerField()),
                ('tries', models.PositiveSmallIntegerField(default=1)),
                ('text', models.TextField(blank=True)),
                ('at', models.DateTimeField()),
                ('is_picked', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['chat', 'number', 'place'],
            },
        ),
        migrations.CreateModel(
            name='ChatSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('spec', models.JSONField()),
                ('fingerprint', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.AddField(
            model_name='chatplan',
            name='first',
            field=models.CharField(choices=[('person', 'The person'), ('system', 'The system')], default='person', max_length=10),
        ),
        migrations.AddField(
            model_name='chatplan',
            name='partner',
            field=models.CharField(choices=[('people', 'Other people'), ('system', 'A system'), ('arena', 'Two systems: the person picks one of two replies at each turn')], default='people', max_length=10),
        ),
        migrations.AddField(
            model_name='chatseat',
            name='is_system',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name='chatplan',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('first', 'person'), ('partner', 'people')), models.Q(('first__in', ['person', 'system']), ('participants', 2), ('partner__in', ['system', 'arena']), ('turn_order', 'alternate')), _connector='OR'), name='chat_plan_partner_known'),
        ),
        migrations.AddConstraint(
            model_name='chatseat',
            constraint=models.CheckConstraint(condition=models.Q(('is_system', False), models.Q(('assignment__isnull', True), ('user__isnull', True)), _connector='OR'), name='chat_seat_of_system_has_no_user'),
        ),
        migrations.AddField(
            model_name='chatreply',
            name='call',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='chat_reply', to='jobs.call'),
        ),
        migrations.AddField(
            model_name='chatreply',
            name='chat',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='collecting.chat'),
        ),
        migrations.AddField(
            model_name='chatsystem',
            name='campaign',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chat_systems', to='annotation.campaign'),
        ),
        migrations.AddField(
            model_name='chatsystem',
            name='run',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='chat_system', to='jobs.run'),
        ),
        migrations.AddField(
            model_name='chatsystem',
            name='system',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chat_systems', to='annotation.system'),
        ),
        migrations.AddField(
            model_name='chatreply',
            name='system',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='collecting.chatsystem'),
        ),
        migrations.AddField(
            model_name='chat',
            name='systems',
            field=models.ManyToManyField(related_name='chats', to='collecting.chatsystem'),
        ),
        migrations.AddConstraint(
            model_name='chatsystem',
            constraint=models.UniqueConstraint(fields=('campaign', 'system'), name='chat_system_once'),
        ),
        migrations.AddConstraint(
            model_name='chatreply',
            constraint=models.UniqueConstraint(fields=('chat', 'number', 'place'), name='chat_reply_place_once'),
        ),
        migrations.AddConstraint(
            model_name='chatreply',
            constraint=models.UniqueConstraint(fields=('chat', 'number', 'system'), name='chat_reply_system_once'),
        ),
        migrations.AddConstraint(
            model_name='chatreply',
            constraint=models.UniqueConstraint(condition=models.Q(('is_picked', True)), fields=('chat', 'number'), name='chat_reply_picked_once'),
        ),
        migrations.AddConstraint(
            model_name='chatreply',
            constraint=models.CheckConstraint(condition=models.Q(('place__in', [1, 2]), models.Q(('is_picked', False), models.Q(('text', ''), _negated=True), _connector='OR')), name='chat_reply_known'),
        ),
        migrations.RunSQL((Path(__file__).parent / 'replies.sql').read_text()),
    ]
