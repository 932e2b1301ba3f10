"""A container's health check: `python -m config.probe [healthz|readyz]` ends with 0 if the page says so."""

from __future__ import annotations

import http.client
import os
import sys

SECONDS = 5


def main(page: str) -> int:
    """Query the web server in this container, under the first of its host names."""
    name = (os.environ.get("CONCORD_ALLOWED_HOSTS") or "localhost").split(",")[0].strip().lstrip(".*")
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT") or 8000), timeout=SECONDS)
    try:
        connection.request("GET", f"/{page}", headers={"Host": name or "localhost"})
        answer = connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"{page}: {error}\n")
        return 1
    finally:
        connection.close()
    sys.stdout.write(f"{page}: {answer.status}\n")
    return 0 if answer.status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "healthz"))
