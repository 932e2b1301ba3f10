"""Parts of a split in exports, without dialogues left out by people's answers.

Exporting test is a look at it, logged with its purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.corpora import exclusion, splits
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.corpora.splits import TRAINING
from annotation.errors import ExclusionRefused
from annotation.models import Campaign, Corpus, Split, SplitCluster
from calibration.errors import ExportRefused
from calibration.exports.writing import Column
from calibration.models import Gold
from calibration.ratings.scope import Scope
from calibration.ratings.subsets import Subset
from config.permissions import is_researcher

PART_SQL = "CASE WHEN d.part = 'training' THEN d.part ELSE coalesce(sc.part, nullif(d.part, '')) END"
"""The part of a row: training, otherwise that of the split, otherwise evaluation where the dialogue is marked
so.
"""
PART_COLUMN = Column("part", PART_SQL, "plain")
PART_TABLE = (
    "LEFT JOIN annotation_splitcluster sc ON sc.split_id = %s AND sc.cluster = coalesce(i.cluster, d.cluster)"
)
OF_PART = """(d.part = 'training') = (%s = 'training') AND (%s IN ('', 'all', 'training') OR sc.part = %s)
  AND d.id <> ALL(%s::bigint[])"""
PARTS = ("dev", "test", "all", TRAINING)


@dataclass(frozen=True, slots=True)
class ExportPart:
    """Part of an export: dev, test or all of a split, or training.

    The part is empty where there is no split; all of them leave training out. `left_out` are dialogues left
    out by people's answers.
    """

    split: Split | None
    part: str
    left_out: LeftOutDialogues | None = None

    @property
    def params(self) -> tuple[Any, ...]:
        """The values for PART_TABLE and OF_PART, in that order."""
        split = self.split.pk if self.split else None
        return (split, self.part, self.part, self.part, self.excluded_ids)

    @property
    def excluded_ids(self) -> list[int]:
        """Ids of the dialogues left out by people's answers."""
        return self.left_out.ids if self.left_out else []

    @property
    def exclude(self) -> str:
        """The exclusion, '' for none."""
        return str(self.left_out.exclusion) if self.left_out else ""

    def narrowed(self, scope: Scope) -> Scope:
        """Return a scope without the dialogues left out by people's answers."""
        if self.left_out is None:
            return scope
        return replace(scope, subset=Subset(exclude=self.exclude), excluded=tuple(self.excluded_ids))

    @property
    def clusters(self) -> QuerySet[SplitCluster, str] | None:
        """Clusters of dev or test, if the part is one of them; None where all clusters are in the part."""
        if self.split is None or self.part == "all":
            return None
        return self.split.clusters.filter(part=self.part).values_list("cluster", flat=True)


def taken_by_default(corpus: Corpus, *, training: bool = False) -> ExportPart:
    """Return the part that needs no look: dev of the split, all but training without a split.

    Labels that are about `training` only need none either: training.
    """
    if training:
        return ExportPart(None, TRAINING)
    split = splits.lock_of(corpus)
    return ExportPart(split, "dev" if split else "")


@transaction.atomic
def take(
    *,
    corpus: Corpus,
    about: Campaign | Gold | None = None,
    part: str = "",
    purpose: str = "",
    exclude: str = "",
    by: User | None,
) -> ExportPart:
    """Return the part of an export; the split is fixed by it, and test or all is logged as a look.

    `part` is dev, test, all, training, or empty for the part that needs no look; `exclude` leaves out
    dialogues by people's answers, such as `objection>=1`, as of now. Raises ExportRefused for a part that
    does not exist (a campaign or gold `about` training has no other), for test or all without a purpose, for
    anyone but researchers, and for an invalid exclusion.
    """
    check_exclusion(corpus, exclude)
    return without_excluded(_take(corpus, about, part, purpose, by), corpus, exclude)


def check_exclusion(corpus: Corpus, exclude: str) -> None:
    """Raise ExportRefused for an exclusion that cannot be read, or by a question that nobody asks."""
    try:
        exclusion.check(corpus, exclude)
    except ExclusionRefused as error:
        raise ExportRefused(str(error)) from error


def without_excluded(export_part: ExportPart, corpus: Corpus, exclude: str) -> ExportPart:
    """Return a part without the dialogues that an exclusion leaves out as of now."""
    is_training = export_part.part == TRAINING
    return replace(export_part, left_out=exclusion.left_out(corpus, exclude, training=is_training))


def _take(
    corpus: Corpus, about: Campaign | Gold | None, part: str, purpose: str, by: User | None
) -> ExportPart:
    if about is not None and about.part == TRAINING:
        if part not in ("", TRAINING):
            raise ExportRefused(f"{about} is about training dialogues: there is no {part} part of it")
        return ExportPart(None, TRAINING)
    if part == TRAINING:
        if about is not None:
            raise ExportRefused(f"{about} is about all but training: there is no training part of it")
        if not corpus.has_training:
            raise ExportRefused(f"no dialogue of {corpus.name} is in training")
        return ExportPart(None, TRAINING)
    split = splits.lock_of(corpus)
    if split is None:
        if part in ("", "all"):
            return ExportPart(None, "")
        raise ExportRefused(f"the corpus {corpus.name} has no split, so there is no {part} part")
    if part in ("", "dev"):
        splits.fix(split=split, by=by)
        return ExportPart(split, "dev")
    if not purpose.strip():
        raise ExportRefused("test is locked: say what you need it for; it is logged as a look at test")
    if by is not None and not is_researcher(by):
        raise ExportRefused("test is opened for a whole corpus, by its researchers alone: ask one of them")
    splits.open_test(split=split, by=by, purpose=f"export: {purpose.strip()}")
    return ExportPart(split, part)
