"""Django's PostgreSQL backend, extended to start the embedded server at the first connection."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base

from config.embedded import postgres

COMING_OR_GOING = ("starting up", "shutting down", "in recovery mode")


class DatabaseWrapper(base.DatabaseWrapper):
    """Ensures that the server runs, with a fast check whether the connection is alive."""

    def is_usable(self) -> bool:
        """Whether the connection is alive, checked before every request.

        A stopping server sends a message on its socket first, and the kernel closes the socket of a killed
        one. If there is nothing to read, the server is there; only otherwise a query is sent.
        """
        if self.connection is None or self.connection.closed:
            return False
        poller = select.poll()
        poller.register(self.connection.fileno(), select.POLLIN)
        return True if not poller.poll(0) else bool(super().is_usable())

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection once the server is there; wait for a server that died in the meantime.

        The web server waits only briefly: the client is told to try again.
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
