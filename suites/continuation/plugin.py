"""What continuations add to the core's tables."""

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
    "writing": "suites.continuation.productions.actions",
    "benchmark": "suites.continuation.productions.benchmark_actions",
}
RUN_KINDS = {"generate": "suites.continuation.productions.steps"}
LINKS = {
    "corpora": [Link("Benchmarks", lambda shown: reverse("benchmarks") if shown["rows"] else "")],
    "corpus": [Link("Generate", lambda shown: f"{reverse('generate')}?corpus={shown['corpus'].pk}")],
    "run": [Link("Dialogue by dialogue", lambda shown: f"{reverse('productions')}?run={shown['run'].pk}")],
    "runs": [Link("Generate", lambda shown: reverse("generate"))],
}
