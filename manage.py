#!/usr/bin/env python
"""The command line of Concord: `manage.py help` lists the commands."""

import os
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
