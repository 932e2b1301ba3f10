"""Addresses of the corpus pages."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
