"""Entries of the continuation suite in the core's tables."""

from django.urls import reverse

from config.links import Link

ENTRIES = {
    "schemes": ["suites.continuation.schemes:SCHEMES"],
    "contents": ["suites.continuation.tuning:CONTENTS"],
    "links": ["suites.continuation.plugin:LINKS"],
    "job_kinds": ["suites.continuation.plugin:JOB_KINDS"],
    "run_kinds": ["suites.continuation.plugin:RUN_KINDS"],
    "sweeps": ["suites.continuation.productions.benchmark_actions:sweep"],
}

JOB_KINDS = {
    "writing": "suites.continuation.productions.production_actions",
    "benchmark": "suites.continuation.productions.benchmark_actions",
}
RUN_KINDS = {"generate": "suites.continuation.productions.steps"}
LINKS = {
    "corpora": [Link("Benchmarks", lambda context: reverse("benchmarks") if context["rows"] else "")],
    "tabs": [Link("Generation", lambda context: f"{reverse('generate')}?corpus={context['corpus'].pk}")],
    "run": [
        Link("Dialogue by dialogue", lambda context: f"{reverse('productions')}?run={context['run'].pk}")
    ],
}
