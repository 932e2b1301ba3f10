from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Registered for its commands and template tags; it has no tables."""

    name = "config"
    verbose_name = "Configuration"
