"""Clients that request much and read almost nothing, and a sign-in measured beside them."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import time
import urllib.parse

STATIC = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
"""Large file that is served without signing in."""
STATIC_READERS, DOWNLOADS, PIPELINED = 75, 120, 8
"""Number of readers of that file, number of readers of an export, and requests that a file reader
pipelines.
"""


def sign_in(port: int, name: str, password: str) -> float:
    """Sign in as a browser does and return the seconds taken; raise RuntimeError if it is refused."""
    began = time.perf_counter()
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request("GET", "/sign-in/")
        answer = connection.getresponse()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', answer.read().decode())
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        form = {"csrfmiddlewaretoken": token[1] if token else "", "username": name, "password": password}
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/sign-in/", body=urllib.parse.urlencode(form), headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 302:
            raise RuntimeError(f"signing in was answered with {answer.status}")
    return time.perf_counter() - began


def slow_reader(port: int, path: str, *, requests: int = 1, headers: str = "") -> socket.socket:
    """Send the requests through a small receive buffer and read nothing yet."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(120)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n".encode() * requests)
    return connection
