"""API routes of what writes, under /api/v1/."""

from django.urls import URLPattern, path

from suites.continuation.api import benchmarks, productions, tuning

urlpatterns: list[URLPattern] = [
    path("generators/", productions.Generators.as_view(), name="api-generators"),
    path("productions/", productions.Productions.as_view(), name="api-productions"),
    path("productions/estimate/", productions.EstimateProductions.as_view(), name="api-estimate-productions"),
    path("productions/<int:pk>/", productions.OneProduction.as_view(), name="api-production"),
    path("productions/<int:pk>/steps/", productions.Steps.as_view(), name="api-production-steps"),
    path("benchmarks/", benchmarks.Benchmarks.as_view(), name="api-benchmarks"),
    path("benchmarks/estimate/", benchmarks.EstimateBenchmark.as_view(), name="api-estimate-benchmark"),
    path("benchmarks/<int:pk>/", benchmarks.OneBenchmark.as_view(), name="api-benchmark"),
    path("benchmarks/<int:pk>/file/", benchmarks.BenchmarkFile.as_view(), name="api-benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", benchmarks.GoOn.as_view(), name="api-go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", benchmarks.CancelMaking.as_view(), name="api-cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", benchmarks.Checked.as_view(), name="api-checked-benchmark"),
    path("exports/sft.jsonl", tuning.sft, name="api-export-sft"),
]
