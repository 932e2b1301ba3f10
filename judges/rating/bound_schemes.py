"""From the name of a scheme to a protocol that asks its questions, and back from a judge's spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import Campaign, SchemeVersion
from annotation.scheme_versions import store
from judges.errors import JudgeError
from judges.prompt_versions.listing import Version
from judges.protocols import Protocol, Unfit


def version_for(
    protocol: Protocol, named: str, own: Version | None, campaign: Campaign | None
) -> SchemeVersion | None:
    """Return the scheme version that a judge asks: the one that is named (`key` or `key@version`), else that
    of its prompt, else the campaign's. None for a protocol with questions of its own. Raises JudgeError."""
    prompts = own.scheme_version if own else None
    if not protocol.takes_scheme:
        if named:
            raise JudgeError(f"{protocol.key} has questions of its own: name no scheme.")
        return None
    if named:
        version = store.find(named)
        if version is None:
            raise JudgeError(f"There is no scheme {named!r}.")
        if prompts is not None and own is not None and prompts != version:
            raise JudgeError(f"The prompt {own.ref} is for {ref(prompts)}: name that, or no scheme.")
        return version
    version = prompts or (campaign.scheme_version if campaign else None)
    if version is None:
        raise JudgeError(f"{protocol.key} asks the questions of a scheme: name one.")
    return version


def bind_protocol(protocol: Protocol, version: SchemeVersion | None, variant: str) -> Protocol:
    """Return the protocol over a scheme version, itself where there is none. Raises JudgeError."""
    if version is None:
        return protocol
    try:
        return protocol.over(store.definition_of(version), variant)
    except Unfit as unfit:
        raise JudgeError(f"{unfit}.") from None


def spec_of(version: SchemeVersion | None) -> dict[str, str]:
    """Return what a judge's spec says of the scheme that it asks."""
    return {} if version is None else {"scheme": ref(version), "scheme_hash": version.content_hash}


def ref(version: SchemeVersion) -> str:
    """Return a version's reference, `key@version`."""
    return f"{version.scheme.key}@{version.version}"


def of_spec(protocol: Protocol, variant: str, scheme: str, scheme_hash: str) -> Protocol:
    """Return the protocol that a judge's spec names. Raises JudgeError where its scheme is not stored."""
    if not scheme:
        return protocol
    version = store.find(scheme)
    if version is None or version.content_hash != scheme_hash:
        raise JudgeError(f"The scheme {scheme} of this judge is not stored here as it was asked.")
    return bind_protocol(protocol, version, variant)


def known(spec: Mapping[str, Any]) -> tuple[str, str]:
    """Return a spec's scheme and its content hash, both '' where it has none."""
    return spec.get("scheme", ""), spec.get("scheme_hash", "")
