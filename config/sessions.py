"""A request's session and account, read with two prepared statements.

Every request of a signed-in user needs both. Composing the queries each time took a third of a web process's
time, several times PostgreSQL's time to answer them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils import timezone

from config import commands

SESSION = """
SELECT session_key, session_data, expire_date FROM django_session WHERE session_key = %s AND expire_date > %s
"""


class SessionStore(DatabaseSessionStore):
    """Django's sessions in the database, read with a prepared statement."""

    def _get_session_from_db(self) -> AbstractBaseSession | None:
        with commands.cursor() as cursor:
            cursor.execute(SESSION, (self.session_key, timezone.now()))
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return None
        return self.model(*row)


class Accounts(ModelBackend):
    """Django's accounts, read with a prepared statement once signed in."""

    def get_user(self, user_id: int) -> User | None:
        """Return the account, or None if it was deleted or may no longer sign in."""
        statement, fields = _account()
        with commands.cursor() as cursor:
            cursor.execute(statement, (user_id,))
            row = cursor.fetchone()
        if row is None:
            return None
        user = User.from_db("default", fields, row)
        return user if self.user_can_authenticate(user) else None


@cache
def _account() -> tuple[str, list[str]]:
    """Return the statement that reads an account, and its fields' names in the same order."""
    fields: list[Any] = list(User._meta.concrete_fields)
    columns = ", ".join(field.column for field in fields)
    # Columns of Django's own table.
    statement = f"SELECT {columns} FROM {User._meta.db_table} WHERE id = %s"  # noqa: S608
    return statement, [field.attname for field in fields]
