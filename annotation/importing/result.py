"""What an import did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COUNTS = ("dialogues", "turns", "continuations", "items", "labels", "missing")


@dataclass(slots=True)
class ImportResult:
    """Counts of what a file brought; where `created` is false, all of it was there already.

    `turns` and `continuations` count the dialogues' own ones too; `labels` includes the `missing` ones.
    `unchanged` counts labels of the file that were there already; `notes` say what was decided on the way.
    """

    corpus: str
    dialogues: int = 0
    turns: int = 0
    continuations: int = 0
    items: int = 0
    labels: int = 0
    missing: int = 0
    created: bool = True
    unchanged: int = 0
    notes: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Return the counts alone."""
        return {name: getattr(self, name) for name in COUNTS}

    def as_dict(self) -> dict[str, str | int | bool]:
        """Return what `import_corpus` prints last."""
        return {"corpus": self.corpus, **self.counts(), "created": self.created}

    def as_answer(self) -> dict[str, Any]:
        """Return what the API answers and an upload keeps: with `unchanged` and `notes`."""
        return {**self.as_dict(), "unchanged": self.unchanged, "notes": self.notes}

    @classmethod
    def repeated(cls, corpus: str, counts: Mapping[str, int]) -> ImportResult:
        """Return the result of a file whose content was there already, with its first import's counts."""
        result = cls(corpus, created=False)
        for name in COUNTS:
            setattr(result, name, counts.get(name, 0))
        return result
