"""The API of collecting."""

from django.urls import URLPattern

from suites.collecting import release_api

urlpatterns: list[URLPattern] = [*release_api.urlpatterns]
