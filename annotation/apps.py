from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks


class AnnotationConfig(AppConfig):
    name = "annotation"
    verbose_name = "Annotation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect the check of user names and the log of failed sign-ins, for all pages and commands."""
        from annotation.people import sign_in  # models load first

        sign_in.connect()
        checks.register(_outside_services)


NO_PROXIES = (
    "CONCORD_HTTPS is set without CONCORD_PROXIES: everybody behind the proxy counts as one network address, "
    "so ten wrong passwords lock a name for all. Name the proxy's address."
)


def _outside_services(**_: Any) -> list[checks.CheckMessage]:
    """Return warnings about invalid settings of single sign-on or mail, which stay off until corrected."""
    faults = [*(settings.OIDC.faults() if settings.OIDC else []), settings.MAIL.fault]
    if settings.SECURE_PROXY_SSL_HEADER and not settings.PROXIES:
        faults.append(NO_PROXIES)
    return [checks.Warning(fault, id="concord.W001") for fault in faults if fault]
