"""Files written completely before they are sent: a failure gives an error, not a truncated file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable

from django.http import FileResponse

# Ids of rows in queries and forms.

LARGEST = 2**63 - 1


def row_id(text: str) -> int | None:
    """Return a string as a row's id, None if no row can have it."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    return int(text) if int(text) <= LARGEST else None


IN_MEMORY = 2**20


def file_response(lines: Iterable[str], *, media_type: str, name: str) -> FileResponse:
    """Write lines and return the response that sends them as a file named `name`.

    Then a slow client holds no database connection and no thread.
    """
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 (closed with the response)
    file.writelines(line.encode() for line in lines)
    file.seek(0)
    return FileResponse(file, content_type=media_type, as_attachment=True, filename=name)
