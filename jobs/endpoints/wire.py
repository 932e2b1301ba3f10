"""Connections to endpoints: only to allowed addresses, with a limit on the bytes read.

    OSError
      AddressRefused     the name resolved to an address that is not allowed for this endpoint
    ValueError
      TooLong            the body is too long, or compressed

The check is made when the socket is opened, on the actual address.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2
from openai import DefaultAioHttpClient
from openai._vendor.httpx_aiohttp import AiohttpTransport

from jobs.models import Endpoint

# Network addresses allowed for an endpoint: pure, on the address actually connected to.
#
# A host name proves nothing: it may resolve to one address at the check and to another at use.

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "169.254.169.254",
            "fd00:ec2::254",
            "fd20:ce::254",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
        ),
    )
)
"""Addresses where clouds serve a machine its credentials (AWS, Google, Alibaba, Azure, Oracle)."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def refusal(host: str, *, allow_private: bool) -> str:
    """Return why a connection to an IP address is not allowed, '' if it is.

    Link-local, multicast and metadata addresses are never allowed; loopback, private and other non-global
    addresses only if `allow_private`. A text that is not an IP address is refused.
    """
    try:
        address = _unwrapped(ipaddress.ip_address(host))
    except ValueError:
        return "is not an IP address"
    if address in METADATA:
        return "is a cloud's metadata service, which holds credentials of the machine"
    if address.is_link_local or address.is_multicast:
        return "is a link-local or multicast address"
    if address.is_global or allow_private:
        return ""
    if address.is_loopback or address.is_unspecified:
        return "is this machine itself"
    return "is in a private network"


def literal(host: str) -> str:
    """Return the IP address of a host name that needs no lookup, '' if it has to be resolved."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return ""


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address (mapped, 6to4, Teredo, NAT64): the actual
    destination.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)


MOST_BYTES = 4_000_000
"""Maximum bytes of a response body: room for the longest readable reply with every character escaped."""
_CONNECTIONS = 1000


class AddressRefused(OSError):
    """This address is not allowed for the endpoint."""


class TooLong(ValueError):
    """A response body that is not read to its end."""


def http_client(endpoint: Endpoint, most_bytes: int = MOST_BYTES) -> httpx2.AsyncClient:
    """Return a client for one endpoint. It follows no redirects: they could carry the key elsewhere.

    A proxy from the environment (HTTPS_PROXY, NO_PROXY) is used; the proxy then resolves the name, and
    decides on addresses. At most `most_bytes` of a response are read.
    """
    proxy_url = proxy_for(endpoint.base_url)
    guard = Guard(allow_private=endpoint.allow_private or proxy_url is not None)
    proxy = None if proxy_url is None else httpx2.Proxy(proxy_url)
    return DefaultAioHttpClient(follow_redirects=False, transport=GuardedTransport(guard, proxy, most_bytes))


class Guard:
    """Opens sockets to allowed addresses only."""

    def __init__(self, *, allow_private: bool) -> None:
        self.allow_private = allow_private

    def socket(self, info: Any) -> socket.socket:
        """Return a socket for an entry of getaddrinfo; raise AddressRefused for an address that is not
        allowed.
        """
        family, kind, protocol, _, address = info
        if why := refusal(address[0], allow_private=self.allow_private):
            raise AddressRefused(f"{address[0]} {why}")
        return socket.socket(family=family, type=kind, proto=protocol)


@cache
def _trust() -> ssl.SSLContext:
    """Return the trusted certificate authorities, cached: reading them takes a while."""
    return httpx2.create_ssl_context()


class GuardedTransport(AiohttpTransport):
    """The SDK's aiohttp transport, with a guard at the socket and a limit on the bytes read."""

    def __init__(self, guard: Guard, proxy: httpx2.Proxy | None, most_bytes: int = MOST_BYTES) -> None:
        super().__init__(verify=_trust(), client=self._session, proxy=proxy)
        self._guard, self._most_bytes = guard, most_bytes

    def _session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            ssl=self.ssl_context, limit=_CONNECTIONS, socket_factory=self._guard.socket
        )
        return aiohttp.ClientSession(connector=connector)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the response body can be read up to the limit."""
        # A small compressed body may unpack to gigabytes.
        request.headers["accept-encoding"] = "identity"
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").casefold() != "identity":
            await response.aclose()
            raise TooLong("the reply is compressed, which was not asked for")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Limited(response.stream, self._most_bytes)
        return response


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most_bytes: int) -> None:
        self._stream, self._most_bytes = stream, most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most_bytes:
                raise TooLong(f"the reply has more than {self._most_bytes:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def proxy_for(url: str) -> str | None:
    """Return the proxy from the environment for a URL, None if there is none."""
    parts = urlsplit(url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
