from django.apps import AppConfig

from jobs import tables
from suites.group_chat import plugin

tables.add(plugin.ENTRIES)


class GroupChatConfig(AppConfig):
    name = "suites.group_chat"
    verbose_name = "Group chats"
    default_auto_field = "django.db.models.BigAutoField"
