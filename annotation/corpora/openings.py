"""Test opened for judges: once each, on purpose, with a reason.

A judge is whoever has a fingerprint of its own; another version of its prompt, or other parameters, is
another judge of the same family. Nothing forbids to open test for a second one of a family, but it is
counted, and every report that shows test says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import SplitRefused
from annotation.models import JudgeOpening, Rater, Split
from config.models import Event


@dataclass(frozen=True, slots=True)
class Opened:
    """An opening, and which one of its family it was, counted from 1."""

    opening: JudgeOpening
    number: int

    def sentence(self) -> str:
        """Return it as one line for people."""
        one = self.opening
        again = f" (opening {self.number} of the family {one.family})" if self.number > 1 else ""
        return f"{one.at:%d %B %Y}, {one.by or 'unknown'}: {one.rater.name}{again}: {one.reason}"


def family_of(rater: Rater) -> str:
    """Return what a judge's versions share: protocol and prompt; of a judge from elsewhere its name."""
    protocol = str(rater.spec.get("protocol", ""))
    if not protocol:
        return rater.name[:300]
    prompt = str(rater.spec.get("prompt") or "").partition("@")[0]
    return " ".join(dict.fromkeys(filter(None, (protocol, prompt))))[:300]


def unopened(split: Split, raters: Iterable[Rater]) -> list[Rater]:
    """Return the judges among raters for whom nobody opened the test part, in their order."""
    judges = [rater for rater in raters if rater.kind == Rater.Kind.JUDGE]
    known = set(JudgeOpening.objects.filter(split=split, rater__in=judges).values_list("rater", flat=True))
    return [judge for judge in judges if judge.pk not in known]


@transaction.atomic
def open_for(*, split: Split, raters: Collection[Rater], by: User | None, reason: str) -> list[JudgeOpening]:
    """Open test for the judges among raters that it was not opened for; return the openings made.

    Raises SplitRefused without a reason.
    """
    if not reason.strip():
        raise SplitRefused("say what test is opened for: it is printed on every report that shows it")
    Split.objects.select_for_update().get(pk=split.pk)  # each opening sees those before it
    made = []
    for rater in unopened(split, raters):
        family = family_of(rater)
        made.append(
            JudgeOpening.objects.create(split=split, rater=rater, family=family, by=by, reason=reason.strip())
        )
        number = JudgeOpening.objects.filter(split=split, family=family).count()
        detail: dict[str, Any] = {"judge": rater.name, "fingerprint": rater.fingerprint, "family": family}
        subject = f"{split.name} of {split.corpus.name}"
        detail |= {"opening": number, "reason": reason.strip()}
        Event.objects.create(by=by, verb="open test for a judge", subject=subject, detail=detail)
    return made


def openings(split: Split) -> list[Opened]:
    """Return all openings of a split, oldest first, each numbered within its family."""
    counted: dict[str, int] = {}
    found = []
    for opening in split.openings.select_related("rater", "by"):
        counted[opening.family] = counted.get(opening.family, 0) + 1
        found.append(Opened(opening, counted[opening.family]))
    return found
