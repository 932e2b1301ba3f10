"""One loader for each object, used by pages and API alike: what an address names, or 404."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from suites.continuation.models import Benchmark, Production


def production(pk: int) -> Production:
    """Return a production with all that its page names. Researchers see every production."""
    related = ("run__endpoint", "writer__corpus", "dialogue__corpus", "continuation__system")
    return get_object_or_404(Production.objects.select_related(*related), pk=pk)


def benchmark(pk: int) -> Benchmark:
    """Return a benchmark with all that its page names. Researchers see every benchmark."""
    related = ("corpus", "endpoint", "created_by")
    return get_object_or_404(Benchmark.objects.select_related(*related), pk=pk)
