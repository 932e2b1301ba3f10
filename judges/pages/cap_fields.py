"""The fields of what a run may take, on the page that starts it and on its own."""

from __future__ import annotations

from typing import Any

from django import forms


def cap_fields() -> dict[str, forms.Field]:
    """Return the fields by their names; an empty one is no limit."""
    shared: dict[str, Any] = {"required": False, "min_value": 0}
    return {
        "cap_calls": forms.IntegerField(label="Most calls", max_value=2**53, **shared),
        "cap_tokens": forms.IntegerField(label="Most tokens, read and written", max_value=2**53, **shared),
        "cap_cost": forms.DecimalField(
            label="Most money",
            max_digits=14,
            decimal_places=6,
            help_text="In the endpoint's currency; the endpoint needs prices.",
            **shared,
        ),
    }


class CapsForm(forms.Form):
    """What a run may take, on its page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(cap_fields())
