"""The fields of what a run may take, on the page that starts it and on its own."""

from __future__ import annotations

from typing import Any

from django import forms

from jobs import runs
from jobs.errors import JobError
from jobs.models import Endpoint, Run


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


def mode_field() -> forms.ChoiceField:
    """Return the field of how a run is asked."""
    return forms.ChoiceField(
        required=False,
        choices=[("", "at once, or as the run is asked already"), *Run.Mode.choices],
        label="How it is asked",
        help_text="In batches the provider answers within a day, for a part of the price; only where the "
        "endpoint takes batches.",
    )


def check_mode(endpoint: Endpoint | None, mode: str) -> None:
    """Raise ValidationError for a mode that an endpoint does not offer."""
    try:
        runs.put_mode(Run(endpoint=endpoint), mode or Run.Mode.AT_ONCE)
    except JobError as error:
        raise forms.ValidationError(str(error)) from None


class CapsForm(forms.Form):
    """What a run may take, on its page."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields.update(cap_fields())


class AdoptForm(forms.Form):
    """Which of the provider's batches a batch is."""

    provider_id = forms.CharField(max_length=200, label="Its id at the provider, such as batch_68a1f0")

    def __init__(self, data: Any = None, *, batch: int) -> None:
        super().__init__(data, auto_id=f"batch-{batch}-%s")
        self.batch = batch
