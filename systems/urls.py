"""Addresses of what writes."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
