"""What is wrong with a file, told by file, line, field and reason."""

from __future__ import annotations


class ImportProblem(Exception):
    """Why a file cannot be imported. Nothing of the file is kept.

    `line` is 1-based, None where the problem is not on one line; `field` is a path like `turns[3].text`,
    empty where the line as a whole is meant.
    """

    def __init__(self, reason: str, *, field: str = "", line: int | None = None, file: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field
        self.line = line
        self.file = file

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
        return self

    def as_dict(self) -> dict[str, str | int | None]:
        """Return file, line, field and reason for a program to read."""
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}
