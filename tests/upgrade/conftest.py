"""A database as the last release left it, filled, and copies of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from django.db import connection

from config.upgrade.chain import PUBLISHED, ChainExecutor
from tests.upgrade import previous
from tests.upgrade.databases import connected_to, database

_number = count(1)
OTHERS = ("auth", "contenttypes", "sessions")


@pytest.fixture(scope="session")
def published(django_db_blocker) -> Iterator[str]:
    """The name of a database with the last release's tables and a small project in them."""
    with django_db_blocker.unblock(), database("published") as name:
        with connected_to(name):
            executor = ChainExecutor(connection)
            others = [node for node in executor.loader.graph.leaf_nodes() if node[0] in OTHERS]
            executor.migrate([*others, *PUBLISHED])
            previous.fill(executor.loader.project_state([*others, *PUBLISHED]).apps)
        yield name


@pytest.fixture
def old(published: str, django_db_blocker) -> Iterator[str]:
    """Django is connected to a copy of the last release's database; its name."""
    name = f"old{next(_number)}"
    with django_db_blocker.unblock(), database(name, like=published) as made, connected_to(made):
        yield made


@pytest.fixture
def empty(django_db_blocker) -> Iterator[str]:
    """Django is connected to a database without tables; its name."""
    name = f"empty{next(_number)}"
    with django_db_blocker.unblock(), database(name) as made, connected_to(made):
        yield made
