"""Which network addresses an endpoint may be at: pure, on the address that is really connected to.

A name says nothing: it may resolve to one address when it is checked and to another when it is used.
"""

from __future__ import annotations

import ipaddress

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
"""Where clouds serve a machine its credentials (AWS, Google, Alibaba, Azure, Oracle)."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def refusal(host: str, *, allow_private: bool) -> str:
    """Return why an IP address may not be connected to, '' where it may.

    Link-local, multicast and metadata addresses never may; loopback, private and other addresses that are
    not global may where `allow_private`. What is not an IP address is refused.
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
    """Return the IP address that a host name is without asking anybody, '' where it has to be resolved."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return ""


def _unwrapped(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 one (mapped, 6to4, Teredo, NAT64), which is where it leads."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
