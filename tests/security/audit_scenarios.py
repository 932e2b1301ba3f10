"""Arguments with which the audit calls the actions of scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_scenario() -> Any:
    import json
    import tempfile

    from annotation.corpora.import_file import import_path
    from annotation.models import Dialogue
    from tests.suites.group_chat.scripts import LAUNCH

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(json.dumps(LAUNCH))
        file.flush()
        import_path(path=file.name, format="jsonl", corpus="Set", into=False, by=None)
    return Dialogue.objects.select_related("corpus").get(corpus__name="Set")


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "suites.group_chat.answer_keys.correct": lambda by: {
        "dialogue": make_scenario(),
        "changes": {"keyed_by": ["Ana", "Ben"]},
    },
}
