"""Form fields of what a protocol is bound to: the scheme that it asks, and whose answers it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from annotation.models import SchemeVersion
from annotation.schemes import SCHEMES
from judges.prompt_versions.finding import Version
from judges.protocols import Protocol
from judges.protocols.rubric import EXPECTED_SCHEME, G_EVAL_SCHEME
from judges.rating.bound_schemes import ref
from judges.rating.needs import machines

NEED = "need_"
"""How the fields of needs are called, before the role."""
DERIVED = ("metric:", EXPECTED_SCHEME, G_EVAL_SCHEME)
"""How schemes begin that hold what machines compute, not what can be asked."""
Choice = tuple[str, str]


def scheme_choices() -> list[Choice]:
    """Return the schemes whose questions a judge may ask: the built-in ones, and what is stored beside."""
    built_in = [(key, f"{scheme.title} ({key})") for key, scheme in SCHEMES.items()]
    stored = SchemeVersion.objects.select_related("scheme").order_by("scheme__title", "-version")
    own = [
        (ref(version), f"{version.name} ({ref(version)})")
        for version in stored
        if version.scheme.key not in SCHEMES and not version.scheme.key.startswith(DERIVED)
    ]
    return [("", "none"), *built_in, *own]


def scheme_field(version: Version) -> forms.ChoiceField:
    """Return the field of the scheme that a version is asked over: of one for a scheme, that alone."""
    own = version.scheme_version
    if own is not None:
        return forms.ChoiceField(label="Scheme", choices=[(ref(own), ref(own))], initial=ref(own))
    choices = [("", "Choose a scheme"), *scheme_choices()[1:]]
    return forms.ChoiceField(label="Scheme", choices=choices, help_text="Whose questions it asks.")


def need_fields(protocol: Protocol, drafts: Iterable[Choice] = ()) -> dict[str, forms.Field]:
    """Return a field for every role that a protocol needs: the judges and metrics to be read, and drafts."""
    if not protocol.needs:
        return {}
    read = [("", "nobody's"), *((rater.fingerprint, rater.name) for rater in machines())]
    groups: list[Any] = [*read, *([("Drafts", list(drafts))] if drafts else [])]
    return {
        f"{NEED}{need.role}": forms.ChoiceField(
            required=False,
            label=f"Whose {need.role.replace('_', ' ')}",
            choices=groups,
            help_text=f"It reads another rater's answers to {need.question}"
            f"{'; may be left out' if need.optional else ''}.",
        )
        for need in protocol.needs
    }


def needs_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Return, per role, whose answers were chosen."""
    return {name.removeprefix(NEED): value for name, value in data.items() if name.startswith(NEED)}
