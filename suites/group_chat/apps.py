from django.apps import AppConfig

from suites.group_chat import plugin

plugin.add_entries()


class GroupChatConfig(AppConfig):
    name = "suites.group_chat"
    verbose_name = "Group chats"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add what the core calls, now that models are loaded."""
        plugin.add_hooks()
