"""Arguments with which the audit calls the actions of training and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def _campaign(by: User, **how: Any) -> Any:
    from tests.checks.world import campaign

    return campaign(by, main=1, **how)


def _key(by: User) -> Any:
    return _campaign(by, check=1).key_tasks.get()


def _new_key(by: User) -> dict[str, Any]:
    from annotation.models import Question
    from annotation.work.check_stages import Key

    made = _campaign(by, opened=False)
    item = made.corpus.items.filter(kind="turn").get()
    question = Question.objects.get(version=made.scheme_version, key="overall")
    answers = {(item.pk, question.pk): Key((5.0,))}
    spot = (item.continuation_id, item.pk)
    return {"campaign": made, "occasion": "check", "spot": spot, "answers": answers}


def _keys(by: User) -> dict[str, Any]:
    made = _campaign(by, opened=False)
    rows = [(made.corpus.items.filter(kind="turn").get().pk, "overall", 4.0)]
    return {"campaign": made, "occasion": "check", "rows": rows, "most": 1, "source": "a file"}


def _changed(by: User) -> dict[str, Any]:
    from annotation.work.check_actions import answers_of

    key = _key(by)
    return {"key": key, "answers": answers_of(key), "explanation": "It fits."}


def _person(by: User, **standing: Any) -> dict[str, Any]:
    from annotation.models import Standing

    made = _campaign(by, test=1)
    Standing.objects.create(campaign=made, user=by, **standing)
    return {"campaign": made, "user": by, "reason": "because"}


NOW = "2026-01-01T00:00Z"
LOGGED: dict[str, Callable[[User], dict[str, Any]]] = {
    "annotation.work.check_actions.set_up": lambda by: {"campaign": _campaign(by), "check_every": 10},
    "annotation.work.check_actions.add_key": _new_key,
    "annotation.work.check_actions.add_keys": _keys,
    "annotation.work.check_actions.change_key": _changed,
    "annotation.work.check_actions.retire_key": lambda by: {"key": _key(by)},
    "annotation.work.check_actions.let_in": _person,
    "annotation.work.check_actions.pause": _person,
    "annotation.work.check_actions.lift": lambda by: _person(by, paused_at=NOW, paused_why="why"),
    "annotation.work.check_actions.leave_out": _person,
    "annotation.work.check_actions.readmit": lambda by: _person(by, left_out_at=NOW, left_out_why="why"),
}
TRACED = {
    "annotation.work.check_actions.copy_to": "the copy of the campaign is logged",
    "annotation.work.check_stages.accept": "a standing and its attempts say what was begun and read",
    "annotation.work.check_stages.log": "writes the entry",
}
