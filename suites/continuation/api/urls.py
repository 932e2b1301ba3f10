"""API routes of what writes, under /api/v1/."""

from django.urls import URLPattern, path

from suites.continuation.api import benchmarks, productions
from suites.group_chat.api import agents
from suites.long_dialogue.api import simulations

urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/agents/", agents.Agents.as_view(), name="api-agents"),
    path("corpora/<int:pk>/simulations/", simulations.Simulations.as_view(), name="api-simulations"),
    path(
        "corpora/<int:pk>/simulations/estimate/",
        simulations.EstimateSimulation.as_view(),
        name="api-estimate-simulation",
    ),
    path("simulations/<int:pk>/", simulations.OneSimulation.as_view(), name="api-simulation"),
    path("simulations/<int:pk>/go-on/", simulations.GoOn.as_view(), name="api-go-on-simulation"),
    path("simulations/<int:pk>/cancel/", simulations.Cancel.as_view(), name="api-cancel-simulation"),
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
]
