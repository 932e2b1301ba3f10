"""Addresses of webhooks."""

from django.urls import path

from annotation.pages import webhooks

urlpatterns = [
    path("campaigns/<int:campaign>/webhooks/", webhooks.campaign_webhooks, name="campaign-webhooks"),
    path("webhooks/", webhooks.webhooks, name="webhooks"),
    path("webhooks/<int:pk>/", webhooks.webhook, name="webhook"),
    path("webhooks/<int:pk>/act/", webhooks.webhook_act, name="webhook-act"),
    path("webhooks/deliveries/<int:pk>/again/", webhooks.redeliver_webhook, name="redeliver-webhook"),
]
