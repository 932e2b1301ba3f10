"""What a form to download something in is: the tables of forms of reports and of counts are made of these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Shown = TypeVar("Shown")
Written = TypeVar("Written", bound=str | bytes)


@dataclass(frozen=True, slots=True)
class Rendering(Generic[Shown, Written]):
    """One form: its key in commands and addresses, its name, its file suffix and type, and its writer."""

    key: str
    name: str
    suffix: str
    media_type: str
    write: Callable[[Shown], Written]
