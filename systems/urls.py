"""Addresses of what writes."""

from django.urls import URLPattern, path

from systems.pages import generating, productions

urlpatterns: list[URLPattern] = [
    path("runs/generate/", generating.generate, name="generate"),
    path("runs/productions/", productions.production_list, name="productions"),
    path("runs/productions/<int:pk>/", productions.production_page, name="production"),
]
