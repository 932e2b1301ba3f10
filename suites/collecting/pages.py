"""Pages of collecting."""

from django.urls import URLPattern

from suites.collecting import chat_pages, persona_pages, release_pages

urlpatterns: list[URLPattern] = [
    *chat_pages.urlpatterns,
    *persona_pages.urlpatterns,
    *release_pages.urlpatterns,
]
