"""Addresses of schemes. A scheme's key has no hyphen, so that addresses with one are no schemes."""

from django.urls import path

from annotation.pages import scheme_editor, schemes

urlpatterns = [
    path("schemes/", schemes.scheme_list, name="schemes"),
    path("schemes/new-scheme/", scheme_editor.new_scheme, name="new-scheme"),
    path("schemes/from-corpus/", schemes.corpus_questions, name="scheme-from-corpus"),
    path("schemes/editor-preview/", scheme_editor.scheme_preview, name="scheme-preview"),
    path("schemes/<str:key>/", schemes.scheme_page, name="scheme"),
    path("schemes/<str:key>/edit/", scheme_editor.edit_scheme, name="edit-scheme"),
    path("schemes/<str:key>/screen/", schemes.scheme_screen, name="scheme-screen"),
    path("schemes/<str:key>/archive/", schemes.archive_scheme, name="archive-scheme"),
    path("schemes/<str:key>/export/<str:form>/", schemes.export_scheme, name="export-scheme"),
]
