"""Facts about the judges of a study that their labels do not hold: model family and checks of rewording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Corpus, System
from calibration.statistics import Result
from jobs.models.run import Run
from judges.models import Draft


@dataclass(frozen=True)
class JudgeFacts:
    """The family of a judge's model, the corpus's systems of that family, and its figures when reworded.

    `rewordings` are pairs of a question's title and the share of same answers, one per changed text.
    """

    family: str = ""
    systems: frozenset[str] = field(default_factory=frozenset)
    rewordings: tuple[tuple[str, Result], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return JSON data for the hash of a report's inputs."""
        figures = [[title, result.value, result.low, result.high] for title, result in self.rewordings]
        return {"family": self.family, "systems": sorted(self.systems), "rewordings": figures}


def judge_facts(corpus: Corpus, judges: Mapping[int, str]) -> dict[str, JudgeFacts]:
    """Return the facts known about judges by name; `judges` maps their ids to their names in the study.

    A judge without a known family and without a check is left out.
    """
    if not judges:
        return {}
    runs = Run.objects.filter(rater__in=list(judges), endpoint__family__gt="").order_by("pk")
    families = dict(runs.values_list("rater", "endpoint__family"))
    systems: dict[str, set[str]] = {}
    if families:
        for name, family in (
            System.objects.filter(corpus=corpus).exclude(family="").values_list("name", "family")
        ):
            systems.setdefault(family.casefold(), set()).add(name)
    rewordings = _rewordings(corpus, judges)
    facts = {
        judges[pk]: JudgeFacts(
            family := families.get(pk, ""),
            frozenset(systems.get(family.casefold(), ())),
            rewordings.get(pk, ()),
        )
        for pk in judges
    }
    return {name: fact for name, fact in facts.items() if fact != JudgeFacts()}


def _rewordings(corpus: Corpus, judges: Mapping[int, str]) -> dict[int, tuple[tuple[str, Result], ...]]:
    """Return the figures of the latest draft of each judge whose rewordings were tried."""
    from calibration.workbench.checks import finding  # the workbench itself reads studies

    drafts = (
        Draft.objects.filter(
            bench__corpus=corpus,
            kept_rater__in=list(judges),
            checks__check_key__startswith="rewordings:",
            checks__targets__gt=0,
            checks__discarded_at=None,
        )
        .select_related("bench", "rater", "kept_rater", "text", "endpoint")
        .distinct()
        .order_by("pk")
    )
    return {
        draft.kept_rater_id: tuple(
            (figure.question, figure.result)
            for figure in finding(draft, "rewordings").figures
            if figure.result.name == "percent_agreement"
        )
        for draft in drafts
        if draft.kept_rater_id is not None
    }
