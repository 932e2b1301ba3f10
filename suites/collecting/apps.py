from django.apps import AppConfig

from jobs import tables
from suites.collecting import plugin

tables.add(plugin.ENTRIES)


class CollectingConfig(AppConfig):
    name = "suites.collecting"
    verbose_name = "Collecting"
    default_auto_field = "django.db.models.BigAutoField"
