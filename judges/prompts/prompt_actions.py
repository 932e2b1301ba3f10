"""Create, change and delete prompts and their versions. Every change is made here, and is logged."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.corpora import splits
from annotation.models import Rater, SchemeVersion
from config.models import Event
from judges.errors import JudgeError
from judges.models import Prompt, PromptVersion
from judges.prompts import examples, files, versions
from judges.prompts.examples import Pick, pick
from judges.prompts.versions import Version, built_in_names
from judges.protocols import PROTOCOLS, Asking, Wording
from judges.runs import plans

# All changes to stored prompts and versions, each of them logged.

_NAME = re.compile(r"[^\W_][\w .+-]*")
Origin = PromptVersion.Origin
RESERVED = ("diff", "import", "new", "request")
"""Names that URLs use for other pages."""
LONGEST_NAME, LONGEST_NOTE = 99, 5_000


@transaction.atomic
def create(
    *,
    by: User | None,
    name: str,
    protocol: str,
    variant: str,
    wording: Wording,
    scheme_version: SchemeVersion | None = None,
    description: str = "",
    parent: str = "",
    origin: str = Origin.WRITTEN,
    note: str = "",
    detail: Mapping[str, Any] | None = None,
) -> PromptVersion:
    """Create a prompt with its first version. Raises JudgeError for a name that is taken, or for a text that
    is not valid for the protocol."""
    name = free_name(name)
    check(protocol=protocol, variant=variant, wording=wording)
    prompt = Prompt.objects.create(
        name=name,
        protocol=protocol,
        variant=variant,
        scheme_version=scheme_version,
        description=description,
        created_by=by,
    )
    return _add(by, prompt, wording, parent, origin, note, detail)


def free_name(name: str) -> str:
    """Return the stripped name of a new prompt; raise JudgeError if it is invalid or taken."""
    name = name.strip()
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise JudgeError(
            f"{name[:60]!r} cannot be a prompt's name: up to {LONGEST_NAME} letters, digits, spaces and "
            ". _ + -, a letter or digit first."
        )
    if name.lower() in RESERVED or name in built_in_names() or Prompt.objects.filter(name=name).exists():
        raise JudgeError(f"There is already a prompt {name!r}: choose another name.")
    return name


def suggested_name(title: str) -> str:
    """Return a name that no prompt has, from a title that may have any characters."""
    base = re.sub(r"[^\w .+-]|^[\W_]+", "", title)[: LONGEST_NAME - 4].strip() or "Prompt"
    existing = set(Prompt.objects.filter(name__startswith=base).values_list("name", flat=True))
    names = (base, *(f"{base} {number}" for number in range(2, len(existing) + 3)))
    return next(name for name in names if name not in existing and name.lower() not in RESERVED)


@transaction.atomic
def add_version(
    *,
    by: User | None,
    prompt: Prompt,
    wording: Wording,
    parent: str = "",
    origin: str = Origin.WRITTEN,
    note: str = "",
    detail: Mapping[str, Any] | None = None,
) -> PromptVersion:
    """Add a version to a prompt, or return its newest version if that has the same text.

    Raises JudgeError for a text that is not valid for the protocol.
    """
    prompt = Prompt.objects.select_for_update().get(pk=prompt.pk)
    check(protocol=prompt.protocol, variant=prompt.variant, wording=wording)
    newest = prompt.versions.select_related("text").order_by("-number").first()
    if newest is not None and newest.text.digest == wording.digest():
        return newest
    return _add(by, prompt, wording, parent, origin, note, detail)


@transaction.atomic
def propose(
    *,
    by: User | None,
    prompt: Prompt,
    wording: Wording,
    parent: str,
    note: str = "",
    detail: Mapping[str, Any] | None = None,
) -> PromptVersion:
    """Add a proposal to a prompt, or return the version that already has the same text.

    No judge uses it before a person adopts it.
    """
    prompt = Prompt.objects.select_for_update().get(pk=prompt.pk)
    check(protocol=prompt.protocol, variant=prompt.variant, wording=wording)
    same = prompt.versions.filter(text__digest=wording.digest()).order_by("number").first()
    return same or _add(by, prompt, wording, parent, Origin.PROPOSED, note, detail)


@transaction.atomic
def adopt(*, by: User | None, version: PromptVersion) -> PromptVersion:
    """Adopt a proposal, so that judges may use it. Raises JudgeError for anything but an open proposal."""
    version = PromptVersion.objects.select_for_update().select_related("prompt").get(pk=version.pk)
    ref = f"{version.prompt.name}@{version.number}"
    if not version.is_open:
        raise JudgeError(f"{ref} is not a proposal that waits to be adopted.")
    version.adopted_at, version.adopted_by = timezone.now(), by
    version.save(update_fields=["adopted_at", "adopted_by"])
    Event.objects.create(by=by, verb="adopt proposed prompt", subject=ref)
    return version


def copy(
    *,
    by: User | None,
    version: Version,
    name: str,
    description: str = "",
    wording: Wording | None = None,
    note: str = "",
) -> PromptVersion:
    """Copy a version to a new prompt of the user's own: its text, or `wording`, under a new name."""
    return create(
        by=by,
        name=name,
        protocol=version.protocol,
        variant=version.variant,
        wording=wording or version.wording,
        scheme_version=version.scheme_version,
        description=description,
        parent=version.ref,
        origin=Origin.COPIED,
        note=note,
    )


@transaction.atomic
def import_file(*, by: User | None, content: bytes, name: str = "") -> list[PromptVersion]:
    """Create a prompt from a file, optionally under another `name`; return the new versions.

    An existing prompt of this name and the same protocol gains the versions that it lacks. Raises JudgeError
    for a file that cannot be read, with a line for each problem; nothing is saved then.
    """
    prompt_file = files.read(content)
    scheme = files.scheme_of(prompt_file.scheme)
    name = (name or prompt_file.name).strip()
    prompt = Prompt.objects.select_for_update().filter(name=name).first()
    same = prompt is None or (prompt.protocol, prompt.variant, prompt.scheme_version) == (
        prompt_file.protocol,
        prompt_file.variant,
        scheme,
    )
    if not same:
        raise JudgeError(f"There is a prompt {name!r} of another protocol: import under another name.")
    digests = set(prompt.versions.values_list("text__digest", flat=True)) if prompt else set()
    numbers: dict[str, str] = {}
    new_versions = []
    for read in prompt_file.versions:
        if read.wording.digest() in digests:
            continue
        digests.add(read.wording.digest())
        parent = numbers.get(read.parent, read.parent)[:120]
        detail = {"number": read.number, "origin": read.origin, "digest": read.digest}
        if prompt is None:
            version = create(
                by=by,
                name=name,
                protocol=prompt_file.protocol,
                variant=prompt_file.variant,
                wording=read.wording,
                scheme_version=scheme,
                description=prompt_file.description,
                parent=parent,
                origin=Origin.IMPORTED,
                note=read.note,
                detail=detail,
            )
            prompt = version.prompt
        else:
            check(protocol=prompt.protocol, variant=prompt.variant, wording=read.wording)
            version = _add(by, prompt, read.wording, parent, Origin.IMPORTED, read.note, detail)
        numbers[f"{prompt_file.name}@{read.number}"] = f"{name}@{version.number}"
        new_versions.append(version)
    return new_versions


@transaction.atomic
def add_examples(*, by: User | None, version: Version, criteria: Pick, note: str = "") -> PromptVersion:
    """Add a version with the same text and newly picked examples; this fixes the split that they come from.
    Raises JudgeError if there are no examples to pick."""
    row = own_version(version)
    protocol = bound_to(version, criteria.scheme)
    wording = pick(protocol, version.variant, version.wording, criteria)
    if not criteria.part and (lock := splits.lock_of(criteria.corpus)) is not None:
        splits.fix(split=lock, by=by)
    return add_version(by=by, prompt=row.prompt, wording=wording, parent=version.ref, note=note)


def own_version(version: Version) -> PromptVersion:
    """Return the row of a user's version; raise JudgeError for one that comes with Concord."""
    if version.row is None:
        raise JudgeError(f"{version.ref} comes with Concord and cannot be changed: copy it.")
    return version.row


def bound_to(version: Version, scheme: str) -> Asking:
    """Return a version's protocol, bound to its own scheme or the named one. Raises JudgeError."""
    template = PROTOCOLS[version.protocol]
    over = plans.scheme_version_for(template, scheme, version, None)
    protocol = plans.bind_protocol(template, over, version.variant)
    assert isinstance(protocol, Asking)
    return protocol


@transaction.atomic
def archive(*, by: User | None, prompt: Prompt, archived: bool = True) -> Prompt:
    """Remove a prompt from the lists of runnable prompts, or restore it."""
    prompt.archived = archived
    prompt.save(update_fields=["archived"])
    Event.objects.create(by=by, verb="archive prompt" if archived else "restore prompt", subject=prompt.name)
    return prompt


@transaction.atomic
def delete(*, by: User | None, version: PromptVersion) -> None:
    """Delete a version, and its prompt with the last version. Raises JudgeError if a judge has used it."""
    version = PromptVersion.objects.select_for_update().select_related("prompt", "text").get(pk=version.pk)
    if is_used(version):
        raise JudgeError(f"{version.prompt.name}@{version.number} was used by a judge and stays.")
    prompt, text = version.prompt, version.text
    Event.objects.create(by=by, verb="delete prompt version", subject=f"{prompt.name}@{version.number}")
    version.delete()
    if not prompt.versions.exists():
        prompt.delete()
    if not text.versions.exists() and not Rater.objects.filter(spec__wording=text.digest).exists():
        text.delete()


def is_used(version: PromptVersion) -> bool:
    """Whether a judge uses a version's text."""
    return Rater.objects.filter(spec__wording=version.text.digest).exists()


def check(*, protocol: str, variant: str, wording: Wording) -> None:
    """Raise JudgeError with all faults of a text that is not valid for the protocol."""
    text_protocol = PROTOCOLS.get(protocol)
    if not isinstance(text_protocol, Asking):
        names = ", ".join(key for key, candidate in PROTOCOLS.items() if isinstance(candidate, Asking))
        raise JudgeError(f"There is no protocol {protocol!r} that takes a text; there are {names}.")
    if variant not in text_protocol.variants:
        variants = ", ".join(filter(None, text_protocol.variants))
        raise JudgeError(f"{protocol} has no variant {variant!r}; it has {variants}.")
    if wording.form and wording.form not in text_protocol.forms_of(variant):
        forms = ", ".join(filter(None, text_protocol.forms_of(variant))) or "one form alone"
        raise JudgeError(
            f"{protocol} {variant} reads no reply of the form {wording.form!r}; it reads {forms}."
        )
    if problems := wording.problems(text_protocol.known_variables(variant)):
        raise JudgeError(" ".join(problems))
    examples.refuse_test_items(wording)


def _add(
    by: User | None,
    prompt: Prompt,
    wording: Wording,
    parent: str,
    origin: str,
    note: str,
    detail: Mapping[str, Any] | None,
) -> PromptVersion:
    last = prompt.versions.aggregate(last=Max("number"))["last"] or 0
    version = PromptVersion.objects.create(
        prompt=prompt,
        number=last + 1,
        text=versions.store(wording=wording),
        parent=parent,
        origin=origin,
        note=note,
        detail=dict(detail or {}),
        created_by=by,
    )
    Event.objects.create(
        by=by,
        verb="save prompt version",
        subject=f"{prompt.name}@{version.number}",
        detail={"origin": origin, "parent": parent, "digest": version.text.digest},
    )
    return version
