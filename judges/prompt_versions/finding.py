"""Finding a version of a prompt by its reference `name@number`: one that comes with Concord, or one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import SchemeVersion
from judges.errors import JudgeError
from judges.models import PromptVersion
from judges.prompt_versions import texts
from judges.protocols import PROTOCOLS, Asking, Wording


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a prompt as a judge uses it. `row` is None for a text that comes with Concord."""

    name: str
    number: int
    protocol: str
    variant: str
    wording: Wording
    scheme_version: SchemeVersion | None = None
    row: PromptVersion | None = None

    @property
    def ref(self) -> str:
        """Its reference."""
        return f"{self.name}@{self.number}"

    @property
    def protocol_title(self) -> str:
        """What its protocol is, in words."""
        return PROTOCOLS[self.protocol].title

    @property
    def variant_told(self) -> str:
        """Its variant, in words."""
        return self.variant.replace("_", " ")

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with Concord and cannot be changed."""
        return self.row is None

    @property
    def created_at(self) -> datetime | None:
        """When it was made; None for one that comes with Concord."""
        return None if self.row is None else self.row.created_at


def built_in() -> Iterator[Version]:
    """Yield the versions that come with Concord: the newest text of every protocol's every variant."""
    for protocol in PROTOCOLS.values():
        if isinstance(protocol, Asking):
            for variant in protocol.variants:
                yield Version(
                    protocol.prompt_file(variant),
                    protocol.version,
                    protocol.key,
                    variant,
                    protocol.wording(variant),
                )


def built_in_names() -> set[str]:
    """Return the names that are taken by what comes with Concord."""
    return {version.name for version in built_in()}


def version_of(row: PromptVersion) -> Version:
    """Return a stored version."""
    prompt = row.prompt
    return Version(
        prompt.name,
        row.number,
        prompt.protocol,
        prompt.variant,
        texts.wording_of(row.text),
        prompt.scheme_version,
        row,
    )


def of_spec(spec: Mapping[str, Any]) -> Version | None:
    """Return the version that a judge of a spec asks with; None for one that asks nobody, and for a text
    whose version is not here any more."""
    if "wording" in spec:
        rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text")
        named, _, number = str(spec.get("prompt", "")).rpartition("@")
        found = list(rows.filter(text__digest=spec["wording"]).order_by("pk"))
        own = [row for row in found if (row.prompt.name, str(row.number)) == (named, number)]
        return version_of((own or found)[0]) if found else None
    asked = (spec.get("protocol"), spec.get("variant", ""), spec.get("version"))
    known = ((one, (one.protocol, one.variant, one.number)) for one in built_in())
    return next((one for one, identity in known if identity == asked), None)


def find(ref: str) -> Version:
    """Return the version of a reference; a name alone means its newest, open proposals left aside.

    Raises JudgeError for none such.
    """
    name, at, number = ref.strip().rpartition("@")
    if not at:
        name, number = number, ""
    if number and not (number.isdecimal() and len(number) < 10):
        raise JudgeError(f"{ref!r} is not a reference to a prompt: write NAME or NAME@NUMBER.")
    if "\x00" in name:
        raise JudgeError("A prompt's name has no such characters.")
    for version in built_in():
        if version.name == name and number in ("", str(version.number)):
            return version
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text").filter(
        prompt__name=name
    )
    row = rows.filter(number=int(number)).first() if number else _newest(rows)
    if row is None:
        raise JudgeError(f"There is no prompt {ref!r}.")
    return version_of(row)


def _newest(rows: QuerySet[PromptVersion]) -> PromptVersion | None:
    proposed = Q(origin=PromptVersion.Origin.PROPOSED, adopted_at=None)
    return rows.exclude(proposed).order_by("-number").first()
