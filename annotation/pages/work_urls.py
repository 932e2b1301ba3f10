"""Addresses of the campaign and annotation pages."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
