"""API routes of group chats, under /api/v1/."""

from django.urls import URLPattern, path

from suites.group_chat.api import agents, cascade, scenarios

urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scenarios/", scenarios.Scenarios.as_view(), name="api-scenarios"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", scenarios.OneScenario.as_view(), name="api-scenario"),
    path("scenarios/check/", scenarios.CheckScenario.as_view(), name="api-check-scenario"),
    path("dialogues/<int:pk>/keys/", scenarios.AnswerKeys.as_view(), name="api-answer-keys"),
    path("corpora/<int:pk>/cascade/", cascade.cascade, name="api-cascade"),
    path("decisions/<int:pk>/", cascade.decision, name="api-decision"),
    path("corpora/<int:pk>/agents/", agents.Agents.as_view(), name="api-agents"),
]
