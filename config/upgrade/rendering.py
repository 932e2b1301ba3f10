"""Django's states of models, rendered one at a time while migrations run.

Where a migration changes a model, Django renders every model again that is related to it by any path. Here
that is nearly all of them for nearly every operation, and it was five sixths of what `migrate` took.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.migrations.state import ProjectState


@contextmanager
def each_model_alone() -> Iterator[None]:
    """While inside, a changed model is rendered without those related to it.

    The statements sent to the database need table and column names of related models, which older renderings
    have too. Code that a migration runs needs classes that fit each other: the state is marked as delayed, so
    that Django renders it anew before such code. That the tables come out the same is a test
    (tests/upgrade/test_schema.py).
    """
    whole = ProjectState._find_reload_model  # type: ignore[attr-defined]
    ProjectState._find_reload_model = _itself  # type: ignore[attr-defined]
    try:
        yield
    finally:
        ProjectState._find_reload_model = whole  # type: ignore[attr-defined]


def _itself(
    state: ProjectState, app_label: str, model_name: str, delay: bool = False
) -> set[tuple[str, str]]:
    """What stands in for ProjectState._find_reload_model."""
    state.is_delayed = True
    return {(app_label, model_name)}
