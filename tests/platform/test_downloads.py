"""A download from the real web server is complete or visibly broken, whatever is killed meanwhile."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from config.embedded import postgres
from tests.platform import forking, ready
from tests.platform.running import Running, query, running, wait_until

pytestmark = pytest.mark.exhaustive
TOKEN = "0123456789abcdef0123456789abcdef01234567"
LABELS = 3_000
IMPORT = "import_corpus {} --name talks --scheme own"
KILL = """
SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
 WHERE query ILIKE %s AND pid <> pg_backend_pid()) AS killed
"""
PREPARE = f"""
from django.contrib.auth.models import User
from datetime import timedelta
from django.utils import timezone
from annotation.models import ApiToken
from annotation.people.accounts import hash_of
ApiToken.objects.create(
    user=User.objects.create_superuser("root"), name="tests", scope="read", key_hash=hash_of("{TOKEN}"),
    expires_at=timezone.now() + timedelta(days=1),
)
"""


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Running]:
    """A server whose one corpus has labels of 15 MB, more than any buffer on the way holds."""
    label = {"rater": "ann", "question": "note", "value": 1, "explanation": "long " * 1_000}
    line = {
        "id": "d",
        "turns": [{"speaker": "A", "text": "said"}] * LABELS,
        "labels": [{**label, "turn": turn} for turn in range(LABELS)],
    }
    with running(ready.fill(home)) as started, forking.commands(home) as commands:
        file = home / "labels.jsonl"
        file.write_text(json.dumps(line, separators=(",", ":")) + "\n")
        for command in IMPORT.format(file).split(), ["shell", "-c", PREPARE]:
            done = commands.run(*command)
            assert done.returncode == 0, done.stderr
        yield started


@contextmanager
def _asked(server: Running, path: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", int(server.port), timeout=60)
    connection.request("GET", path, headers={"Authorization": f"Token {TOKEN}"})
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def _address(home: Path, form: str = "csv") -> str:
    ((corpus,),) = query(home, "SELECT id FROM annotation_corpus")
    return f"/api/v1/exports/labels.{form}?corpus={corpus}"


def _kill(home: Path, like: str) -> int:
    """End the server processes of PostgreSQL that work on a query; return how many those were."""
    settings = postgres.connection_settings(home)
    names = {"host": "HOST", "port": "PORT", "user": "USER", "dbname": "NAME"}
    where = {name: settings[key] for name, key in names.items()}
    with psycopg.connect(**where, autocommit=True) as connection:
        row = connection.execute(KILL, [like]).fetchone()
    return int(row[0]) if row else 0


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_download_whose_database_goes_in_the_middle_is_whole_or_broken(server: Running, form: str) -> None:
    with _asked(server, _address(server.home, form)) as answer:
        assert answer.status == 200
        content = answer.read(1000)
        _kill(server.home, "%")
        try:
            content += answer.read()
        except (http.client.IncompleteRead, OSError):
            return  # the reader knows
        promised = answer.headers["Repr-Digest"].removeprefix("sha-256=").strip(":")
        assert base64.b64decode(promised) == hashlib.sha256(content).digest()
        assert int(answer.headers["Content-Length"]) == len(content)
        assert int(answer.headers["Concord-Rows"]) == LABELS


def test_a_download_whose_database_goes_before_the_end_of_the_query_is_an_error(server: Running) -> None:
    settings = postgres.connection_settings(server.home)
    where = {"host": settings["HOST"], "port": settings["PORT"], "user": settings["USER"]}
    address, statuses = _address(server.home), []

    def ask() -> None:
        with _asked(server, address) as answer:
            statuses.append(answer.status)

    with psycopg.connect(**where, dbname=settings["NAME"]) as holder:  # type: ignore[arg-type]
        holder.execute("LOCK TABLE annotation_system IN ACCESS EXCLUSIVE MODE")
        asking = threading.Thread(target=ask)
        asking.start()
        wait_until(lambda: bool(_kill(server.home, "COPY (%")))
    asking.join(60)
    assert statuses
    assert statuses[0] >= 500
