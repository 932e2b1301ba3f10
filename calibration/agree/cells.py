"""What a cell of a ratings file says: an answer, a missing one, or the scale that its question declares."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from annotation.text.table_cells import (
    Names,
    clashes_told,
    kind_of_rater,
    looks_like_a_model,
    looks_like_nothing,
    means_nothing,
    unguarded,
)
from calibration.agree.files import RatingsFileError, Row
from calibration.statistics.core.types import SCALES

TEXT = "text"


@dataclass(frozen=True, slots=True)
class Declared:
    """The scale that a file declares for a question: its level and values, empty where it declares none."""

    level: str = ""
    values: tuple[str | float, ...] = ()


def answer(
    path: Path, line: int, column: str, cell: str | None, missing: Collection[str], declared: Declared
) -> str | None:
    """Return a cell's answer, None where it is missing: empty, or one of `missing` (in lower case).

    Raises RatingsFileError for what looks like no answer and is neither declared as a value nor as missing.
    """
    text = unguarded((cell or "").strip())
    if means_nothing(text, missing):
        return None
    if looks_like_nothing(text) and text not in declared.values:
        mark = text.partition(" (")[0]
        advice = f"--missing={mark} takes it as missing, --values as a category"
        raise RatingsFileError(path, f"value {text!r} looks like no answer: {advice}", line, column)
    return text or None


def declared_of(path: Path, line: int, row: Row) -> Declared:
    """Return the scale that a row's columns `level` and `values` declare; RatingsFileError for a bad one."""
    try:
        return _declared(row.get("level") or "", row.get("values") or "")
    except ValueError as error:
        column, message = error.args
        raise RatingsFileError(path, message, line, column) from None


@lru_cache(maxsize=1000)
def _declared(level: str, values: str) -> Declared:
    if level and level not in (*SCALES, TEXT):
        raise ValueError("level", f"{level!r} is not a measurement level; use one of {', '.join(SCALES)}")
    try:
        listed = json.loads(unguarded(values) or "[]")
    except json.JSONDecodeError:
        listed = None
    if not isinstance(listed, list) or not all(isinstance(v, str | int | float) for v in listed):
        raise ValueError("values", f"{values!r}: expected a list such as [1, 2, 3]")
    return Declared(level, tuple(listed))


# Names and kinds of raters in a ratings file: spelled in one way, and said by the file or the user.

JOIN, KEEP = "join", "keep"
ADVICE = "differ in case or space alone: --fold-names joins them, --fold-names=no keeps them apart"


class Spelling:
    """Names of a file, stripped and (with "join") in their first spelling; kinds of its raters.

    `judges` are the raters that are judges where the file says nothing of their kind; None: nobody said.
    """

    def __init__(self, names: str = "", judges: frozenset[str] | None = None) -> None:
        join = names == JOIN
        self.names = names
        self.judges = judges
        self.raters, self.clusters, self.systems, self.items = (Names(join, unguarded) for _ in range(4))
        self._values: dict[Declared, Names] = {}
        self._kinds: dict[str, str] = {}

    def item(self, cell: str) -> str:
        """Return an item's name; those of a file are many, and kept only where they are joined."""
        return self.items[cell] if self.names == JOIN else unguarded(cell).strip()

    def value(self, value: str | None, declared: Declared) -> str | None:
        """Return an answer in its declared or first spelling, where names are joined."""
        if value is None or self.names != JOIN:
            return value
        if (names := self._values.get(declared)) is None:
            names = self._values[declared] = Names(True)
            for known in declared.values:
                names[str(known)]
        return names[value]

    def kind(self, path: Path, line: int, rater: str, cell: str) -> str:
        """Return a rater's kind as its cell says it, else as the user did; empty where nobody did."""
        try:
            kind = _kind(cell)
        except ValueError as error:
            raise RatingsFileError(path, str(error), line, "kind") from None
        if self.judges is not None:
            named = rater in self.judges
            if named and kind not in ("", "judge"):
                raise RatingsFileError(path, f"{rater!r} is {kind} here, but named in --judges", line, "kind")
            kind = kind or ("judge" if named else "human")
        self._kinds[rater] = kind
        return kind

    def check(self, path: Path, more: Iterable[tuple[str, Iterable[str]]]) -> None:
        """Refuse names that differ in case or space alone: the raters', clusters', systems' and `more`."""
        if self.names:
            return
        known = [("raters", self.raters), ("clusters", self.clusters), ("systems", self.systems)]
        for what, names in more:
            seen = Names()
            for name in names:
                seen[name]
            known.append((what, seen))
        told = [clashes_told(names.clashes.values(), what) for what, names in known if names.clashes]
        if told:
            raise RatingsFileError(path, f"{'; '.join(told)} {ADVICE}")

    def check_kinds(self, path: Path) -> None:
        """Refuse raters without a kind where others have one, and judges who are not in the file."""
        absent = sorted((self.judges or frozenset()) - self._kinds.keys())
        if absent:
            raise RatingsFileError(
                path, f"--judges: no rater {absent[0]!r}; there are {', '.join(self._kinds)}"
            )
        unsaid = [rater for rater, kind in self._kinds.items() if not kind]
        if unsaid and len(unsaid) < len(self._kinds):
            told = f"no kind for {', '.join(unsaid[:10])}: fill the column, or name the judges with --judges"
            raise RatingsFileError(path, told, column="kind")

    def notes(self) -> list[str]:
        """Say which spellings were joined, and which raters may be models that nobody called judges."""
        notes = self.joined()
        models = [rater for rater, kind in self._kinds.items() if not kind and looks_like_a_model(rater)]
        if models:
            option = f"--judges {','.join(models[:10])}"
            notes.append(
                f"Nothing says who is a judge, so all raters are taken alike: {option} sets them apart."
            )
        return notes

    def joined(self) -> list[str]:
        """Say which spellings were joined."""
        joined = [
            ("raters", self.raters),
            ("items", self.items),
            ("clusters", self.clusters),
            ("systems", self.systems),
            *(("values", names) for names in self._values.values()),
        ]
        return [
            f"Joined: {clashes_told(names.clashes.values(), what)}."
            for what, names in joined
            if names.clashes and names.join
        ]


@lru_cache(maxsize=100)
def _kind(cell: str) -> str:
    return kind_of_rater(cell) if cell.strip() else ""
