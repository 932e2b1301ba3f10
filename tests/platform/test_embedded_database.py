"""The embedded database, seen through Django."""

import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_database_is_postgresql_18_in_utf8_that_sorts_by_code_point():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding'),"
            " datlocale FROM pg_database WHERE datname = current_database()"
        )
        assert cursor.fetchone() == (18, "UTF8", "C.UTF-8")
