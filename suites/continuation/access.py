"""One loader per object, shared by pages and API: the object of an address, or 404."""

from __future__ import annotations

from django.shortcuts import get_object_or_404

from suites.continuation.models import Benchmark, Production


def production(pk: int) -> Production:
    """Return a production with the related objects that its page shows. Researchers see every production."""
    related = ("run__endpoint", "writer__corpus", "dialogue__corpus", "continuation__system")
    return get_object_or_404(Production.objects.select_related(*related), pk=pk)


def benchmark(pk: int) -> Benchmark:
    """Return a benchmark with the related objects that its page shows. Researchers see every benchmark."""
    related = ("corpus", "endpoint", "created_by")
    return get_object_or_404(Benchmark.objects.select_related(*related), pk=pk)
