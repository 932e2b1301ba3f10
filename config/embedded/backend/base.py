"""Django's PostgreSQL backend, which starts the embedded server at the first connection."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base

from config.embedded import postgres

COMING_OR_GOING = ("starting up", "shutting down", "in recovery mode")


class DatabaseWrapper(base.DatabaseWrapper):
    """Adds nothing to a connection but the server it needs, and a quick look whether that is there."""

    def is_usable(self) -> bool:
        """Whether the server is at the other end, asked before every request.

        It says goodbye on its socket before it goes, and the kernel closes that with a killed one. Where
        there is nothing to read, it is there; only otherwise it is asked, which takes a whole query.
        """
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return True if not poller.poll(0) else bool(super().is_usable())

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection, once the server is there; one that died meanwhile is waited for.

        The web server waits for it only briefly: whoever asked is told to try again.
        """
        server = postgres.use(self.settings_dict["EMBEDDED_HOME"])
        server.ensure()
        try:
            return super().get_new_connection(conn_params)
        except self.Database.OperationalError as error:
            if server.is_ready() and not any(word in str(error) for word in COMING_OR_GOING):
                raise
        server.come_back()
        return super().get_new_connection(conn_params)
