"""The form of a campaign's training, test and checks, and the fields of an answer key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.checks.feedback import worded
from annotation.checks.keys import ORDERED
from annotation.checks.scoring import Key, Place
from annotation.errors import CampaignRefused
from annotation.models import CheckPlan, Item
from annotation.scheme_versions.asked import Asked, Questionnaire

PERCENT = {"test_mark", "warn_below", "pause_below", "leave_out_below"}
"""The fields that are shares, which the form takes as percentages."""


def _percent(label: str, hint: str, *, required: bool = False) -> forms.FloatField:
    return forms.FloatField(label=label, help_text=hint, required=required, min_value=0, max_value=100)


def _count(label: str, hint: str = "", *, least: int = 1, required: bool = True) -> forms.IntegerField:
    return forms.IntegerField(label=label, help_text=hint, required=required, min_value=least, max_value=1000)


class ChecksForm(forms.Form):
    """How a campaign trains, tests and checks; shares are written in percent."""

    training_again = forms.BooleanField(label="Training may be done more than once", required=False)
    test_mark = _percent("Pass mark of the test, %", "", required=True)
    test_measure = forms.ChoiceField(
        label="The test's score is",
        choices=CheckPlan.Measure.choices,
        help_text="Beyond guessing: (right - expected) / (all - expected), with what guessing evenly among "
        "the values gives as expected.",
    )
    test_tries = _count("Tries at the test")
    test_tells = forms.ChoiceField(label="After the test people learn", choices=CheckPlan.Tells.choices)
    check_every = _count("One hidden check in … tasks", "Empty for none.", least=2, required=False)
    repeat_every = _count("One repeat in … tasks", "Empty for none.", least=2, required=False)
    repeat_after = _count("A repeat comes after at least … other tasks")
    window = _count("The rule looks at the last … checks")
    least = _count("and acts from … checks on")
    warn_below = _percent("Warn below, % right", "Empty for never.")
    pause_below = _percent("Pause below, % right", "Empty for never.")
    leave_out_below = _percent("Leave out of gold below, % right", "Empty for never. Labels stay.")

    def __init__(self, *args: Any, plan: CheckPlan, **more: Any) -> None:
        initial = {name: getattr(plan, name) for name in self.base_fields}
        for name in PERCENT:
            initial[name] = None if initial[name] is None else f"{100 * initial[name]:g}"
        super().__init__(*args, **more | {"initial": initial})

    def arguments(self) -> dict[str, Any]:
        """Return what was filled in as `actions.set_up` takes it."""
        told = dict(self.cleaned_data)
        for name in PERCENT & told.keys():
            told[name] = None if told[name] is None else told[name] / 100
        return told

    def refused(self, error: CampaignRefused) -> None:
        """Show a refusal at the field that it is about."""
        self.add_error(error.field if error.field in self.fields else None, str(error))


@dataclass(frozen=True)
class Choice:
    """A value that may count as right."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True)
class Field:
    """What is asked of the researcher about one question on one item: which values are right."""

    name: str
    question: Asked
    choices: tuple[Choice, ...]
    typed: str
    is_ordered: bool
    tolerance: str


@dataclass(frozen=True)
class Fields:
    """The fields of one item."""

    heading: str
    fields: tuple[Field, ...]


def fields_of(
    plan: Questionnaire, items: list[Item], answers: Mapping[Place, Key], posted: QueryDict | None
) -> list[Fields]:
    """Return the fields of a key: as it is, or as was posted."""
    several = len(items) > 1
    return [
        Fields(
            _heading(item) if several else "",
            tuple(
                _field(question, f"{item.public}-{question.key}", answers.get((item.pk, question.id)), posted)
                for question in plan.asked_about(item.kind)
                if question.level != "text"
            ),
        )
        for item in items
    ]


def _heading(item: Item) -> str:
    return f"Turn {getattr(item.turn, 'number', '')}" if item.turn else "The whole dialogue"


def _field(question: Asked, name: str, key: Key | None, posted: QueryDict | None) -> Field:
    right = {_written(value) for value in key.values} if key else set()
    near = f"{key.tolerance:g}" if key and key.tolerance else ""
    if posted is not None:
        right, near = set(posted.getlist(name)), posted.get(f"{name}-near", "")
    choices = [Choice(_written(v), worded(question, v), _written(v) in right) for v in question.values]
    typed = "" if choices else ", ".join(sorted(right))
    return Field(name, question, tuple(choices), typed, question.level in ORDERED, near)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def posted_answers(plan: Questionnaire, items: list[Item], posted: QueryDict) -> dict[Place, Key]:
    """Return a key as it was filled in; a question for which nothing is marked is not checked.

    Raises CampaignRefused for what is no number.
    """
    answers: dict[Place, Key] = {}
    for item in items:
        for question in plan.asked_about(item.kind):
            name = f"{item.public}-{question.key}"
            told = [part.strip() for text in posted.getlist(name) for part in _parts(question, text)]
            values = [part for part in told if part]
            if not values or question.level == "text":
                continue
            near = posted.get(f"{name}-near", "").strip()
            numbers = question.level != "nominal"
            answers[item.pk, question.id] = Key(
                tuple(_number(question, value) if numbers else value for value in values),
                _number(question, near) if near else 0.0,
            )
    return answers


def _parts(question: Asked, text: str) -> list[str]:
    return [text] if question.values else text.split(",")


def _number(question: Asked, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CampaignRefused(f"“{question.wording}” takes numbers, not “{text[:40]}”.") from None
