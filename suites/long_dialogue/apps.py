from django.apps import AppConfig

from jobs import tables
from suites.long_dialogue import plugin

tables.add(plugin.ENTRIES)


class LongDialogueConfig(AppConfig):
    name = "suites.long_dialogue"
    verbose_name = "Long dialogues"
    default_auto_field = "django.db.models.BigAutoField"
