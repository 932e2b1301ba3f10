from django.apps import AppConfig

from suites.long_dialogue import plugin

plugin.add_entries()


class LongDialogueConfig(AppConfig):
    name = "suites.long_dialogue"
    verbose_name = "Long dialogues"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add what the core calls, now that models are loaded."""
        plugin.add_hooks()
