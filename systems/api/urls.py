"""API routes of what writes, under /api/v1/."""

from django.urls import URLPattern, path

from systems.api import views

urlpatterns: list[URLPattern] = [
    path("generators/", views.Generators.as_view(), name="api-generators"),
    path("productions/", views.Productions.as_view(), name="api-productions"),
    path("productions/estimate/", views.EstimateProductions.as_view(), name="api-estimate-productions"),
    path("productions/<int:pk>/", views.OneProduction.as_view(), name="api-production"),
    path("productions/<int:pk>/steps/", views.Steps.as_view(), name="api-production-steps"),
]
