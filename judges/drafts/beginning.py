"""What a draft is begun from: a draft of its bench, a version of a prompt, or what comes with Concord."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judges.drafts import benches
from judges.errors import JudgeError
from judges.models import Bench, Draft, PromptVersion
from judges.prompt_versions import finding, texts
from judges.prompt_versions.finding import Version
from judges.protocols import Wording

SETTINGS = ("temperature", "max_tokens", "budget")
"""What may be set of a draft beside its text, variant, endpoint and samples."""


def begun_from(bench: Bench, ref: str) -> dict[str, Any]:
    """Return the form's beginning: a draft of the bench (`draft-3`), a version (`name@2`), or Concord's own.

    Raises JudgeError for what there is none of, and for a version of another protocol.
    """
    draft = _draft(bench, ref)
    if draft is not None:
        settings = {"variant": draft.variant, "endpoint": draft.endpoint_id, "samples": draft.samples}
        chosen = {"budget": draft.options.get("budget"), **draft.options.get("parameters", {})}
        return _text(texts.wording_of(draft.text)) | settings | chosen | {"base": ref}
    version = _version(bench, ref)
    return _text(version.wording) | {"variant": version.variant, "base": version.ref}


def options_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a draft's options from what a form, a program or a command gives: `SETTINGS`, where not None."""
    told = {name: given.get(name) for name in SETTINGS if given.get(name) is not None}
    budget = told.pop("budget", None)
    return {"parameters": told, "budget": budget}


def base_of(bench: Bench, ref: str) -> Wording:
    """Return the text that a draft was begun from."""
    draft = _draft(bench, ref)
    return texts.wording_of(draft.text) if draft else _version(bench, ref).wording


def parent_of(bench: Bench, ref: str) -> str:
    """Return the version that a draft descends from."""
    draft = _draft(bench, ref)
    if draft is not None:
        return draft.kept or draft.parent
    return _version(bench, ref).ref


def versions_for(bench: Bench) -> list[Version]:
    """Return the versions that a draft of a bench may begin from: Concord's, then one's own, newest first."""
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text").filter(
        prompt__protocol=bench.protocol, prompt__archived=False
    )
    own = [finding.version_of(row) for row in rows.order_by("prompt__name", "-number")]
    return [*(one for one in finding.built_in() if one.protocol == bench.protocol), *own]


def _text(wording: Wording) -> dict[str, Any]:
    return {"system": wording.system, "user": wording.user, "form": wording.form}


def _draft(bench: Bench, ref: str) -> Draft | None:
    number = ref.removeprefix("draft-")
    if ref == number:
        return None
    known = number.isdecimal() and number.isascii() and len(number) < 10
    rows = bench.drafts.select_related("text", "endpoint")
    found = rows.filter(number=int(number)).first() if known else None
    if found is None:
        raise JudgeError(f"This bench has no {ref!r}.")
    return found


def _version(bench: Bench, ref: str) -> Version:
    if not ref:
        protocol = benches.asking(bench.protocol)
        return next(one for one in finding.built_in() if one.protocol == protocol.key)
    version = finding.find(ref)
    if version.protocol != bench.protocol:
        raise JudgeError(f"{version.ref} is a prompt for {version.protocol}, not for {bench.protocol}.")
    return version


def wording_from(bench: Bench, ref: str, parts: Mapping[str, Any]) -> Wording:
    """Return the text that a draft is begun from with some of its parts in other words."""
    base = base_of(bench, ref)
    given = {name: parts[name].replace("\r\n", "\n") for name in ("system", "user", "form") if name in parts}
    return replace(base, **given)
