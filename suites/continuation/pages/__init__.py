"""Addresses of what writes."""

from django.urls import URLPattern, path

from suites.continuation.pages import benchmarks, productions, tuning

urlpatterns: list[URLPattern] = [
    path("runs/generate/", productions.generate, name="generate"),
    path("runs/productions/", productions.production_list, name="productions"),
    path("runs/productions/<int:pk>/", productions.production_page, name="production"),
    path("benchmarks/", benchmarks.benchmark_list, name="benchmarks"),
    path("benchmarks/new/", benchmarks.new_benchmark, name="new-benchmark"),
    path("benchmarks/<int:pk>/", benchmarks.benchmark_page, name="benchmark"),
    path("benchmarks/<int:pk>/file/", benchmarks.benchmark_file, name="benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", benchmarks.go_on, name="go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", benchmarks.cancel_making, name="cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", benchmarks.checked, name="checked-benchmark"),
    path("exports/sft.jsonl", tuning.sft_file, name="export-sft"),
]
