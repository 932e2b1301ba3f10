from django.apps import AppConfig
from django.conf import settings


class ConfigConfig(AppConfig):
    """Registered for its commands and template tags; it has no tables."""

    name = "config"
    verbose_name = "Configuration"

    def ready(self) -> None:
        """With a broker, every process sends its tasks through Concord's own Celery application."""
        if settings.CELERY_BROKER_URL:
            import config.celery  # noqa: F401  (a second to import, and of no use without a broker)
