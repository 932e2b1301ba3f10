"""Prompts and their versions: storage, look-up by name, and listings for pages, commands and the API."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Rater, SchemeVersion
from annotation.text.display import Row
from annotation.text.display import difference_rows as rows
from jobs.models import Run
from judges.errors import JudgeError
from judges.models import Prompt, PromptText, PromptVersion
from judges.protocols import PROTOCOLS, Asking
from judges.protocols.examples import shown_at_once
from judges.protocols.wording import Wording

# Texts of prompts in the database, each stored once and found by the digest of its content.


def store(*, wording: Wording) -> PromptText:
    """Return the stored text of a wording, storing it first if it is new."""
    text, _ = PromptText.objects.get_or_create(
        digest=wording.digest(),
        defaults={
            "system": wording.system,
            "user": wording.user,
            "form": wording.form,
            "examples": [dict(example) for example in wording.examples],
            "picking": dict(wording.picking),
        },
    )
    return text


def wording_of(text: PromptText) -> Wording:
    """Return the wording of a stored text."""
    return Wording(text.system, text.user, text.form, tuple(text.examples), text.picking)


def of_digest(digest: str) -> Wording:
    """Return the wording with a digest; raise JudgeError if it is not stored."""
    text = PromptText.objects.filter(digest=digest).first()
    if text is None:
        raise JudgeError(f"The text {digest[:12]} of this judge's prompt is not stored here.")
    return wording_of(text)


# Listings of prompts for pages, commands and the API.

# Differences between two versions of a prompt, part by part.


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two texts side by side."""

    name: str
    rows: tuple[Row, ...]

    @property
    def changed(self) -> bool:
        """Whether there is any difference."""
        return any(not (row.same or row.skipped) for row in self.rows)


def difference(first: Wording, second: Wording) -> list[Part]:
    """Return the parts of two texts: system, user, and, if either has them, form and examples."""
    parts = [
        Part("system", rows(first.system, second.system)),
        Part("user", rows(first.user, second.user)),
    ]
    if first.form or second.form:
        parts.append(Part("form", rows(first.form, second.form)))
    if first.examples or second.examples:
        parts.append(Part("examples", rows(_examples_text(first), _examples_text(second))))
    return parts


def _examples_text(wording: Wording) -> str:
    lines = [f"{name}: {value}" for name, value in sorted(wording.picking.items())]
    return "\n".join(
        [
            *lines,
            *(f"{example['key']} ({example['corpus']}): {example['reply']}" for example in wording.examples),
        ]
    )


# Look-up of a prompt's version, built in or a user's own, by its reference `name@number`.


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a prompt as a judge uses it. `row` is None for a built-in text."""

    name: str
    number: int
    protocol: str
    variant: str
    wording: Wording
    scheme_version: SchemeVersion | None = None
    row: PromptVersion | None = None

    @property
    def ref(self) -> str:
        """Reference of the version, `name@number`."""
        return f"{self.name}@{self.number}"

    @property
    def protocol_title(self) -> str:
        """Title of its protocol."""
        return PROTOCOLS[self.protocol].title

    @property
    def variant_text(self) -> str:
        """Display name of its variant."""
        return self.variant.replace("_", " ")

    @property
    def is_built_in(self) -> bool:
        """Whether it comes with Concord and cannot be changed."""
        return self.row is None

    @property
    def created_at(self) -> datetime | None:
        """Time of creation; None for a built-in version."""
        return None if self.row is None else self.row.created_at


def built_in() -> Iterator[Version]:
    """Yield the built-in versions: the newest text of every variant of every protocol."""
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
    """Return the names of built-in prompts, which users cannot take."""
    return {version.name for version in built_in()}


def version_of(row: PromptVersion) -> Version:
    """Return the version of a row."""
    prompt = row.prompt
    return Version(
        prompt.name,
        row.number,
        prompt.protocol,
        prompt.variant,
        wording_of(row.text),
        prompt.scheme_version,
        row,
    )


def of_spec(spec: Mapping[str, Any]) -> Version | None:
    """Return the version used by a judge with this spec; None for a judge that asks no model, and for a text
    whose version no longer exists."""
    if "wording" in spec:
        rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text")
        name, _, number = str(spec.get("prompt", "")).rpartition("@")
        candidates = list(rows.filter(text__digest=spec["wording"]).order_by("pk"))
        own = [row for row in candidates if (row.prompt.name, str(row.number)) == (name, number)]
        return version_of((own or candidates)[0]) if candidates else None
    target = (spec.get("protocol"), spec.get("variant", ""), spec.get("version"))
    versions = ((version, (version.protocol, version.variant, version.number)) for version in built_in())
    return next((version for version, identity in versions if identity == target), None)


def find(ref: str) -> Version:
    """Return the version of a reference; a name alone means its newest version that is no open proposal.

    Raises JudgeError if there is none.
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


@dataclass(frozen=True, slots=True)
class PromptSummary:
    """A prompt with its newest version, its number of versions, and the number of judges that use them."""

    newest: Version
    versions: int
    judges: int
    prompt: Prompt | None = None

    @property
    def name(self) -> str:
        """Name of the prompt."""
        return self.newest.name

    @property
    def archived(self) -> bool:
        """Whether it is hidden from the lists of runnable prompts."""
        return self.prompt is not None and self.prompt.archived

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        by = self.prompt.created_by if self.prompt else None
        return {
            "name": self.name,
            "protocol": self.newest.protocol,
            "variant": self.newest.variant,
            "built_in": self.newest.is_built_in,
            "newest": self.newest.number,
            "versions": self.versions,
            "judges": self.judges,
            "archived": self.archived,
            "description": self.prompt.description if self.prompt else "",
            "created_by": by.get_username() if by else None,
            "changed_at": self.newest.created_at.isoformat() if self.newest.created_at else None,
        }


def own() -> list[PromptSummary]:
    """Return users' own prompts, by name."""
    rows = PromptVersion.objects.select_related(
        "prompt__created_by", "prompt__scheme_version__scheme", "text", "created_by"
    ).order_by("prompt__name", "number")
    versions: dict[int, list[PromptVersion]] = defaultdict(list)
    for row in rows:
        versions[row.prompt_id].append(row)
    used = judges_by_digest()
    return [
        PromptSummary(
            version_of(of[-1]),
            len(of),
            len({rater.pk for row in of for rater in used.get(row.text.digest, ())}),
            of[-1].prompt,
        )
        for of in versions.values()
    ]


def coming_with_concord() -> list[PromptSummary]:
    """Return the built-in prompts."""
    used: dict[tuple[str, str], int] = defaultdict(int)
    plain = Rater.objects.filter(kind=Rater.Kind.JUDGE, spec__wording__isnull=True, draft=None)
    for spec in plain.values_list("spec", flat=True):
        used[spec.get("protocol", ""), spec.get("variant", "")] += 1
    return [PromptSummary(version, 1, used[version.protocol, version.variant]) for version in built_in()]


def judges_by_digest(digests: Sequence[str] | None = None) -> dict[str, list[Rater]]:
    """Return the judges that use each text, by its digest."""
    judges: dict[str, list[Rater]] = defaultdict(list)
    rows = Rater.objects.filter(kind=Rater.Kind.JUDGE, spec__wording__isnull=False, draft=None).order_by(
        "name"
    )
    if digests is not None:
        rows = rows.filter(spec__wording__in=list(digests))
    for rater in rows:
        judges[rater.spec["wording"]].append(rater)
    return dict(judges)


def runs_of(version: Version) -> list[Run]:
    """Return the runs of the judges that use a version, latest first."""
    if version.is_built_in:
        judges = Rater.objects.filter(
            kind=Rater.Kind.JUDGE,
            draft=None,
            spec__wording__isnull=True,
            spec__protocol=version.protocol,
            spec__variant=version.variant,
        )
    else:
        judges = Rater.objects.filter(spec__wording=version.wording.digest(), draft=None)
    runs = Run.objects.select_related("rater", "corpus", "campaign").filter(rater__in=judges)
    return list(runs.order_by("-id")[:50])


def versions_of(prompt: Prompt) -> list[Version]:
    """Return a prompt's versions, newest first."""
    rows = prompt.versions.select_related("prompt__scheme_version__scheme", "text", "created_by")
    return [version_of(row) for row in rows.order_by("-number")]


def runnable() -> list[Version]:
    """Return the versions of users' prompts that are not archived, by name, newest first."""
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text")
    active = rows.filter(prompt__archived=False).order_by("prompt__name", "-number")
    return [version_of(row) for row in active]


def as_json(version: Version) -> dict[str, Any]:
    """Return a version as plain data."""
    row, wording = version.row, version.wording
    by = row.created_by if row else None
    return {
        "ref": version.ref,
        "name": version.name,
        "number": version.number,
        "protocol": version.protocol,
        "variant": version.variant,
        "built_in": version.is_built_in,
        "digest": wording.digest(),
        "system": wording.system,
        "user": wording.user,
        "form": wording.form,
        "examples": [dict(example) for example in wording.examples],
        "examples_shown": shown_at_once(wording),
        "picking": dict(wording.picking),
        "origin": row.origin if row else "built in",
        "parent": row.parent if row else "",
        "note": row.note if row else "",
        "created_by": by.get_username() if by else None,
        "created_at": row.created_at.isoformat() if row else None,
    }
