from django.apps import AppConfig


class SystemsConfig(AppConfig):
    name = "systems"
    verbose_name = "Systems"
    default_auto_field = "django.db.models.BigAutoField"
