"""API routes of corpora, dialogues and items."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
