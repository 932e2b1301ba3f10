from django.apps import AppConfig


class CalibrationConfig(AppConfig):
    name = "calibration"
    verbose_name = "Calibration"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the search for reports and gold made from a person's answers."""
        from annotation.people import deletion  # models load first
        from calibration.uses import uses_of

        deletion.find_with(uses_of)
