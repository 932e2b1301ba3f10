"""What the buttons of the scheme editor do to a form: each changes the draft and says what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from annotation.pages.scheme_draft import Draft, DraftQuestion, number
from annotation.pages.scheme_posted import suit_values


class Done(NamedTuple):
    """Which question, or `add`, the cursor goes to ('': it stays), and what is said to who listens."""

    focus: str = ""
    said: str = ""


def apply(draft: Draft, do: str) -> Done:
    """Do what a button names: a verb, and where it is about one, a question's uid and a row's place.

    What names nothing that is there changes nothing.
    """
    verb, _, rest = do.partition(" ")
    if verb == "add":
        return _add(draft)
    uid, _, row = rest.partition(" ")
    index = next((place for place, one in enumerate(draft.questions) if one.uid == uid), None)
    if index is None or verb not in _VERBS:
        return Done()
    done = _VERBS[verb](draft, index, int(row) if row.isascii() and row.isdecimal() else -1)
    draft.settle()
    return done


def _add(draft: Draft) -> Done:
    made = DraftQuestion(draft.new_uid(), unfolded=True)
    suit_values(made)
    draft.questions.append(made)
    draft.settle()
    return Done(made.uid, f"Question {len(draft.questions)} added.")


def _remove(draft: Draft, index: int, _: int) -> Done:
    del draft.questions[index]
    near = draft.questions[min(index, len(draft.questions) - 1)].uid if draft.questions else "add"
    return Done(near, f"Question {index + 1} taken out.")


def _move(draft: Draft, index: int, step: int) -> Done:
    there = index + step
    if not 0 <= there < len(draft.questions):
        return Done(said=f"Question {index + 1} is the {'first' if step < 0 else 'last'} already.")
    draft.questions.insert(there, draft.questions.pop(index))
    return Done(said=f"Now question {there + 1} of {len(draft.questions)}.")


def _more(draft: Draft, index: int, _: int) -> Done:
    question = draft.questions[index]
    last = number(question.values[-1][0]) if question.values else 0
    following = str(last + 1) if question.is_scale and isinstance(last, int | float) else ""
    question.values.append((following, ""))
    return Done(said=f"Value {len(question.values)} added.")


def _drop(draft: Draft, index: int, row: int) -> Done:
    values = draft.questions[index].values
    if not 0 <= row < len(values):
        return Done()
    del values[row]
    return Done(said=f"Value {row + 1} taken out.")


_VERBS: dict[str, Callable[[Draft, int, int], Done]] = {
    "remove": _remove,
    "up": lambda draft, index, _: _move(draft, index, -1),
    "down": lambda draft, index, _: _move(draft, index, 1),
    "more": _more,
    "drop": _drop,
}
