"""Several files that were sent as one: the parts of a data set, as the command reads them from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from django.core.files.uploadedfile import UploadedFile

from annotation.formats import FORMATS, ImportProblem
from annotation.formats.source import PARTS

MOST = 1_000
NAME_LIMIT = 200

Files: TypeAlias = "Sequence[UploadedFile[Any]]"


def check(files: Files, format: str) -> None:
    """Refuse several files that cannot be one folder of a format; raises ImportProblem about `file`."""
    if len(files) < 2:
        return
    if not FORMATS[format].folder:
        raise ImportProblem(f"{len(files)} files were sent; the format {format} is one file", field="file")
    if len(files) > MOST:
        raise ImportProblem(f"{len(files)} files are more than {MOST}", field="file")
    names = [called(file) for file in files]
    for name in names:
        if not name.endswith(PARTS) or len(name.encode()) > NAME_LIMIT:
            raise ImportProblem(
                f"{name[:60]!r} is not a part of a data set: its files end in {' or '.join(PARTS)}",
                field="file",
            )
        if names.count(name) > 1:
            raise ImportProblem(f"{name!r} was sent twice", field="file")


def called(file: UploadedFile[Any]) -> str:
    """Return what a sent file is called, without any folder."""
    return Path(file.name or "upload").name


def together(files: Files) -> str:
    """Return what the files are called together."""
    names = sorted(called(file) for file in files)
    return names[0] if len(names) == 1 else f"{len(names)} files: {', '.join(names)}"[:300]


def first(files: Files) -> UploadedFile[Any]:
    """Return the file whose beginning tells the format: the first .json file, as in a folder."""
    return min(files, key=lambda file: (not called(file).endswith(".json"), called(file)))


def write(files: Files, place: Path) -> None:
    """Write one file as `place`, several into a new folder of that name."""
    if len(files) == 1:
        _write(files[0], place)
        return
    place.mkdir(mode=0o700)
    for file in files:
        _write(file, place / called(file))


def _write(file: UploadedFile[Any], place: Path) -> None:
    with place.open("wb") as stored:
        for chunk in file.chunks():
            stored.write(chunk)
