"""API routes of schemes. Keys that are names of routes are reserved (`annotation.schemes.rules`)."""

from django.urls import path

from annotation.api import schemes, submissions

urlpatterns = [
    path("schemes/", schemes.schemes, name="api-schemes"),
    path("schemes/check/", schemes.checked, name="api-check-scheme"),
    path("schemes/preview/", submissions.scheme_preview, name="api-scheme-preview"),
    path("schemes/diff/", schemes.compared, name="api-scheme-difference"),
    path("schemes/from-corpus/", schemes.from_corpus, name="api-scheme-from-corpus"),
    path("schemes/<str:key>/", schemes.scheme, name="api-scheme"),
    path("schemes/<str:key>/versions/", schemes.versions, name="api-scheme-versions"),
    path("schemes/<str:key>/versions/<int:number>/", schemes.version, name="api-scheme-version"),
]
