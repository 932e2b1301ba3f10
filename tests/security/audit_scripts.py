"""What the actions of scripts are tried with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_script() -> Any:
    import json
    import tempfile

    from annotation.importing import import_path
    from annotation.models import Dialogue
    from tests.scripts.examples import script

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(json.dumps(script()))
        file.flush()
        import_path(path=file.name, format="jsonl", corpus="Loaf", into=False, by=None)
    return Dialogue.objects.select_related("corpus").get(corpus__name="Loaf")


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "annotation.script_editing.actions.change_session": lambda by: {
        "dialogue": make_script(),
        "session": "s3",
        "date": "1994-11-24",
        "kind": "talk",
    },
    "annotation.script_editing.name_maps.make_names": lambda by: {
        "dialogue": make_script(),
        "kind": "anonymised",
        "seed": 0,
    },
    "annotation.script_editing.name_maps.save_names": lambda by: {
        "dialogue": make_script(),
        "kind": "anonymised",
        "pairs": [("Ana", "Yvette"), ("Ben", "Quentin")],
    },
}
