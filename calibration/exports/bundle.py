"""Several files handed out as one: a zip or a folder, with a manifest that says what each of them holds.

The same files give the same zip, byte for byte: entries bear one date, in the order they were added.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

MANIFEST = "manifest.json"
DATE = (1980, 1, 1, 0, 0, 0)
PACKED = (".parquet",)
"""Endings of files that are compressed already."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a bundle: its name, how many labels (or rows) it holds, its bytes and their SHA-256."""

    name: str
    rows: int
    bytes: int
    sha256: str


class Bundle(ABC):
    """What files are added to, one after the other."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a new file of the bundle for writing; names have `/` between folders."""

    def add(self, name: str, blocks: Iterable[bytes], rows: int = 0) -> Part:
        """Write a file and remember what it holds; a generator's own value, at its end, is its rows."""
        digest, size, source = hashlib.sha256(), 0, iter(blocks)
        with self.open(name) as file:
            while True:
                try:
                    block = next(source)
                except StopIteration as end:
                    rows = end.value if isinstance(end.value, int) else rows
                    break
                digest.update(block)
                size += len(block)
                file.write(block)
        part = Part(name, rows, size, digest.hexdigest())
        self.parts.append(part)
        return part

    def add_json(self, name: str, content: Any, rows: int = 0) -> Part:
        """Write a file of JSON, two spaces deep."""
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
        return self.add(name, [text.encode(errors="backslashreplace")], rows)

    def finish(self, facts: Mapping[str, Any]) -> None:
        """Write the manifest: what the bundle is, and each of its files."""
        self.add_json(MANIFEST, {**facts, "files": [asdict(part) for part in self.parts]})


class Zip(Bundle):
    """A bundle in a zip, written as it comes."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._zip = zipfile.ZipFile(file, "w")

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open an entry."""
        entry = zipfile.ZipInfo(name, DATE)
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_STORED if name.endswith(PACKED) else zipfile.ZIP_DEFLATED
        return self._zip.open(entry, "w", force_zip64=True)

    def close(self) -> None:
        """Write the zip's own list of its entries."""
        self._zip.close()

    def abandon(self) -> None:
        """Write nothing more: what was to be in it failed."""
        self._zip.fp = None


class Folder(Bundle):
    """A bundle in a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file, in a folder that is made where it is not there."""
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.open("wb")


class Hashed:
    """A file that counts and hashes what is written to it; it cannot be wound back."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.size, self._digest = file, 0, hashlib.sha256()

    def write(self, block: bytes) -> int:
        """Write a block."""
        self._digest.update(block)
        self.size += len(block)
        self.file.write(block)
        return len(block)

    def flush(self) -> None:
        """Nothing is held back here."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of what was written."""
        return self._digest.hexdigest()
