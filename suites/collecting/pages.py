"""Pages of collecting."""

from django.urls import URLPattern

from suites.collecting import persona_pages

urlpatterns: list[URLPattern] = [*persona_pages.urlpatterns]
