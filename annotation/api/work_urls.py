"""API routes of campaigns and annotation."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
