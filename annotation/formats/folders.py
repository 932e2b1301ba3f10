"""Several files, folders, and zip archives of several files as one folder."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.formats.source import (
    BROKEN,
    PARTS,
    ImportProblem,
    Source,
    broken,
    document_kind,
    parts_of,
    suffix_of,
)

MOST_FILES = 1_000
MOST_UNPACKED = 2**29
"""Bytes of the files in an archive, at most."""
BLOCK = 2**20


def name_together(names: Sequence[str]) -> str:
    """Return a name for files together."""
    return names[0] if len(names) == 1 else f"{len(names)} files: {', '.join(sorted(names))}"[:300]


@contextmanager
def one_path(paths: Sequence[Path]) -> Iterator[Path]:
    """Hold files as one: several, or those of an archive, as a folder; a single file or folder as it is.

    Raises ImportProblem for an archive that cannot be unpacked.
    """
    if len(paths) == 1 and not is_archive(paths[0]):
        yield paths[0]
        return
    with tempfile.TemporaryDirectory(prefix="concord-files-") as place:
        if len(paths) == 1:
            folder = Path(place) / paths[0].stem
            unpack(paths[0], folder)
        else:
            folder = _link(paths, Path(place))
        yield folder


def _link(paths: Sequence[Path], place: Path) -> Path:
    """Return a folder of links to files, and to those in folders."""
    files = [file.absolute() for path in paths for file in Source(path).files()]
    common = Path(os.path.commonpath([file.parent for file in files]))
    folder = place / (common.name or "files")
    for file in dict.fromkeys(files):
        link = folder / file.relative_to(common)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(file)
    return folder


def is_archive(path: Path) -> bool:
    """Whether a file is a zip archive of several files that are read as a folder."""
    if not path.is_file() or len(parts := parts_of(path)) < 2 or document_kind(parts):
        return False
    return FORMATS[guess(FORMATS, read_start(path))].folder


def unpack(path: Path, place: Path) -> None:
    """Unpack the data files of an archive into a folder, or the only one as a file.

    Raises ImportProblem for an archive that is too large, and for one without such a file.
    """
    size = 0
    names = [name for name in parts_of(path) if suffix_of(name) in PARTS]
    if not names or len(names) > MOST_FILES:
        raise ImportProblem(f"is an archive of {len(names):,} data files; 1 to {MOST_FILES:,} are read")
    paths = {name: PurePosixPath(name.replace("\\", "/")) for name in names}
    for name, inside in paths.items():
        if ".." in inside.parts or inside.is_absolute() or "\0" in name:
            raise ImportProblem(f"has a file outside of the archive: {name[:60]!r}")
    common = Path(os.path.commonpath([inside.parent for inside in paths.values()]))
    if len(names) > 1:
        place.mkdir(mode=0o700)
    try:
        with zipfile.ZipFile(path) as archive:
            for name, inside in paths.items():
                file = place / inside.relative_to(common) if len(names) > 1 else place
                file.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as content, file.open("xb") as copy:
                    while block := content.read(BLOCK):
                        size += len(block)
                        if size > MOST_UNPACKED:
                            raise ImportProblem(
                                f"holds more than {MOST_UNPACKED >> 20} MiB unpacked: unpack it first"
                            )
                        copy.write(block)
    except BROKEN as error:
        raise broken(error) from None
