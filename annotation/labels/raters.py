"""Who a label is by: one rater per person, judge, metric or imported name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.models import Corpus, Rater


def person(*, user: User, simulated: bool = False) -> Rater:
    """Return the rater of an account, made at first use.

    A program may work in an account's name: its rater is then made as simulated, and reports say so.
    """
    found = Rater.objects.filter(user=user).first()
    if found:
        return found
    rater, _ = Rater.objects.get_or_create(
        user=user,
        defaults={
            "kind": Rater.Kind.HUMAN,
            "name": user.get_username(),
            "spec": {"simulated": True} if simulated else {},
        },
    )
    return rater


def machine(*, kind: str, name: str, spec: Mapping[str, Any]) -> Rater:
    """Return the judge or metric that a spec describes: the same spec is always the same rater.

    Where another spec already has the name, the fingerprint's beginning is added to tell them apart.
    """
    fingerprint = spec_fingerprint(kind=kind, spec=spec)
    found = Rater.objects.filter(fingerprint=fingerprint).first()
    if found:
        return found
    if Rater.objects.filter(corpus=None, kind=kind, name=name).exists():
        name = f"{name} #{fingerprint[:6]}"
    rater, _ = Rater.objects.get_or_create(
        fingerprint=fingerprint, defaults={"kind": kind, "name": name, "spec": dict(spec)}
    )
    return rater


def imported(
    *, corpus: Corpus, kind: str, name: str, identified: bool = True, simulated: bool = False
) -> Rater:
    """Return the rater that a file of a corpus names, made at first use.

    A simulated rater answers as a person would, but nobody is behind it: reports say so.
    """
    spec = {"simulated": True} if simulated else {}
    rater, _ = Rater.objects.get_or_create(
        corpus=corpus, kind=kind, name=name, defaults={"identified": identified, "spec": spec}
    )
    return rater


def spec_fingerprint(*, kind: str, spec: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a rater's kind and spec, with keys in a fixed order."""
    text = json.dumps([kind, spec], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
