from django.apps import AppConfig
from django.conf import settings


class ConfigConfig(AppConfig):
    """Application of the management commands, the template tags and the audit log."""

    name = "config"
    verbose_name = "Configuration"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """With a broker, load Concord's own Celery application, which every process uses to send tasks."""
        if settings.CELERY_BROKER_URL:
            import config.celery  # noqa: F401  (takes a second to import, and is useless without a broker)
