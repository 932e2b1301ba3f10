from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Keep user names apart and log failed sign-ins, whatever page or command they come from."""
        from annotation.people import receivers  # models load first

        receivers.connect()
