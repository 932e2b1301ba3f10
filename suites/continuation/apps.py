from django.apps import AppConfig

from jobs import tables
from suites.continuation import plugin

tables.add(plugin.ENTRIES)


class ContinuationConfig(AppConfig):
    name = "suites.continuation"
    verbose_name = "Continuations"
    default_auto_field = "django.db.models.BigAutoField"
