"""What a draft is begun from: a draft of its bench, a version of a prompt, or what comes with Concord."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jobs.endpoints.parameters import PARAMETERS, checked
from judges.drafts import benches
from judges.errors import JudgeError
from judges.models import Bench, Draft, PromptVersion
from judges.prompt_versions import finding, texts
from judges.prompt_versions.finding import Version
from judges.protocols import Wording

PARTS = ("system", "user", "form")
"""The parts of a text that may be given in other words."""
KEPT = ("budget", "needs")
"""What is set of a draft beside its text, variant, endpoint, samples and sampling parameters."""


def text_of(bench: Bench, ref: str) -> Version:
    """Return the text that a draft is begun from, as a version, and how it is asked: a draft of the bench
    (`draft-3`), a version (`name@2`), or without a reference Concord's own.

    Raises JudgeError for what there is none of, and for a version of another protocol or scheme.
    """
    draft = _draft(bench, ref)
    if draft is None:
        return _version(bench, ref)
    wording = texts.wording_of(draft.text)
    return Version(ref, draft.number, bench.protocol, draft.variant, wording, bench.scheme_version)


def begun_from(bench: Bench, ref: str) -> dict[str, Any]:
    """Return the form's beginning: text, variant and, of a draft, its endpoint and settings.

    Raises JudgeError as `text_of` does.
    """
    begun = text_of(bench, ref)
    wording = begun.wording
    found = {"system": wording.system, "user": wording.user, "form": wording.form, "variant": begun.variant}
    draft = _draft(bench, ref)
    if draft is None:
        return found | {"begin": begun.ref}
    options = draft.options
    settings = {"endpoint": draft.endpoint_id, "samples": draft.samples, "budget": options.get("budget")}
    read = {f"need_{role}": name for role, name in options.get("needs", {}).items()}
    return found | {"begin": ref} | settings | options.get("parameters", {}) | read


def options_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a draft's options from what a form, a program or a command gives: sampling parameters by their
    names, the budget, and whose answers it reads (`needs`). Raises JobError for parameters that cannot be."""
    sent = checked({name: given.get(name) for name in PARAMETERS})
    return {"parameters": sent} | {name: given.get(name) for name in KEPT}


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
    known = benches.variants(bench)
    every = [*(one for one in finding.built_in() if one.protocol == bench.protocol), *own]
    fitting = [one for one in every if one.variant in known and not _foreign(bench, one)]
    return sorted(fitting, key=lambda one: not (one.is_built_in and one.variant == bench.variant))


def _foreign(bench: Bench, version: Version) -> bool:
    """Whether a version is for another scheme than the bench's."""
    return version.scheme_version not in (None, bench.scheme_version)


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
        wanted = (bench.protocol, bench.variant or benches.variants(bench)[0])
        return next(one for one in finding.built_in() if (one.protocol, one.variant) == wanted)
    version = finding.find(ref)
    if version.protocol != bench.protocol:
        raise JudgeError(f"{version.ref} is a prompt for {version.protocol}, not for {bench.protocol}.")
    if _foreign(bench, version):
        raise JudgeError(f"{version.ref} is for another scheme than {benches.scheme_ref(bench)}.")
    return version


def wording_from(bench: Bench, ref: str, parts: Mapping[str, Any]) -> Wording:
    """Return the text that a draft is begun from with some of its parts in other words."""
    base = text_of(bench, ref).wording
    given = {name: parts[name].replace("\r\n", "\n") for name in PARTS if name in parts}
    return replace(base, **given)
