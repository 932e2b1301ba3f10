"""Pages of group chats."""

from django.urls import URLPattern, path

from suites.group_chat.pages import agents, cascade, scenarios

urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scenarios/", scenarios.scenarios, name="scenarios"),
    path("corpora/<int:pk>/scenarios/new/", scenarios.new_scenario, name="new-scenario"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", scenarios.scenario, name="scenario"),
    path("corpora/<int:pk>/cascade/", cascade.cascade, name="cascade"),
    path("corpora/<int:pk>/cascade/test/", cascade.cascade_test, name="cascade-test"),
    path("corpora/<int:pk>/cascade.<str:form>", cascade.cascade_file, name="cascade-file"),
    path("decisions/<int:pk>/", cascade.decision, name="decision"),
    path("corpora/<int:pk>/agents/", agents.agents, name="agents"),
]
