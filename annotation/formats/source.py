"""The file or folder that an import reads: bounded in memory, hashed, unpacked as a stream.

A gzip, and a zip of one file, are read like the file in them; other packed files are refused by their first
bytes. A line may have 16 MiB and a file that is one JSON document 64 MiB; anything longer is refused after
reading that much.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import lzma
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from annotation.errors import AnnotationError

# Problems of a file, with file, line, field and reason.

MOST = 20
"""Maximum number of problems of a file in one report."""


class ImportProblem(AnnotationError):
    """The reason why a file cannot be imported. Nothing of the file is stored.

    `line` is 1-based, None where the problem is not on one line; `field` is a path like `turns[3].text`,
    empty for the line as a whole. `others` are further problems of the same file, which has `total` in all.
    A problem `of_file` is a question about all of it, even where it names a line.
    """

    code = "import_refused"

    def __init__(
        self,
        reason: str,
        *,
        field: str = "",
        line: int | None = None,
        file: str = "",
        of_file: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field
        self.line = line
        self.file = file
        self.of_file = of_file
        self.others: list[ImportProblem] = []
        self.total = 1

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.field:
            place.append(f"field {self.field}")
        return f"{', '.join(place)}: {self.reason}" if place else self.reason

    def placed(self, *, line: int | None = None, file: str = "") -> ImportProblem:
        """Fill in the place of the problem, where it is not known yet, and return it."""
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
        if not self.others:
            return self.as_dict()
        problems = [problem.as_dict() for problem in self.all()]
        return {**self.as_dict(), "problems": problems, "total": self.total}

    def lines(self) -> str:
        """Return one line for each problem of the file."""
        messages = [str(problem) for problem in self.all()]
        if self.total > len(messages):
            messages.append(f"These are the first {len(messages)} of {self.total:,} problems.")
        return "\n".join(messages)

    def as_dict(self) -> dict[str, str | int | None]:
        """Return file, line, field and reason as JSON data."""
        return {"file": self.file, "line": self.line, "field": self.field, "reason": self.reason}


class Faults:
    """Problems of one file: the first ones, up to `most`, of `total`. With any, nothing is stored."""

    def __init__(self, most: int = MOST) -> None:
        self.problems: list[ImportProblem] = []
        self.most = most
        self.total = 0

    def add(self, problem: ImportProblem) -> None:
        """Add a problem, and go on."""
        self.total += 1
        if len(self.problems) < self.most:
            self.problems.append(problem)

    def refuse(self) -> None:
        """Raise the first problem in the file, with the others; do nothing where there is none."""
        if self.problems:
            first, *others = sorted(self.problems, key=lambda problem: problem.line or 0)
            first.others = others
            first.total = self.total
            raise first


MAX_LINE = 16 * 2**20
MAX_DOCUMENT = 64 * 2**20
CHUNK = 2**20
START = 2**16
MOST_NAMES = 40
"""Maximum number of unread columns or fields listed."""
KINDS_OF_PARTS = (
    (".parquet", ".arrow", ".feather"),
    (".json", ".jsonl", ".ndjson"),
    (".csv", ".tsv", ".xlsx"),
    (".txt", ".vtt", ".srt", ".sbv", ".ann", ".cha", ".eaf", ".textgrid"),
)
"""Extensions of the files that are read in a folder: those of the first kind that it has."""
PARTS = tuple(extension for kind in KINDS_OF_PARTS for extension in kind)
"""Extensions of the files that are read in a folder."""
LINES = 2**40
"""The line of a row in a folder's table: the number of its file, from 1, times this, plus its line there."""
LINE_OF_FILE = re.compile(r"\bline (\d{13,17})\b")
"""Such a line in a message."""
BOM = b"\xef\xbb\xbf"
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
SIGNATURES = {
    b"PK\x05\x06": "an empty zip archive",
    b"BZh": "a bzip2 file: unpack it first",
    b"\xfd7zXZ\x00": "an xz file: unpack it first",
    b"\x28\xb5\x2f\xfd": "a zstd file: unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it first",
    b"Rar!\x1a\x07": "a RAR archive: unpack it first",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office file, such as .xls: save it as .xlsx or CSV",
    b"%PDF-": "a PDF: export its text or its table",
    b"SQLite format 3": "an SQLite database: export a table of it as CSV",
    b"\x89HDF\r\n": "an HDF5 file: convert it to CSV or Parquet",
    b"\x93NUMPY": "a NumPy array: convert it to CSV",
    b"$FL2": "a file of SPSS: save it as CSV or Excel",
    b"$FL3": "a file of SPSS: save it as CSV or Excel",
    b"<stata_dta>": "a file of Stata: save it as CSV",
    b"RDX": "a file of R: save the table as CSV (write.csv)",
}
"""First bytes of files that are refused, with what to do."""
BINARY_TABLES = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "a Feather file",
    b"FEA1": "a Feather file",
    b"\xff\xff\xff\xff": "an Arrow file",
}
"""First bytes of tables that are not text."""
PACKED = (GZIP, ZIP, *BINARY_TABLES)
"""First bytes of files whose content is larger than the file."""
OFFICE = {
    "xl/": "an Excel workbook",
    "word/": "a Word document: save it as plain text",
    "ppt/": "a presentation: save its text",
}
"""Folders in archives of Office, with what they are."""
WORKBOOK = OFFICE["xl/"]
BESIDE = ("__MACOSX/", ".DS_Store")
"""Parts of archives that programs add."""
MAX_UNPACKED = 4 * 2**30
FREE_UNPACKED = 64 * 2**20
MAX_RATIO = 200
"""Beyond `FREE_UNPACKED` bytes, content may be this many times as large as its packed file."""
MAX_PARTS = 100_000
BLOCK = 2**18
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,  # includes gzip's and bz2's
    RuntimeError,  # encrypted, or compressed in a way that Python does not know
    ValueError,  # a name that is no text
)
"""Errors of Python's readers of archives, for content that is broken or made to be."""
PICKLE = re.compile(
    rb"\x80[\x00-\x05]|\([dlt]p?\d+\r?\n|[})\]]q[\x00-\x08]"
    rb"|c(?:__builtin__|builtins|collections|copy_?reg|numpy|pandas)[\w.]*\r?\n"
)
"""First bytes of a pickle: protocols 2 to 5 by their mark, 0 and 1 by the container or class."""


class Source:
    """A path being read. `done` of `total` bytes were read so far.

    `name` is its owner's name for it, where the path is that of a stored upload; `mapping` are the
    roles of a table's columns, and `settings` its user's declarations. With `faults`, reading goes on after a
    reported problem; without, the first one is raised. `notes` are the reader's remarks on the file;
    `columns` are those of a mapped table, `passed_over` columns or fields that are not read; `left_out` are
    the lines that the import leaves out, with the reasons, by the name of their file in a folder ('' for a
    single file). A preview reads the `first_rows` alone, and `is_cut` where there are more.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "",
        max_line: int = MAX_LINE,
        max_document: int = MAX_DOCUMENT,
        mapping: Mapping[str, Any] | None = None,
        settings: Mapping[str, str | int] | None = None,
        faults: Faults | None = None,
        first_rows: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.name = name or self.path.name
        self.max_line = max_line
        self.max_document = max_document
        self.mapping = dict(mapping or {})
        self.settings = dict(settings or {})
        self.faults = faults
        self.first_rows = first_rows
        self.is_cut = False
        self.notes: list[str] = []
        self.passed_over: dict[str, None] = {}
        self.left_out: dict[str, dict[int, str]] = {}
        self.is_table = False
        self.columns: tuple[str, ...] = ()
        self.done = 0
        self._files: list[Path] | None = None
        try:
            self.total = sum(_size(file) for file in self.files())
        except OSError as error:
            raise ImportProblem(f"cannot be read: {error.strerror}", file=str(path)[:200]) from None

    def begin_again(self, faults: Faults) -> None:
        """Forget what an earlier reading found, except the lines that are left out."""
        self.faults = faults
        self.notes, self.passed_over, self.is_table, self.done = [], {}, False, 0

    @contextmanager
    def reading_ahead(self) -> Iterator[None]:
        """Report nothing in a block that reads rows to learn about them: they are read again."""
        faults, self.faults = self.faults, Faults()
        try:
            yield
        finally:
            self.faults = faults

    def leave_out(self, problem: ImportProblem) -> bool:
        """Leave out the lines of all problems of a file; False where one has no line, or none is new."""
        lines = [(part.file, part.line, part) for part in problem.all()]
        if any(line is None or part.of_file for _, line, part in lines):
            return False
        new = [(file, line, part) for file, line, part in lines if line not in self.left_out.get(file, {})]
        for file, line, part in new:
            reason = f"{part.field}: {part.reason}" if part.field else part.reason
            text = self.with_files(f"line {line}, {reason}")
            self.left_out.setdefault(file, {}).setdefault(line or 0, text)
        return bool(new)

    @property
    def n_left_out(self) -> int:
        """How many lines are left out."""
        return sum(map(len, self.left_out.values()))

    def report(self, problem: ImportProblem) -> None:
        """Report a problem after which reading can go on; raise it where only the first one is wanted."""
        if self.faults is None:
            raise problem
        self.faults.add(problem)

    @contextmanager
    def report_problems(
        self, file: Path | None = None, line: int | None = None, path: str = ""
    ) -> Iterator[None]:
        """Report a problem raised in a block, with its place, and go on after the block.

        `path` is that of the record in its document, before the field's own.
        """
        try:
            yield
        except ImportProblem as problem:
            problem.field = ".".join(filter(None, (path, problem.field)))
            self.report(problem.placed(line=line, file=self.name_in_folder(file) if file else ""))

    def pass_over(self, names: Iterable[str]) -> None:
        """Record columns or fields that are not read: they are listed with the import."""
        self.passed_over.update(dict.fromkeys(name for name in names if name))

    def all_notes(self) -> list[str]:
        """Return the notes, the last of them about unread columns or fields."""
        names = list(self.passed_over)
        if not names:
            return self.notes
        rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        kind = "Columns" if self.is_table else "Fields"
        listing = ", ".join(name[:80] for name in names[:MOST_NAMES])
        return [*self.notes, f"{kind} passed over: {listing}{rest}."]

    def files(self) -> list[Path]:
        """Return the file itself, or the files of one kind in a folder and those in it (`KINDS_OF_PARTS`)."""
        if self._files is None:
            self._files = self._list_files()
        return self._files

    def _list_files(self) -> list[Path]:
        if self.path.is_dir():
            inside = sorted(file for file in self.path.rglob("*") if file.is_file())
            for kind in KINDS_OF_PARTS:
                if files := [file for file in inside if suffix_of(file.name) in kind]:
                    return files
            raise ImportProblem(
                f"the folder holds no .json file, and none of {', '.join(PARTS)}", file=str(self.path)
            )
        if not self.path.exists():
            raise ImportProblem("there is no such file", file=str(self.path))
        if not self.path.is_file():
            raise ImportProblem("is neither a file nor a folder", file=str(self.path))
        return [self.path]

    def called(self, file: Path) -> str:
        """Return a file's name: in a folder its own, else its owner's name for it."""
        return self.name_in_folder(file) or self.name

    def name_in_folder(self, file: Path) -> str:
        """Return a folder's file name for a problem's place, empty for a single file."""
        return self._place(file) if self.path.is_dir() else ""

    def line_of(self, number: int, line: int) -> int:
        """Return the line of a row in a table: in the file of this number, from 0, of a folder."""
        return (number + 1) * LINES + line if self.path.is_dir() else line

    def locate(self, problem: ImportProblem) -> ImportProblem:
        """Name the files and lines of a problem in a folder's table, and of the further ones; return it."""
        if self.path.is_dir():
            for part in problem.all():
                part.reason = self.with_files(part.reason)
                if part.line is not None and not part.file and part.line > LINES:
                    number, part.line = divmod(part.line, LINES)
                    part.file = self.name_in_folder(self.files()[number - 1])
        return problem

    def with_files(self, message: str) -> str:
        """Return a message with the lines of a folder's table as lines of its files."""
        if not self.path.is_dir() or not LINE_OF_FILE.search(message):
            return message
        files = self.files()

        def name(match: re.Match[str]) -> str:
            number, line = divmod(int(match[1]), LINES)
            return (
                f"line {line} of {self.name_in_folder(files[number - 1])}"
                if number <= len(files)
                else match[0]
            )

        return LINE_OF_FILE.sub(name, message)

    def _place(self, file: Path) -> str:
        """Return a file's path in the folder; a name alone is one already."""
        return file.relative_to(self.path).as_posix() if file.is_relative_to(self.path) else file.name

    def files_by_name(self, alone: str) -> dict[str, Path]:
        """Return a folder's files by name; a file by itself is `alone`."""
        return (
            {self._place(file): file for file in self.files()} if self.path.is_dir() else {alone: self.path}
        )

    def content_hash(self) -> str:
        """Return the SHA-256 of the content: of a file's bytes, of a folder's names and their hashes."""
        if not self.path.is_dir():
            return _hash(self.path)
        total = hashlib.sha256()
        for file in self.files():
            total.update(f"{self._place(file)}\0{_hash(file)}\n".encode())
        return total.hexdigest()

    def lines(self, path: Path | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered non-blank lines, stripped: of the single file, or of one in the folder."""
        is_blank = True
        for number, line in self.raw_lines(path):
            if stripped := line.strip(b" \t\r\n"):
                is_blank = False
                yield number, stripped
        if is_blank:
            raise ImportProblem("the file is empty")

    def begins_with(self, mark: bytes | tuple[bytes, ...]) -> bool:
        """Whether the file begins with a mark, or with one of several, after a byte order mark and space."""
        return self.start().lstrip().startswith(mark)

    @property
    def is_text(self) -> bool:
        """Whether the file, unpacked, is no workbook and no other table of bytes."""
        return not self.is_workbook and not self.binary_start().startswith(tuple(BINARY_TABLES))

    def start(self) -> bytes:
        """Return the first bytes of the file's text, unpacked."""
        with self.open() as content:
            return content.read(START)

    def binary_start(self, path: Path | None = None) -> bytes:
        """Return the first bytes of the file, unpacked, or of one in the folder."""
        with self._unpacked(path or self.path) as content:
            return content.peek(START)[:START]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Names of the files in a zip archive; () for any other file."""
        return parts_of(self.path) if self.path.is_file() else ()

    @property
    def is_workbook(self) -> bool:
        """Whether the file is an Excel workbook."""
        return document_kind(self.parts) == WORKBOOK

    def open(self, path: Path | None = None, encoding: str = "") -> IO[bytes]:
        """Open a file's text, unpacked, without a byte order mark: of the single file, or of one in a folder.

        UTF-16, or the `encoding`, becomes UTF-8. Raises ImportProblem, also while the stream is read.
        """
        content = self._unpacked(path or self.path)
        try:
            start = content.peek(START)
            _refuse_binary(start)
            if encoding := encoding or utf_16_of(start):
                content = io.BufferedReader(_Recoded(content, encoding), BLOCK)
            if content.peek(len(BOM)).startswith(BOM):
                content.read(len(BOM))
        except ImportProblem:
            content.close()
            raise
        return content

    def open_binary(self, path: Path | None = None) -> IO[bytes]:
        """Open a file that is read from any place, unpacked into a temporary file where it is packed."""
        content = self._unpacked(path or self.path)
        if content.raw.seekable():
            return content
        copy = tempfile.TemporaryFile(prefix="concord-unpacked-")  # noqa: SIM115 (returned open)
        with content:
            while block := content.read(BLOCK):
                copy.write(block)
        copy.seek(0)
        return copy

    def _unpacked(self, path: Path) -> io.BufferedReader:
        if path.is_dir():
            raise ImportProblem("is a folder; this format is one file", file=self.name)
        file: io.BufferedReader = io.BufferedReader(path.open("rb", buffering=0), BLOCK)
        start = file.peek(START)
        if start.startswith(GZIP):
            return io.BufferedReader(_Unpacked(cast(IO[bytes], gzip.GzipFile(fileobj=file)), file), BLOCK)
        if not start.startswith(ZIP) or document_kind(parts_of(path)) == WORKBOOK:
            return file
        try:
            return io.BufferedReader(_Unpacked(_single_part(file), file), BLOCK)
        except ImportProblem:
            file.close()
            raise

    def objects(self) -> Iterator[tuple[int, bytes]]:
        """Yield the numbered lines of a file with a JSON object on each.

        A file that begins otherwise is refused at once, not line by line.
        """
        lines = [line for line in map(bytes.strip, self.start().splitlines()) if line]
        if lines and (lines[0] in (b"{", b"[") or not any(line.startswith(b"{") for line in lines)):
            form = "one JSON document" if lines[0].startswith((b"{", b"[")) else "not JSON"
            raise ImportProblem(
                f"is {form} and none of Concord's formats: `jsonl` wants one dialogue a line, `messages` one "
                "chat a line"
            )
        return self.lines()

    def raw_lines(self, path: Path | None = None, encoding: str = "") -> Iterator[tuple[int, bytes]]:
        """Yield all numbered lines unchanged, with their line ends: of the file, or of one in the folder."""
        number = 0
        with self.open(path, encoding) as file:
            while line := file.readline(self.max_line + 1):
                if number == self.first_rows:
                    self.is_cut = True
                    break
                number += 1
                self.done += len(line)
                if len(line) > self.max_line:
                    raise ImportProblem(f"is longer than {self.max_line >> 20} MiB", line=number)
                yield number, line
        if not number:
            raise ImportProblem("the file is empty")

    def document(self, file: Path) -> bytes:
        """Return the bytes of a file that is one JSON document."""
        with self.open(file) as opened:
            content = opened.read(self.max_document + 1)
        if len(content) > self.max_document:
            raise ImportProblem(f"is larger than {self.max_document >> 20} MiB", file=file.name)
        self.done += _size(file)
        if not content.strip():
            raise ImportProblem("the file is empty", file=file.name)
        return content


def suffix_of(name: str) -> str:
    """Return the extension of a file's name in lower case, of the file in it where it is a gzip."""
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def _size(file: Path) -> int:
    """Return the size of a readable file in bytes; raise OSError for any other."""
    with file.open("rb") as opened:
        return opened.seek(0, 2)


def _refuse_binary(content: bytes) -> None:
    """Refuse content that is no text, by its first bytes."""
    for signature, meaning in SIGNATURES.items():
        if content.startswith(signature):
            raise ImportProblem(f"is {meaning}")
    for signature, meaning in BINARY_TABLES.items():
        if content.startswith(signature):
            raise ImportProblem(f"is {meaning}, not text")
    if content.startswith((GZIP, ZIP)):
        raise ImportProblem("is packed, and so is the file in it: unpack it first")
    if is_pickle(content):
        raise ImportProblem("is a pickle, and opening it would run code: convert it to JSON first")


def is_pickle(content: bytes) -> bool:
    """Whether content is a pickle, by its first bytes; it is never loaded, because that runs code."""
    return PICKLE.match(content) is not None


def utf_16_of(start: bytes) -> str:
    """Return the UTF-16 encoding of text that begins like that, with or without its mark; '' for other."""
    if start[:2] in UTF_16 and start[:4] not in BINARY_TABLES:
        return UTF_16[start[:2]]
    pairs = start[: 2 * (min(len(start), 400) // 2)]
    if len(pairs) >= 8 and not any(pairs[1::2]) and all(pairs[::2]):
        return "utf-16-le"
    return "utf-16-be" if len(pairs) >= 8 and not any(pairs[::2]) and all(pairs[1::2]) else ""


# Archives: their parts, and their content as a stream within limits.


def parts_of(path: Path) -> tuple[str, ...]:
    """Return the names of the files in a zip archive; () for any other file."""
    with path.open("rb") as file:
        if file.read(len(ZIP)) != ZIP:
            return ()
        try:
            entries = zipfile.ZipFile(file).infolist()
        except BROKEN as error:
            raise broken(error) from None
    if len(entries) > MAX_PARTS:
        raise ImportProblem(f"is a zip archive of more than {MAX_PARTS:,} files")
    return tuple(filter(_is_part, (entry.filename for entry in entries)))


def _single_part(file: IO[bytes]) -> IO[bytes]:
    """Open the only file in a zip archive."""
    try:
        archive = zipfile.ZipFile(file)
        parts = [name for name in archive.namelist() if _is_part(name)]
        if kind := document_kind(tuple(parts)):
            raise ImportProblem(f"is {kind}")
        if len(parts) != 1:
            names = ", ".join(name[:60] for name in parts[:3])
            raise ImportProblem(f"is a zip archive of {len(parts)} files ({names}, ...): import one of them")
        return archive.open(parts[0])
    except BROKEN as error:
        raise broken(error) from None


def _is_part(name: str) -> bool:
    return not name.endswith("/") and not any(mark in name for mark in BESIDE)


def document_kind(parts: tuple[str, ...]) -> str:
    """Return what an archive is as an Office document, '' where it is none."""
    if "mimetype" in parts and "content.xml" in parts:
        return "an OpenDocument file: save it as .xlsx or CSV"
    if "[Content_Types].xml" not in parts:
        return ""
    return next((kind for folder, kind in OFFICE.items() if any(p.startswith(folder) for p in parts)), "")


def broken(error: BaseException) -> ImportProblem:
    """Return the problem of an archive with broken content."""
    return ImportProblem(f"is packed, and cannot be unpacked ({type(error).__name__}): unpack it first")


class _Unpacked(io.RawIOBase):
    """The content of a packed file; too much of it is refused."""

    def __init__(self, content: IO[bytes], file: IO[bytes]) -> None:
        super().__init__()
        self.content = content
        self.file = file
        packed = os.fstat(file.fileno()).st_size
        self.limit = min(MAX_UNPACKED, max(FREE_UNPACKED, MAX_RATIO * packed))
        self.size = 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        try:
            block = self.content.read(len(buffer))
        except BROKEN as error:
            raise broken(error) from None
        self.size += len(block)
        if self.size > self.limit:
            raise ImportProblem(f"holds more than {self.limit >> 20} MiB unpacked: unpack it first")
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the packed file, too."""
        super().close()
        self.file.close()


class _Recoded(io.RawIOBase):
    """A text of another encoding as UTF-8."""

    def __init__(self, content: IO[bytes], encoding: str) -> None:
        super().__init__()
        self.content = content
        self.decoder = codecs.getincrementaldecoder(encoding)("strict")
        self.encoding = encoding
        self.rest = b""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        while not self.rest:
            block = self.content.read(BLOCK)
            try:
                self.rest = self.decoder.decode(block, final=not block).encode()
            except UnicodeError:
                raise ImportProblem(f"is not {self.encoding.upper()} throughout") from None
            if not block:
                break
        block, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        """Close the text of the other encoding, too."""
        super().close()
        self.content.close()


def _hash(file: Path) -> str:
    total = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(CHUNK):
            total.update(chunk)
    return total.hexdigest()
