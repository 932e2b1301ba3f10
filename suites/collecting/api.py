"""The API of collecting."""

from django.urls import URLPattern

from suites.collecting import chat_api, persona_api, release_api, writing_api

urlpatterns: list[URLPattern] = [
    *chat_api.urlpatterns,
    *persona_api.urlpatterns,
    *release_api.urlpatterns,
    *writing_api.urlpatterns,
]
