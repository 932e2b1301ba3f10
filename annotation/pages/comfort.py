"""How a person likes to work on the annotation page: everyone signed in, for themselves."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from annotation.models import Comfort
from annotation.pages.people_forms import refused
from annotation.people import comfort
from annotation.people.errors import ComfortRefused


class ComfortForm(forms.Form):
    """The settings, and a field for the key of each command."""

    auto_advance = forms.BooleanField(
        required=False,
        label="One key submits a task that asks one thing",
        help_text="Where a task has a single question with values, the key or click that answers it submits "
        "and brings the next task. Undo brings the last one back.",
    )
    text_size = forms.ChoiceField(choices=Comfort.Size.choices, label="Size of the text")
    more_contrast = forms.BooleanField(required=False, label="More contrast")
    break_after = forms.IntegerField(
        required=False,
        min_value=comfort.SHORTEST_BREAK,
        max_value=comfort.LONGEST_BREAK,
        label="Propose a break after so many minutes of work",
        help_text="Only time of attention counts. Empty: never.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for command, (usual, does) in comfort.COMMANDS.items():
            self.fields[f"key_{command}"] = forms.CharField(
                max_length=1, label=does, help_text=f"Usually {usual}", strip=True
            )

    @property
    def keys(self) -> list[forms.BoundField]:
        """Return the fields of the keys."""
        return [self[f"key_{command}"] for command in comfort.COMMANDS]


def settings(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: their own settings of the annotation page."""
    person = request.user
    assert isinstance(person, User)
    mine = comfort.comfort_of(person)
    told = comfort.as_json(mine)
    keys = {f"key_{command}": key for command, key in told.pop("keys").items()}
    form = ComfortForm(request.POST or None, initial=told | keys)
    if request.method == "POST" and form.is_valid():
        given = dict(form.cleaned_data)
        chosen = {command: given.pop(f"key_{command}") for command in comfort.COMMANDS}
        try:
            comfort.change(by=person, **given, keys=chosen)
        except ComfortRefused as error:
            refused(form, error)
        else:
            messages.success(request, "Your settings are kept. They hold on every device.")
            return redirect("comfort")
    status = 422 if form.errors else 200
    return render(request, "accounts/comfort.html", {"form": form, "active_room": "work"}, status=status)
