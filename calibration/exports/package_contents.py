"""Contents of a package: labels and dialogues for another tool's format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

from annotation.models import Continuation
from calibration.errors import ExportRefused
from calibration.exports.labels import labels
from calibration.exports.parts import ExportPart
from calibration.exports.writing import Bundle, rows_of
from calibration.ratings.scope import Scope
from judges.runs.material import Material, load

# A package: several files in a format that another tool reads.

TOGETHER = 100
"""Continuations that are read in one batch."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Contents:
    """Contents of a package: labels of a scope, of a part of the split; `questions` selects some of them."""

    scope: Scope
    export_part: ExportPart
    questions: tuple[str, ...] = ()

    def refused(self, reason: str) -> ExportRefused:
        """Return an exception with the reason why the package cannot be written."""
        return ExportRefused(f"{self.scope.name}: {reason}")


@dataclass(frozen=True)
class Package:
    """A kind of package. `write` adds its files to a bundle and returns the number of labels in them.

    `by_question` packages may be narrowed to some questions.
    """

    key: str
    title: str
    hint: str
    write: Callable[[Contents, Bundle], int]
    by_question: bool = False


def by_continuation(contents: Contents) -> Iterator[tuple[Material, list[Row]]]:
    """Yield each continuation with labels, with their rows, in the order of their keys."""

    def place(row: Row) -> tuple[str, str]:
        return row["dialogue"], row["continuation"]

    rows = rows_of(labels(contents.scope, contents.export_part))
    groups = ((key, list(group)) for key, group in groupby(rows, place))
    while batch := dict(islice(groups, TOGETHER)):
        continuations = Continuation.objects.filter(
            dialogue__corpus=contents.scope.corpus, dialogue__key__in={dialogue for dialogue, _ in batch}
        ).values_list("dialogue__key", "key", "pk")
        ids = {(dialogue, key): pk for dialogue, key, pk in continuations if (dialogue, key) in batch}
        materials = load(ids.values())
        for key, group in batch.items():
            if key not in ids or ids[key] not in materials:
                raise contents.refused("it was changed while it was written: ask again")
            yield materials[ids[key]], group


def file_name(text: str) -> str:
    """Return a text as part of a file name: letters, digits, `-`, `_` and `.`."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.")[:80] or "x"
