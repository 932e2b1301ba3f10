"""API routes of judges, under /api/v1/."""

from django.urls import URLPattern, path

from config.api import route
from judges.api import endpoints, new_runs, prompts, raters, run_sets, runs

urlpatterns: list[URLPattern] = [
    path("runs/", route(runs.all_runs, new_runs.start), name="api-runs"),
    path("runs/estimate/", route(new_runs.estimate_run), name="api-estimate-run"),
    path("run-sets/", route(run_sets.all_sets, new_runs.start_set), name="api-run-sets"),
    path("run-sets/estimate/", route(new_runs.estimate_set), name="api-estimate-run-set"),
    path("run-sets/<int:pk>/", route(run_sets.show_set), name="api-run-set"),
    path("run-sets/<int:pk>/changes/", route(run_sets.change_set), name="api-change-run-set"),
    path("runs/<int:pk>/", route(runs.run), name="api-run"),
    path("runs/<int:pk>/cancel/", route(runs.cancel), name="api-cancel-run"),
    path("runs/<int:pk>/retry/", route(runs.retry), name="api-retry-run"),
    path("runs/<int:pk>/causes/", route(runs.causes), name="api-run-causes"),
    path("runs/<int:pk>/pause/", route(runs.pause), name="api-pause-run"),
    path("runs/<int:pk>/resume/", route(runs.resume), name="api-resume-run"),
    path("runs/<int:pk>/caps/", route(runs.set_caps), name="api-cap-run"),
    path("runs/<int:pk>/batches/", route(runs.batches), name="api-batches"),
    path("batches/<int:pk>/look/", route(runs.look_at_batch), name="api-look-at-batch"),
    path("batches/<int:pk>/adopt/", route(runs.adopt_batch), name="api-adopt-batch"),
    path("batches/<int:pk>/give-up/", route(runs.give_up_batch), name="api-give-up-batch"),
    path("runs/costs/", route(runs.costs), name="api-run-costs"),
    path("raters/", route(raters.raters), name="api-raters"),
    path("raters/<int:pk>/", route(raters.rater, raters.rename), name="api-rater"),
    path("runs/<int:pk>/calls/", route(runs.calls), name="api-calls"),
    path("protocols/", route(runs.protocols), name="api-protocols"),
    path("metrics/", route(runs.metrics), name="api-metrics"),
    path("prompts/", route(prompts.prompts, prompts.create), name="api-prompts"),
    path("prompts/diff/", route(prompts.compare), name="api-prompt-difference"),
    path("prompts/import/", route(prompts.import_prompt), name="api-import-prompt"),
    path("prompts/request/", route(prompts.preview_request), name="api-prompt-request"),
    path("prompts/<str:name>/", route(prompts.prompt, prompts.archive), name="api-prompt"),
    path("prompts/<str:name>/examples/", route(prompts.pick_examples), name="api-prompt-examples"),
    path("prompts/<str:name>/export.<str:form>", route(prompts.export_prompt), name="api-export-prompt"),
    path("prompts/<str:name>/versions/", route(prompts.versions, prompts.save), name="api-prompt-versions"),
    path(
        "prompts/<str:name>/versions/<int:number>/",
        route(prompts.version, prompts.delete),
        name="api-prompt-version",
    ),
    path("endpoints/", route(endpoints.endpoints, endpoints.create), name="api-endpoints"),
    path("endpoints/presets/", route(endpoints.presets), name="api-endpoint-presets"),
    path("endpoints/re-encrypt/", route(endpoints.reencrypt), name="api-reencrypt-keys"),
    path(
        "endpoints/<int:pk>/",
        route(endpoints.endpoint, endpoints.replace, endpoints.change),
        name="api-endpoint",
    ),
    path(
        "model-prices/",
        route(endpoints.model_prices, endpoints.add_model_price),
        name="api-model-prices",
    ),
    path(
        "model-prices/<int:pk>/",
        route(endpoints.change_model_price, endpoints.delete_model_price),
        name="api-model-price",
    ),
    path("endpoints/<int:pk>/test/", route(endpoints.test), name="api-test-endpoint"),
]
