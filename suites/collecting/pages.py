"""Pages of collecting."""

from django.urls import URLPattern

from suites.collecting import release_pages

urlpatterns: list[URLPattern] = [*release_pages.urlpatterns]
