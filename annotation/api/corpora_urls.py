"""API routes of corpora, dialogues and items."""

from django.urls import path

from annotation.api import answer_keys, corpora, scenarios, script_names, scripts, systems, without_turns

urlpatterns = [
    path("corpora/", corpora.Corpora.as_view(), name="api-corpora"),
    path("corpora/<str:name>/", corpora.CorpusDetail.as_view(), name="api-corpus"),
    path("corpora/<str:name>/dialogues/", corpora.Dialogues.as_view(), name="api-dialogues"),
    path("corpora/<str:name>/turns/", corpora.Turns.as_view(), name="api-turns"),
    path("corpora/<str:name>/items/", corpora.Items.as_view(), name="api-items"),
    path("corpora/<str:name>/splits/", corpora.Splits.as_view(), name="api-splits"),
    path("corpora/<str:name>/systems/", systems.Systems.as_view(), name="api-systems"),
    path("corpora/<str:name>/without-turns/", without_turns.WithoutTurns.as_view(), name="api-without-turns"),
    path("corpora/<int:pk>/scenarios/", scenarios.Scenarios.as_view(), name="api-scenarios"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", scenarios.OneScenario.as_view(), name="api-scenario"),
    path("corpora/<int:pk>/scripts/", scripts.Scripts.as_view(), name="api-scripts"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/", scripts.OneScript.as_view(), name="api-script"),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/turns/",
        scripts.ScriptTurns.as_view(),
        name="api-script-turns",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/sessions/<int:number>/",
        scripts.ScriptSession.as_view(),
        name="api-script-session",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/names/",
        script_names.ScriptNames.as_view(),
        name="api-script-names",
    ),
    path("scenarios/check/", scenarios.CheckScenario.as_view(), name="api-check-scenario"),
    path("dialogues/<int:pk>/", corpora.DialogueDetail.as_view(), name="api-dialogue"),
    path("dialogues/<int:pk>/keys/", answer_keys.AnswerKeys.as_view(), name="api-answer-keys"),
]
