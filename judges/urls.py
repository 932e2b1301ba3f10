"""Pages of judges."""

from django.urls import URLPattern, path

from judges.pages import endpoints, new_run, prompts, raters, runs

urlpatterns: list[URLPattern] = [
    path("runs/new/", new_run.new_run, name="new-run"),
    path("runs/<int:pk>/", runs.run_page, name="run"),
    path("runs/<int:pk>/progress/", runs.run_progress, name="run-progress"),
    path("runs/<int:pk>/cancel/", runs.cancel_run, name="cancel-run"),
    path("runs/<int:pk>/pause/", runs.pause_run, name="pause-run"),
    path("runs/<int:pk>/resume/", runs.resume_run, name="resume-run"),
    path("runs/<int:pk>/caps/", runs.cap_run, name="cap-run"),
    path("run-sets/<int:pk>/", runs.run_set_page, name="run-set"),
    path("run-sets/<int:pk>/changes/", runs.change_run_set, name="change-run-set"),
    path("runs/costs/", runs.costs, name="run-costs"),
    path("raters/", raters.rater_list, name="raters"),
    path("raters/<int:pk>/rename/", raters.rename, name="rename-rater"),
    path("batches/<int:pk>/look/", runs.look_at_batch, name="look-at-batch"),
    path("batches/<int:pk>/adopt/", runs.adopt_batch, name="adopt-batch"),
    path("batches/<int:pk>/give-up/", runs.give_up_batch, name="give-up-batch"),
    path("runs/<int:pk>/retry/", runs.retry_run, name="retry-run"),
    path("prompts/", prompts.prompt_list, name="prompts"),
    path("prompts/new/", prompts.new_prompt, name="new-prompt"),
    path("prompts/import/", prompts.import_prompt, name="import-prompt"),
    path("prompts/diff/", prompts.prompt_difference, name="prompt-difference"),
    path("prompts/request/", prompts.prompt_request, name="prompt-request"),
    path("prompts/<str:name>/", prompts.prompt_page, name="prompt"),
    path("prompts/<str:name>/archive/", prompts.archive_prompt, name="archive-prompt"),
    path("prompts/<str:name>/export.<str:form>", prompts.export_prompt, name="export-prompt"),
    path("prompts/<str:name>/<int:number>/", prompts.version_page, name="prompt-version"),
    path("prompts/<str:name>/<int:number>/edit/", prompts.edit_prompt, name="edit-prompt"),
    path("prompts/<str:name>/<int:number>/examples/", prompts.pick_examples, name="pick-examples"),
    path("prompts/<str:name>/<int:number>/delete/", prompts.delete_version, name="delete-prompt-version"),
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("endpoints/re-encrypt/", endpoints.reencrypt, name="reencrypt-keys"),
    path("endpoints/prices/", endpoints.model_prices, name="model-prices"),
    path("endpoints/prices/<int:pk>/", endpoints.model_price, name="model-price"),
    path("endpoints/prices/<int:pk>/delete/", endpoints.delete_model_price, name="delete-model-price"),
    path("endpoints/<int:pk>/", endpoints.endpoint, name="endpoint"),
    path("endpoints/<int:pk>/test/", endpoints.test_endpoint, name="test-endpoint"),
]
