"""Arguments with which the audit calls the actions of scripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_script() -> Any:
    import json
    import tempfile

    from annotation.corpora.import_file import import_path
    from annotation.models import Dialogue
    from tests.suites.long_dialogue.examples import script

    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(json.dumps(script()))
        file.flush()
        import_path(path=file.name, format="jsonl", corpus="Loaf", into=False, by=None)
    return Dialogue.objects.select_related("corpus").get(corpus__name="Loaf")


def make_sending(by: User) -> dict[str, Any]:
    from suites.long_dialogue.editing.export import ExportSelection

    return {"dialogue": make_script(), "selection": ExportSelection()}


LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "suites.long_dialogue.editing.export.answer": make_sending,
    "suites.long_dialogue.editing.sessions.change_session": lambda by: {
        "dialogue": make_script(),
        "session": "s3",
        "date": "1994-11-24",
        "kind": "talk",
    },
    "suites.long_dialogue.editing.name_maps.make_names": lambda by: {
        "dialogue": make_script(),
        "kind": "anonymised",
        "seed": 0,
    },
    "suites.long_dialogue.editing.name_maps.save_names": lambda by: {
        "dialogue": make_script(),
        "kind": "anonymised",
        "pairs": [("Ana", "Yvette"), ("Ben", "Quentin")],
    },
}


def make_reviewed() -> Any:
    """Create a fact that two people reviewed as wrong."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from tests import factories
    from tests.suites.long_dialogue.reviews import answer, brought, opened

    with TemporaryDirectory() as folder:
        corpus = brought(Path(folder), name="Reviewed loaf")
    people = factories.user(), factories.user()
    campaign = opened(corpus, "fact_review", *people)
    for person in people:
        answer(campaign, person, f2={"right": 0})
    return corpus


def record_of(dialogue: Any, key: str) -> Any:
    return dialogue.records.get(key=key)


def other_relations() -> list[dict[str, Any]]:
    from suites.long_dialogue.scripts.graph import DEFAULT

    return [row for row in DEFAULT.as_rows() if row["key"] != "roommate"]


SAID = {"head": "Ana", "relation": "boss", "tail": "Cara", "session": "s2", "turns": [3]}
LOGGED |= {
    "suites.long_dialogue.editing.question_sets.make": lambda by: {
        "corpus": make_script().corpus,
        "name": "mine",
    },
    "suites.long_dialogue.editing.question_sets.make_or_start": lambda by: {
        **{"corpus": make_script().corpus, "name": "mine", "seed": 0},
        **{"policy": "body", "presence": True},
    },
    "suites.long_dialogue.editing.question_editing.apply_reviews": lambda by: {
        "corpus": make_reviewed(),
        "kind": "fact",
    },
    "suites.long_dialogue.editing.question_editing.add": lambda by: {
        "dialogue": make_script(),
        "kind": "fact",
        "content": SAID,
    },
    "suites.long_dialogue.editing.question_editing.change": lambda by: {
        "record": record_of(make_script(), "f2"),
        "content": SAID,
    },
    "suites.long_dialogue.editing.question_editing.accept_drafts": lambda by: {
        "corpus": make_script().corpus,
        "kind": "fact",
    },
    "suites.long_dialogue.editing.question_sets.take_wordings": lambda by: {
        "dialogue": make_script(),
        "styles": {"q1": {"default": "What was it that Cara bought?"}},
    },
    "suites.long_dialogue.editing.question_relations.replace_relations": lambda by: {
        "corpus": make_script().corpus,
        "rows": other_relations(),
    },
}


def decided(by: User) -> dict[str, Any]:
    dialogue = make_script()
    return {"corpus": dialogue.corpus, "records": [record_of(dialogue, "f2").pk], "status": "accepted"}


LOGGED["suites.long_dialogue.editing.question_editing.decide"] = decided

TRACED = {
    "suites.long_dialogue.editing.question_editing.supersede": "whoever corrects logs that",
    "suites.long_dialogue.simulations.material.take": "question_sets.take_wordings logs each script",
}
PASSED_ON = {
    "suites.long_dialogue.answers.report.compute": "report_part",
    "suites.long_dialogue.answers.report.compute_on_test": "compute_on_test",
    "suites.long_dialogue.answers.report.open_test": "log_look",
}
