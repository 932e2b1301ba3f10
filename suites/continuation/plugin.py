"""What continuations add to the core's tables."""

from django.urls import reverse

from annotation.schemes import SCHEMES
from config.links import LINKS, Link
from suites.continuation import schemes


def add_entries() -> None:
    """Add the schemes; called once, before any models are loaded."""
    SCHEMES[schemes.SCHEME.key] = schemes.SCHEME


def add_hooks() -> None:
    """Add examples for fine-tuning to what is exported."""
    from calibration.exports.downloads import CONTENTS
    from jobs.kinds import KINDS, RUN_KINDS, SWEEPS
    from suites.continuation import tuning

    KINDS["writing"] = "suites.continuation.productions.actions"
    KINDS["benchmark"] = "suites.continuation.productions.benchmark_actions"
    RUN_KINDS["generate"] = "suites.continuation.productions.steps"
    SWEEPS.append("suites.continuation.productions.benchmark_actions:sweep")
    CONTENTS[tuning.SFT] = tuning.CONTENT
    LINKS["corpora"].append(Link("Benchmarks", lambda shown: reverse("benchmarks") if shown["rows"] else ""))
    LINKS["corpus"].append(
        Link("Generate", lambda shown: f"{reverse('generate')}?corpus={shown['corpus'].pk}")
    )
    LINKS["runs"].append(Link("Generate", lambda shown: reverse("generate")))
    LINKS["run"].append(
        Link("Dialogue by dialogue", lambda shown: f"{reverse('productions')}?run={shown['run'].pk}")
    )
