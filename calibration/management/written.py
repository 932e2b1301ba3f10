"""What a command made, printed or written into the file that `--output` names."""

from __future__ import annotations

import sys

from django.core.management.base import BaseCommand, CommandError


def give_out(command: BaseCommand, content: str | bytes, path: str | None) -> None:
    """Write into a file, or to standard output. Raises CommandError where neither can take it."""
    if path:
        try:
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
    elif isinstance(content, bytes):
        if sys.stdout.isatty():
            raise CommandError("a picture is not for the terminal: name a file with --output")
        sys.stdout.buffer.write(content)
    else:
        command.stdout.write(content, ending="")
