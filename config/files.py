"""Files that are written whole before they are sent: what fails on the way is an error and no short file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from django.http import FileResponse

# Ids of rows as queries and forms write them.

LARGEST = 2**63 - 1


def row_id(text: str) -> int | None:
    """Return the id that a text is, None where no row can have it."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return int(text) if int(text) <= LARGEST else None


IN_MEMORY = 2**20


def file_response(lines: Iterable[str], *, media_type: str, name: str) -> FileResponse:
    """Write lines and return the answer that sends them as a file called `name`.

    A slow reader then holds no database connection and no thread.
    """
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed with the answer)
    file.writelines(line.encode() for line in lines)
    file.seek(0)
    return FileResponse(file, content_type=media_type, as_attachment=True, filename=name)
