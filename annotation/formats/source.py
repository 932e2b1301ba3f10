"""The file or folder that an import reads: bounded in memory, hashed, and refused where it is not plain text.

Compressed files are refused by their first bytes, so that no archive is ever unpacked. A line may have 16 MiB
and a file that is one JSON document 64 MiB; what is longer is refused after reading that much.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotation.errors import AnnotationError

# What is wrong with a file, told by file, line, field and reason.

MOST = 20
"""So many problems of a file are told in one go, at most."""


class ImportProblem(AnnotationError):
    """Why a file cannot be imported. Nothing of the file is kept.

    `line` is 1-based, None where the problem is not on one line; `field` is a path like `turns[3].text`,
    empty where the line as a whole is meant. `others` are further problems of the same file.
    """

    code = "import_refused"

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

    def details(self) -> dict[str, Any]:
        """Return the first problem for a program to read, and `problems`, all, where there are several."""
        several = {"problems": [problem.as_dict() for problem in self.all()]} if self.others else {}
        return {**self.as_dict(), **several}

    def lines(self) -> str:
        """Return one line for each problem of the file."""
        messages = [str(problem) for problem in self.all()]
        if len(messages) >= MOST:
            messages.append(f"These are the first {MOST} problems; there may be more.")
        return "\n".join(messages)

    def as_dict(self) -> dict[str, str | int | None]:
        """Return file, line, field and reason for a program to read."""
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}


class Faults:
    """The problems of one file, in the order in which they were added. Nothing is kept once there is one."""

    def __init__(self) -> None:
        self.problems: list[ImportProblem] = []

    def add(self, problem: ImportProblem) -> None:
        """Note a problem and go on; raise them all where there are enough."""
        self.problems.append(problem)
        if len(self.problems) >= MOST:
            self.refuse()

    def refuse(self) -> None:
        """Raise the problem that comes first in the file, with the others; nothing where there is none."""
        if self.problems:
            first, *others = sorted(self.problems, key=lambda problem: problem.line or 0)
            first.others = others
            raise first


MAX_LINE = 16 * 2**20
MAX_DOCUMENT = 64 * 2**20
CHUNK = 2**20
START = 2**16
MOST_NAMES = 40
"""So many columns or fields that are not read are named, at most."""
PARTS = (".json", ".jsonl")
"""How the files of a folder end that are read."""
BOM = b"\xef\xbb\xbf"
SIGNATURES = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip archive (or an Excel file)",
    b"PK\x05\x06": "a zip archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ\x00": "an xz file",
    b"\x28\xb5\x2f\xfd": "a zstd file",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"PAR1": "a Parquet file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
PICKLE = re.compile(
    rb"\x80[\x00-\x05]|\([dlt]p?\d+\r?\n|[})\]]q[\x00-\x08]"
    rb"|c(?:__builtin__|builtins|collections|copy_?reg|numpy|pandas)[\w.]*\r?\n"
)
"""How a pickle begins: protocols 2 to 5 by their mark, 0 and 1 by the container or class."""


class Source:
    """A path that is being read. `done` of `total` bytes were read so far.

    `name` is what its owner calls it, where the path is of a stored upload; `columns` are a table's own names
    for columns, by Concord's, and `settings` what its user says of it. With `faults`, reading goes on after a
    problem that is reported; without, the first one is raised. `notes` are what the reader has to say about
    the file; `passed_over` are its columns or fields that are not read.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "",
        max_line: int = MAX_LINE,
        max_document: int = MAX_DOCUMENT,
        columns: Mapping[str, str] | None = None,
        settings: Mapping[str, str | int] | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.path = Path(path)
        self.name = name or self.path.name
        self.max_line = max_line
        self.max_document = max_document
        self.columns = dict(columns or {})
        self.settings = dict(settings or {})
        self.faults = faults
        self.notes: list[str] = []
        self.passed_over: dict[str, None] = {}
        self.is_table = False
        self.done = 0
        try:
            self.total = sum(_size(file) for file in self.files())
        except OSError as error:
            raise ImportProblem(f"cannot be read: {error.strerror}", file=str(path)[:200]) from None

    def report(self, problem: ImportProblem) -> None:
        """Note a problem after which reading can go on; raise it where only the first one is asked for."""
        if self.faults is None:
            raise problem
        self.faults.add(problem)

    @contextmanager
    def report_problems(
        self, file: Path | None = None, line: int | None = None, path: str = ""
    ) -> Iterator[None]:
        """Report the problem that a block raises, placed, and go on after the block.

        `path` is that of the record in its document, before the field's own.
        """
        try:
            yield
        except ImportProblem as problem:
            problem.field = ".".join(filter(None, (path, problem.field)))
            self.report(problem.placed(line=line, file=self.name_in_folder(file) if file else ""))

    def pass_over(self, names: Iterable[str]) -> None:
        """Note columns or fields that are not read: they are named with the import."""
        self.passed_over.update(dict.fromkeys(name for name in names if name))

    def all_notes(self) -> list[str]:
        """Return the notes, the last of them about what was not read."""
        names = list(self.passed_over)
        if not names:
            return self.notes
        rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        kind = "Columns" if self.is_table else "Fields"
        listing = ", ".join(name[:80] for name in names[:MOST_NAMES])
        return [*self.notes, f"{kind} passed over: {listing}{rest}."]

    def files(self) -> list[Path]:
        """Return the file itself, or a folder's .json and .jsonl files in the order of their names."""
        if self.path.is_dir():
            files = sorted(file for file in self.path.iterdir() if file.suffix in PARTS and file.is_file())
            if not files:
                raise ImportProblem("the folder holds no .json file", file=str(self.path))
            return files
        if not self.path.exists():
            raise ImportProblem("there is no such file", file=str(self.path))
        if not self.path.is_file():
            raise ImportProblem("is neither a file nor a folder", file=str(self.path))
        return [self.path]

    def called(self, file: Path) -> str:
        """Return what a file is called: in a folder by its own name, else as its owner calls it."""
        return file.name if self.path.is_dir() else self.name

    def name_in_folder(self, file: Path) -> str:
        """Return the name by which a problem places a folder's file, empty where the file is all there is."""
        return file.name if self.path.is_dir() else ""

    def files_by_name(self, alone: str) -> dict[str, Path]:
        """Return a folder's files by their names; a file by itself is `alone`."""
        return {file.name: file for file in self.files()} if self.path.is_dir() else {alone: self.path}

    def content_hash(self) -> str:
        """Return the SHA-256 of the content: of a file its bytes, of a folder its names and their hashes."""
        if not self.path.is_dir():
            return _hash(self.path)
        total = hashlib.sha256()
        for file in self.files():
            total.update(f"{file.name}\0{_hash(file)}\n".encode())
        return total.hexdigest()

    def lines(self, path: Path | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines that are not blank, without space around them: of the one file, or of one
        of the folder's."""
        is_blank = True
        for number, line in self.raw_lines(path):
            if stripped := line.strip(b" \t\r\n"):
                is_blank = False
                yield number, stripped
        if is_blank:
            raise ImportProblem("the file is empty")

    def begins_with(self, mark: bytes) -> bool:
        """Whether the file begins so, after a byte order mark and space."""
        return self._start().lstrip().startswith(mark)

    def _start(self) -> bytes:
        if self.path.is_dir():
            raise ImportProblem("is a folder; this format is one file", file=self.name)
        with self.path.open("rb") as file:
            return _checked_start(file.read(START))

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines of a file with a JSON object on each.

        A file that begins otherwise is refused in one go, not line by line.
        """
        lines = [line for line in map(bytes.strip, self._start().splitlines()) if line]
        if lines and (lines[0] in (b"{", b"[") or not any(line.startswith(b"{") for line in lines)):
            form = "one JSON document" if lines[0].startswith((b"{", b"[")) else "not JSON"
            raise ImportProblem(
                f"is {form} and none of Concord's formats: `jsonl` wants one dialogue a line, `messages` one "
                "chat a line"
            )
        return self.lines()

    def raw_lines(self, path: Path | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield all numbered lines as they are, with their ends: of the file, or of one in the folder."""
        path = path or self.path
        if path.is_dir():
            raise ImportProblem("is a folder; this format is one file", file=self.name)
        with path.open("rb") as file:
            number = 0
            while line := file.readline(self.max_line + 1):
                number += 1
                self.done += len(line)
                if number == 1:
                    line = _checked_start(line)
                if len(line) > self.max_line:
                    raise ImportProblem(f"is longer than {self.max_line >> 20} MiB", line=number)
                yield number, line
        if not number:
            raise ImportProblem("the file is empty")

    def document(self, file: Path) -> bytes:
        """Return the bytes of a file that is one JSON document."""
        size = file.stat().st_size
        if size > self.max_document:
            raise ImportProblem(f"is larger than {self.max_document >> 20} MiB", file=file.name)
        content = _checked_start(file.read_bytes())
        self.done += size
        if not content.strip():
            raise ImportProblem("the file is empty", file=file.name)
        return content


def _size(file: Path) -> int:
    """Return the bytes of a file that can be opened; raise OSError for one that cannot."""
    with file.open("rb") as opened:
        return opened.seek(0, 2)


def _checked_start(content: bytes) -> bytes:
    """Return content without a byte order mark; refuse what its first bytes show to be no plain text."""
    for signature, meaning in SIGNATURES.items():
        if content.startswith(signature):
            raise ImportProblem(f"is {meaning}, not plain UTF-8 text: unpack or convert it first")
    if is_pickle(content):
        raise ImportProblem("is a pickle, and opening it would run code: convert it to JSON first")
    return content.removeprefix(BOM)


def is_pickle(content: bytes) -> bool:
    """Whether content is a pickle, by its first bytes; it is never opened, because that runs code."""
    return PICKLE.match(content) is not None


def _hash(file: Path) -> str:
    total = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
