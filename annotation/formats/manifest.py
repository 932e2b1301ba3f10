"""What comes with an exported file: how many rows it has, and the SHA-256 of its bytes.

A file that was cut off looks whole wherever the cut falls between two rows. Its manifest says what it must
hold, and an import that is given one refuses a file that is not that file.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from annotation.formats.problems import ImportProblem

SUFFIX = ".manifest.json"
LIMIT = 2**16
HASH = re.compile(r"\A[0-9a-f]{64}\Z")


def beside(path: str | Path) -> Path:
    """Return where the manifest of a file is looked for: `labels.csv.manifest.json`."""
    whole = Path(path)
    return whole.with_name(whole.name + SUFFIX)


def promised(path: str | Path) -> str:
    """Return the SHA-256 that the manifest beside a file names, empty where there is none."""
    manifest = beside(path)
    try:
        with manifest.open("rb") as file:
            told = json.loads(file.read(LIMIT))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, RecursionError):
        told = None
    sha256 = told.get("sha256") if isinstance(told, dict) else None
    if not isinstance(sha256, str):
        raise ImportProblem("holds no sha256: take it away to import without it", file=manifest.name)
    return sha256


def check(content_hash: str, sha256: str) -> None:
    """Refuse content whose SHA-256 is not the one that was promised; an empty promise promises nothing."""
    wanted = sha256.strip().lower()
    if not wanted:
        return
    if not HASH.fullmatch(wanted):
        raise ImportProblem("is not a SHA-256: 64 digits from 0 to f", field="sha256")
    if content_hash != wanted:
        raise ImportProblem(
            f"was cut off or changed: its SHA-256 is {content_hash[:12]}..., its manifest says "
            f"{wanted[:12]}.... Export it again, or import without the manifest",
            field="sha256",
        )
