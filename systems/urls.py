"""Addresses of what writes."""

from django.urls import URLPattern, path

from systems.pages import generating, productions

urlpatterns: list[URLPattern] = [
    path("generate/", generating.generate, name="generate"),
    path("productions/", productions.production_list, name="productions"),
    path("productions/<int:pk>/", productions.production_page, name="production"),
]
