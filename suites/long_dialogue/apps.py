from django.apps import AppConfig


class LongDialogueConfig(AppConfig):
    name = "suites.long_dialogue"
    verbose_name = "Long dialogues"
    default_auto_field = "django.db.models.BigAutoField"
