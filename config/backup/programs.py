"""PostgreSQL's own programs for dumping and restoring, pointed at Concord's database."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import connection

from config.embedded import binaries
from config.embedded.layout import layout

VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
}


class BackupError(Exception):
    """A backup cannot be made or restored. The message is one line that says what to do."""


def program(name: str) -> str:
    """The path of `pg_dump` or `pg_restore`, as the embedded PostgreSQL has it."""
    return str(Path(binaries.programs(layout(settings.HOME))) / name)


def environment() -> dict[str, str]:
    """The environment in which these programs find the database."""
    given = connection.get_connection_params()
    found = {variable: str(given[key]) for key, variable in VARIABLES.items() if given.get(key)}
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **found}


def reason(said: bytes) -> str:
    """The first line in which a program says what went wrong."""
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    return next(
        (line for line in lines if "error" in line.lower()), lines[-1] if lines else "no reason given"
    )
