from django.apps import AppConfig
from django.conf import settings


class ConfigConfig(AppConfig):
    """Registered for its commands, its template tags and the audit log."""

    name = "config"
    verbose_name = "Configuration"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """With a broker, every process sends its tasks through Concord's own Celery application."""
        if settings.CELERY_BROKER_URL:
            import config.celery  # noqa: F401  (a second to import, and of no use without a broker)
