"""Which systems are of a judge's own family: as its endpoint and the corpus say."""

from __future__ import annotations

from annotation.models import System
from judges.models import Draft


def own_systems(draft: Draft) -> list[str]:
    """Return the names of the corpus's systems whose family is that of the draft's model, in any case."""
    family = draft.endpoint.family.casefold() if draft.endpoint else ""
    if not family:
        return []
    known = System.objects.filter(corpus=draft.bench.corpus).exclude(family="").order_by("name")
    return [name for name, its in known.values_list("name", "family") if its.casefold() == family]


def why_none(draft: Draft) -> str:
    """Say what to do where a check knows no system of the judge's own family."""
    family = draft.endpoint.family if draft.endpoint else ""
    if not family:
        return (
            "Say which systems are of the judge's own family, or name its endpoint's family once and for all."
        )
    return (
        f"No system of {draft.bench.corpus.name} is of the family {family}: say so on the corpus's page, or "
        "which systems are of the judge's own family."
    )
