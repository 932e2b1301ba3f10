"""Pages of collecting."""

from django.urls import URLPattern

from suites.collecting import chat_pages, persona_pages, release_pages, writing_pages

urlpatterns: list[URLPattern] = [
    *chat_pages.urlpatterns,
    *persona_pages.urlpatterns,
    *release_pages.urlpatterns,
    *writing_pages.urlpatterns,
]
