"""Which state of the tables a database has, by the migrations recorded in it."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable
from importlib import import_module

from config.upgrade.chain import APPS, module_of

INITIAL = [
    ("config", "0001_tables"),
    ("annotation", "0001_tables"),
    ("annotation", "0002_sql_invariants"),
    ("jobs", "0001_tables"),
    ("judges", "0001_tables"),
    ("calibration", "0001_tables"),
]
"""The migrations whose tables the end of the chain has. Nothing is added: later ones follow for everybody."""


class UpgradeError(Exception):
    """A database cannot be upgraded. The message is one line that says what to do."""


def is_earlier(applied: Iterable[tuple[str, str]]) -> bool:
    """Whether these migrations, as (app, name), are of an earlier release, so that the chain leads on.

    False for this release's own, complete or not, and for an empty database. Raises UpgradeError, with
    sentences that say why and what to do, for every other set. Other apps are not looked at.
    """
    ours = {pair for pair in applied if pair[0] in APPS}
    own, chain = _on_disk(lambda app: f"{app}.migrations"), _on_disk(module_of)
    if ours <= own:
        return False
    if ours <= chain:
        return True
    if unknown := sorted(ours - own - chain):
        raise UpgradeError(
            f"This release does not know the migration {'.'.join(unknown[0])}: it is of a later or of "
            "an unpublished release. Use the release that made it, or a later one."
        )
    one, other = sorted(ours - own)[0], sorted(ours - chain)[0]
    raise UpgradeError(
        f"The migrations {'.'.join(one)} and {'.'.join(other)} are of two releases and never stand together: "
        "restore a backup."
    )


def _on_disk(module: Callable[[str], str]) -> set[tuple[str, str]]:
    """All migrations, as (app, name), of the packages that `module` names by app."""
    return {
        (app, found.name)
        for app in APPS
        for found in pkgutil.iter_modules(import_module(module(app)).__path__)
    }
