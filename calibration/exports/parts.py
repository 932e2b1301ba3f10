"""Which part of a split an export takes out. Taking test out is a look at it, logged with its purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora import splits
from annotation.models import Corpus, Split
from calibration.errors import ExportRefused
from calibration.exports.writing import Column
from config.permissions import is_researcher

PART_COLUMN = Column("part", "sc.part", "plain")
PART_TABLE = (
    "LEFT JOIN annotation_splitcluster sc ON sc.split_id = %s AND sc.cluster = coalesce(i.cluster, d.cluster)"
)
OF_PART = "(%s IN ('', 'all') OR sc.part = %s)"
PARTS = ("dev", "test", "all")


@dataclass(frozen=True, slots=True)
class Taken:
    """What an export takes: a part (dev, test, all) of a split; part is empty where there is no split."""

    split: Split | None
    part: str

    @property
    def params(self) -> tuple[Any, ...]:
        """The values for PART_TABLE and OF_PART, in that order."""
        return (self.split.pk if self.split else None, self.part, self.part)


def taken_by_default(corpus: Corpus) -> Taken:
    """Return what may be taken without a look: dev of the split, all of a corpus that is not split."""
    split = splits.lock_of(corpus)
    return Taken(split, "dev" if split else "")


@transaction.atomic
def take(*, corpus: Corpus, part: str = "", purpose: str = "", by: User | None) -> Taken:
    """Return what an export takes; the split is fixed by it, and test or all is logged as a look.

    `part` is dev, test, all, or empty for what may be taken without a look. Raises ExportRefused for a part
    of a corpus that has no split, for test or all without a purpose, and to who is no researcher.
    """
    split = splits.lock_of(corpus)
    if split is None:
        if part in ("", "all"):
            return Taken(None, "")
        raise ExportRefused(f"the corpus {corpus.name} has no split, so there is no {part} part")
    if part in ("", "dev"):
        splits.fix(split=split, by=by)
        return Taken(split, "dev")
    if not purpose.strip():
        raise ExportRefused("test is locked: say what you need it for; it is logged as a look at test")
    if by is not None and not is_researcher(by):
        raise ExportRefused("test is opened for a whole corpus, by its researchers alone: ask one of them")
    splits.open_test(split=split, by=by, purpose=f"export: {purpose.strip()}")
    return Taken(split, part)
