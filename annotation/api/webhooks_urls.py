"""API routes of webhooks."""

from django.urls import path

from annotation.api import webhooks

urlpatterns = [
    path("campaigns/<int:campaign>/webhooks/", webhooks.campaign_webhooks, name="api-campaign-webhooks"),
    path("webhooks/", webhooks.webhooks, name="api-webhooks"),
    path("webhooks/<int:pk>/", webhooks.webhook, name="api-webhook"),
    path("webhooks/<int:pk>/act/", webhooks.webhook_act, name="api-webhook-act"),
    path("webhooks/<int:pk>/rotate/", webhooks.rotate_webhook, name="api-rotate-webhook"),
    path("webhooks/<int:pk>/deliveries/", webhooks.deliveries, name="api-webhook-deliveries"),
    path("webhooks/deliveries/<int:pk>/again/", webhooks.redeliver, name="api-redeliver-webhook"),
]
