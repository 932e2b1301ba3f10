"""What is wrong with a file, told by file, line, field and reason."""

from __future__ import annotations

from typing import Any

from annotation.errors import AnnotationError

MOST = 20
"""So many problems of a file are told in one go, at most."""


class ImportProblem(AnnotationError):
    """Why a file cannot be imported. Nothing of the file is kept.

    `line` is 1-based, None where the problem is not on one line; `field` is a path like `turns[3].text`,
    empty where the line as a whole is meant. `others` are further problems of the same file.
    """

    def __init__(self, reason: str, *, field: str = "", line: int | None = None, file: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field
        self.line = line
        self.file = file
        self.others: list[ImportProblem] = []

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.field:
            place.append(f"field {self.field}")
        return f"{', '.join(place)}: {self.reason}" if place else self.reason

    def placed(self, *, line: int | None = None, file: str = "") -> ImportProblem:
        """Fill in where the problem is, where that is not known yet, and return it."""
        self.line = line if self.line is None else self.line
        self.file = self.file or file
        for other in self.others:
            other.placed(file=file)
        return self

    def all(self) -> list[ImportProblem]:
        """Return this problem and the further ones of the same file."""
        return [self, *self.others]

    def as_answer(self) -> dict[str, Any]:
        """Return the first problem for a program to read, and `problems`, all, where there are several."""
        several = {"problems": [problem.as_dict() for problem in self.all()]} if self.others else {}
        return {**self.as_dict(), **several}

    def lines(self) -> str:
        """Return one line for each problem of the file."""
        told = [str(problem) for problem in self.all()]
        if len(told) >= MOST:
            told.append(f"These are the first {MOST} problems; there may be more.")
        return "\n".join(told)

    def as_dict(self) -> dict[str, str | int | None]:
        """Return file, line, field and reason for a program to read."""
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}


class Faults:
    """The problems of one file as they are found. Nothing is kept once there is one."""

    def __init__(self) -> None:
        self.found: list[ImportProblem] = []

    def add(self, problem: ImportProblem) -> None:
        """Note a problem and go on; raise them all where there are enough."""
        self.found.append(problem)
        if len(self.found) >= MOST:
            self.refuse()

    def refuse(self) -> None:
        """Raise the problem that comes first in the file, with the others; nothing where there is none."""
        if self.found:
            first, *others = sorted(self.found, key=lambda problem: problem.line or 0)
            first.others = others
            raise first
