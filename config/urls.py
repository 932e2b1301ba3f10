"""All URLs: pages per application, the API under /api/v1/, health checks."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config import pages

api: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api-schema"), name="api-docs"),
    path("", include("annotation.api.urls")),
    path("", include("jobs.api")),
    path("", include("judges.api.urls")),
    path("", include("calibration.api.urls")),
    *(path("", include(f"{suite}.api")) for suite in settings.SUITES),
]

urlpatterns = [
    path("healthz", login_not_required(pages.healthz), name="healthz"),
    path("readyz", login_not_required(pages.readyz), name="readyz"),
    path("", pages.home, name="home"),
    path("", include("annotation.urls")),
    path("", include("jobs.pages")),
    path("", include("judges.urls")),
    path("", include("calibration.urls")),
    *(path("", include(f"{suite}.pages")) for suite in settings.SUITES),
    path("api/v1/", include(api)),
]

handler403 = "config.pages.forbidden"
handler404 = "config.pages.missing"
handler500 = "config.pages.broken"
