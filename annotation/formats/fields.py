"""Reading one JSON object field by field: typed, bounded, and refused by the path of the field."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from annotation.formats.decoding import kind_of, plain
from annotation.formats.problems import ImportProblem
from annotation.records import SaidKind
from annotation.text.cells import kind_of_rater

ID_LIMIT = 300
NAME_LIMIT = 200


class Fields:
    """An object at a path. Every method takes a field's key and raises `ImportProblem` with its full path."""

    __slots__ = ("path", "raw")

    def __init__(self, raw: Any, path: str, known: frozenset[str]) -> None:
        if type(raw) is not dict:
            raise ImportProblem(f"must be an object, not {kind_of(raw)}", field=path)
        self.raw: dict[str, Any] = raw
        self.path = path
        if not raw.keys() <= known:
            self._refuse_unknown(known)

    def _refuse_unknown(self, known: frozenset[str]) -> None:
        unknown = sorted(self.raw.keys() - known)[0]
        close = difflib.get_close_matches(unknown, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
        raise self.problem(unknown, f"is not a field of the format; {hint}")

    def problem(self, key: str, reason: str) -> ImportProblem:
        """Return the problem with a field, to be raised."""
        return ImportProblem(reason, field=self.at(key))

    def at(self, key: str) -> str:
        """Return the full path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Whether the field is there and not null."""
        return self.raw.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; `default` where it is absent or null, refused where there is no default."""
        value = self.raw.get(key, default)
        if type(value) is str:
            return value
        if value is None and default is not None:
            return default
        raise self._wrong(key, "a text")

    def id(self, key: str, default: str | None = None, limit: int = ID_LIMIT) -> str:
        """Return a text that names something: without space around it, not empty, not over the limit."""
        value = self.text(key, default).strip()
        if not value and default != "":
            raise self.problem(key, "is empty")
        if len(value) > limit:
            raise self.problem(key, f"is longer than {limit} characters")
        return value

    def count(self, key: str, default: int | None = 0) -> int | None:
        """Return a whole number from 0 to 2^31 - 1."""
        value = self.raw.get(key, default)
        if value is None and default is None:
            return None
        if type(value) is not int or not 0 <= value < 2**31:
            raise self._wrong(key, "a whole number from 0")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """Return true or false."""
        value = self.raw.get(key, default)
        if type(value) is not bool:
            raise self._wrong(key, "true or false")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> Any:
        """Return one of the choices."""
        value = self.raw.get(key, default)
        if value not in choices:
            raise self.problem(key, f"must be one of {', '.join(choices)}")
        return value

    def rater_kind(self) -> SaidKind:
        """Return the kind of a rater, empty where it is not said."""
        text = self.text("kind", "").strip()
        try:
            return kind_of_rater(text) if text else ""
        except ValueError as error:
            raise self.problem("kind", str(error)) from None

    def object(self, key: str) -> dict[str, Any]:
        """Return a free-form object, empty where it is absent."""
        value = self.raw.get(key)
        if value is None:
            return {}
        if type(value) is not dict:
            raise self._wrong(key, "an object")
        plain(value, self.at(key))
        return value

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """Yield (path, element) of a list; nothing where it is absent or null."""
        value = self.raw.get(key)
        if value is None:
            return
        if type(value) is not list:
            raise self._wrong(key, "a list")
        path = self.at(key)
        for index, element in enumerate(value):
            yield f"{path}[{index}]", element

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts as a tuple, empty where it is absent."""
        values = []
        for path, element in self.items(key):
            if type(element) is not str:
                raise ImportProblem(f"must be a text, not {kind_of(element)}", field=path)
            values.append(element)
        return tuple(values)

    def _wrong(self, key: str, wanted: str) -> ImportProblem:
        if key not in self.raw:
            return self.problem(key, "is missing")
        return self.problem(key, f"must be {wanted}, not {kind_of(self.raw[key])}")
