from django.apps import AppConfig

from suites.continuation import plugin

plugin.add_entries()


class ContinuationConfig(AppConfig):
    name = "suites.continuation"
    verbose_name = "Continuations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Add what the core calls, now that models are loaded."""
        plugin.add_hooks()
