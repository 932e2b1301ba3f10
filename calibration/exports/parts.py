"""Parts of a split in exports. Exporting test is a look at it, logged with its purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.corpora import splits
from annotation.corpora.splits import TRAINING
from annotation.models import Campaign, Corpus, Split, SplitCluster
from calibration.errors import ExportRefused
from calibration.exports.writing import Column
from calibration.models import Gold
from config.permissions import is_researcher

PART_SQL = "CASE WHEN d.part = 'training' THEN d.part ELSE coalesce(sc.part, nullif(d.part, '')) END"
"""The part of a row: training, otherwise that of the split, otherwise evaluation where the dialogue is marked
so.
"""
PART_COLUMN = Column("part", PART_SQL, "plain")
PART_TABLE = (
    "LEFT JOIN annotation_splitcluster sc ON sc.split_id = %s AND sc.cluster = coalesce(i.cluster, d.cluster)"
)
OF_PART = "(d.part = 'training') = (%s = 'training') AND (%s IN ('', 'all', 'training') OR sc.part = %s)"
PARTS = ("dev", "test", "all", TRAINING)


@dataclass(frozen=True, slots=True)
class ExportPart:
    """Part of an export: dev, test or all of a split, or training.

    The part is empty where there is no split; all of them leave training out.
    """

    split: Split | None
    part: str

    @property
    def params(self) -> tuple[Any, ...]:
        """The values for PART_TABLE and OF_PART, in that order."""
        return (self.split.pk if self.split else None, self.part, self.part, self.part)

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
    by: User | None,
) -> ExportPart:
    """Return the part of an export; the split is fixed by it, and test or all is logged as a look.

    `part` is dev, test, all, training, or empty for the part that needs no look. Raises ExportRefused for a
    part that does not exist (a campaign or gold `about` training has no other), for test or all without a
    purpose, and for anyone but researchers.
    """
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
