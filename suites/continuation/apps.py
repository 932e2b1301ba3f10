from django.apps import AppConfig


class ContinuationConfig(AppConfig):
    name = "suites.continuation"
    verbose_name = "Continuations"
    default_auto_field = "django.db.models.BigAutoField"
