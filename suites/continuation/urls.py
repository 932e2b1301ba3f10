"""Addresses of what writes."""

from django.urls import URLPattern, path

from suites.continuation.pages import benchmarks, productions
from suites.group_chat.pages import agents
from suites.long_dialogue.pages import simulations

urlpatterns: list[URLPattern] = [
    path("runs/generate/", productions.generate, name="generate"),
    path("corpora/<int:pk>/agents/", agents.agents, name="agents"),
    path("corpora/<int:pk>/simulate/", simulations.simulations, name="simulate"),
    path("simulations/<int:pk>/", simulations.simulation_page, name="simulation"),
    path("simulations/<int:pk>/go-on/", simulations.go_on, name="go-on-simulation"),
    path("simulations/<int:pk>/cancel/", simulations.cancel, name="cancel-simulation"),
    path("runs/productions/", productions.production_list, name="productions"),
    path("runs/productions/<int:pk>/", productions.production_page, name="production"),
    path("benchmarks/", benchmarks.benchmark_list, name="benchmarks"),
    path("benchmarks/new/", benchmarks.new_benchmark, name="new-benchmark"),
    path("benchmarks/<int:pk>/", benchmarks.benchmark_page, name="benchmark"),
    path("benchmarks/<int:pk>/file/", benchmarks.benchmark_file, name="benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", benchmarks.go_on, name="go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", benchmarks.cancel_making, name="cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", benchmarks.checked, name="checked-benchmark"),
]
