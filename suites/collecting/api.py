"""The API of collecting."""

from django.urls import URLPattern

from suites.collecting import persona_api, release_api

urlpatterns: list[URLPattern] = [*persona_api.urlpatterns, *release_api.urlpatterns]
