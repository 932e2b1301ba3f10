"""API routes of background work, under /api/v1/."""

from django.urls import URLPattern, path

from jobs.api import views

urlpatterns: list[URLPattern] = [
    path("jobs/", views.Jobs.as_view(), name="api-jobs"),
    path("jobs/<int:pk>/", views.OneJob.as_view(), name="api-job"),
    path("jobs/<int:pk>/cancel/", views.cancel, name="api-cancel-job"),
    path("jobs/<int:pk>/retry/", views.retry, name="api-retry-job"),
]
