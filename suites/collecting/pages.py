"""Pages of collecting."""

from django.urls import URLPattern

from suites.collecting import persona_pages, release_pages

urlpatterns: list[URLPattern] = [*persona_pages.urlpatterns, *release_pages.urlpatterns]
