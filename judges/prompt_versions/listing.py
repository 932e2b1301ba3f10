"""Prompts as their pages, commands and routes list them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import Rater
from jobs.models import Run
from judges.models import Prompt, PromptVersion
from judges.prompt_versions.finding import Version, built_in, version_of
from judges.protocols.examples import shown_at_once


@dataclass(frozen=True, slots=True)
class Listed:
    """A prompt with its newest version, how many versions it has, and how many judges use any of them."""

    newest: Version
    versions: int
    judges: int
    prompt: Prompt | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.newest.name

    @property
    def archived(self) -> bool:
        """Whether it is off the lists of what can be run."""
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


def own() -> list[Listed]:
    """Return people's prompts by name."""
    rows = PromptVersion.objects.select_related(
        "prompt__created_by", "prompt__scheme_version__scheme", "text", "created_by"
    ).order_by("prompt__name", "number")
    versions: dict[int, list[PromptVersion]] = defaultdict(list)
    for row in rows:
        versions[row.prompt_id].append(row)
    used = judges_by_digest()
    return [
        Listed(
            version_of(of[-1]),
            len(of),
            len({rater.pk for row in of for rater in used.get(row.text.digest, ())}),
            of[-1].prompt,
        )
        for of in versions.values()
    ]


def coming_with_concord() -> list[Listed]:
    """Return the prompts that come with Concord."""
    used: dict[tuple[str, str], int] = defaultdict(int)
    plain = Rater.objects.filter(kind=Rater.Kind.JUDGE, spec__wording__isnull=True, draft=None)
    for spec in plain.values_list("spec", flat=True):
        used[spec.get("protocol", ""), spec.get("variant", "")] += 1
    return [Listed(version, 1, used[version.protocol, version.variant]) for version in built_in()]


def judges_by_digest(digests: Sequence[str] | None = None) -> dict[str, list[Rater]]:
    """Return the judges that have a text, by its digest."""
    found: dict[str, list[Rater]] = defaultdict(list)
    rows = Rater.objects.filter(kind=Rater.Kind.JUDGE, spec__wording__isnull=False, draft=None).order_by(
        "name"
    )
    if digests is not None:
        rows = rows.filter(spec__wording__in=list(digests))
    for rater in rows:
        found[rater.spec["wording"]].append(rater)
    return dict(found)


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
    """Return a prompt's versions, the newest first."""
    rows = prompt.versions.select_related("prompt__scheme_version__scheme", "text", "created_by")
    return [version_of(row) for row in rows.order_by("-number")]


def runnable() -> list[Version]:
    """Return the versions of people's prompts that are not archived, by name, the newest first."""
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text")
    found = rows.filter(prompt__archived=False).order_by("prompt__name", "-number")
    return [version_of(row) for row in found]


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
