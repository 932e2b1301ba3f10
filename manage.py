#!/usr/bin/env python
"""The command line of Concord: `manage.py help` lists the commands."""

import os
import select
import sys


def main() -> int:
    """Run a command; the embedded parts' errors are one line, as a user's mistake is."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.stderr.write(
            "Django is not installed here: run `make up` once, then use .venv/bin/python manage.py.\n"
        )
        return 1
    from config.embedded.layout import EmbeddedError

    try:
        execute_from_command_line(sys.argv)
    except EmbeddedError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        if not _unread():
            raise
        return 141  # as the shell says it of a program that SIGPIPE ended
    return 0


def _unread() -> bool:
    """Whether nobody reads the output any more (`| head`); then what is left of it goes nowhere."""
    watch = select.poll()
    watch.register(sys.stdout, 0)
    if not any(event & select.POLLERR for _, event in watch.poll(0)):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return True


if __name__ == "__main__":
    sys.exit(main())
