"""The demo as an installed app: it has a command and no tables."""

from django.apps import AppConfig


class DemoConfig(AppConfig):
    """Registers `manage.py load_demo`."""

    name = "demo"
    label = "demo"
