from django.apps import AppConfig


class GroupChatConfig(AppConfig):
    name = "suites.group_chat"
    verbose_name = "Group chats"
    default_auto_field = "django.db.models.BigAutoField"
