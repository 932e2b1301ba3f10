from pathlib import Path

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_campaign_form'),
        ('collecting', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Chat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('open', 'Open'), ('finished', 'Finished'), ('abandoned', 'Abandoned')], default='open', max_length=10)),
                ('reason', models.CharField(blank=True, choices=[('left', 'somebody left'), ('reported', 'somebody reported it'), ('idle', 'nobody wrote for too long'), ('ended', 'a researcher ended it'), ('closed', 'the campaign ended'), ('failed', 'the other side could not answer')], max_length=10)),
                ('report', models.TextField(blank=True)),
                ('started_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chats', to='annotation.campaign')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chats', to='annotation.task')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ChatPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('participants', models.PositiveSmallIntegerField(default=2)),
                ('turn_order', models.CharField(choices=[('alternate', 'In turn, the first person first'), ('free', 'Anybody may write next')], default='alternate', max_length=10)),
                ('exchanges', models.PositiveSmallIntegerField(default=7)),
                ('most_characters', models.PositiveIntegerField(default=500)),
                ('remind_minutes', models.PositiveSmallIntegerField(default=5)),
                ('idle_minutes', models.PositiveSmallIntegerField(default=15)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='chat_plan', to='annotation.campaign')),
            ],
        ),
        migrations.CreateModel(
            name='ChatSeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('seen_at', models.DateTimeField()),
                ('typing_until', models.DateTimeField(null=True)),
                ('is_open', models.BooleanField(default=True)),
                ('assignment', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='annotation.assignment')),
                ('chat', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='seats', to='collecting.chat')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='chat_seats', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['chat', 'number'],
            },
        ),
        migrations.CreateModel(
            name='ChatMessage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('text', models.TextField()),
                ('key', models.CharField(max_length=64)),
                ('at', models.DateTimeField()),
                ('chat', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='collecting.chat')),
                ('seat', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='collecting.chatseat')),
            ],
            options={
                'ordering': ['chat', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Waiting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.campaign')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name='chat',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['open', 'finished'])), fields=('task',), name='chat_of_task_once'),
        ),
        migrations.AddConstraint(
            model_name='chat',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at__isnull', True), ('reason', ''), ('state', 'open')), models.Q(('ended_at__isnull', False), ('reason', ''), ('state', 'finished')), models.Q(('ended_at__isnull', False), ('reason__in', ['left', 'reported', 'idle', 'ended', 'closed', 'failed']), ('state', 'abandoned')), _connector='OR'), name='chat_state_known'),
        ),
        migrations.AddConstraint(
            model_name='chatplan',
            constraint=models.CheckConstraint(condition=models.Q(('exchanges__range', (1, 100)), ('idle_minutes__gt', models.F('remind_minutes')), ('most_characters__range', (1, 10000)), ('participants__range', (2, 6)), ('remind_minutes__gte', 1), ('turn_order__in', ['alternate', 'free'])), name='chat_plan_known'),
        ),
        migrations.AddConstraint(
            model_name='chatseat',
            constraint=models.UniqueConstraint(fields=('chat', 'number'), name='chat_seat_number_once'),
        ),
        migrations.AddConstraint(
            model_name='chatseat',
            constraint=models.UniqueConstraint(fields=('chat', 'user'), name='chat_seat_user_once'),
        ),
        migrations.AddConstraint(
            model_name='chatseat',
            constraint=models.UniqueConstraint(condition=models.Q(('is_open', True)), fields=('user',), name='chat_seat_one_open_a_person'),
        ),
        migrations.AddConstraint(
            model_name='chatmessage',
            constraint=models.UniqueConstraint(fields=('chat', 'number'), name='chat_message_number_once'),
        ),
        migrations.AddConstraint(
            model_name='chatmessage',
            constraint=models.UniqueConstraint(fields=('seat', 'key'), name='chat_message_key_once'),
        ),
        migrations.AddConstraint(
            model_name='waiting',
            constraint=models.UniqueConstraint(fields=('campaign', 'user'), name='waiting_once'),
        ),
        migrations.RunSQL((Path(__file__).parent / 'chats.sql').read_text()),
    ]
