"""API routes of corpora, dialogues and items."""

from django.urls import path

from annotation.api import corpora, question_records, questions, scenarios, scripts, systems, without_turns

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
        "corpora/<int:pk>/scripts/<int:dialogue>/file/",
        scripts.ScriptFile.as_view(),
        name="api-script-file",
    ),
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
        scripts.ScriptNames.as_view(),
        name="api-script-names",
    ),
    path("corpora/<int:pk>/facts/", question_records.Facts.as_view(), name="api-facts"),
    path("corpora/<int:pk>/questions/", question_records.Quiz.as_view(), name="api-questions"),
    path("corpora/<int:pk>/records/<int:record>/", question_records.OneRecord.as_view(), name="api-record"),
    path(
        "corpora/<int:pk>/records/<str:kind>/reviews/",
        question_records.Reviews.as_view(),
        name="api-record-reviews",
    ),
    path(
        "corpora/<int:pk>/records/<str:kind>/decide/",
        question_records.DecideRecords.as_view(),
        name="api-decide-records",
    ),
    path("corpora/<int:pk>/question-sets/", questions.QuestionSets.as_view(), name="api-question-sets"),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/",
        questions.OneQuestionSet.as_view(),
        name="api-question-set",
    ),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/questions/",
        questions.SetQuestions.as_view(),
        name="api-set-questions",
    ),
    path("corpora/<int:pk>/question-sets/<int:one>/uses/", questions.SetUses.as_view(), name="api-set-uses"),
    path("corpora/<int:pk>/relations/", questions.Relations.as_view(), name="api-relations"),
    path("scenarios/check/", scenarios.CheckScenario.as_view(), name="api-check-scenario"),
    path("dialogues/<int:pk>/", corpora.DialogueDetail.as_view(), name="api-dialogue"),
    path("dialogues/<int:pk>/keys/", scenarios.AnswerKeys.as_view(), name="api-answer-keys"),
]
