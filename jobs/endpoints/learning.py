"""What was found out about endpoints by asking them, kept with them."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.models import Endpoint


def remember(forms: Mapping[int, str]) -> None:
    """Keep which form of structured output endpoints take, by their ids."""
    for endpoint, form in forms.items():
        Endpoint.objects.filter(pk=endpoint).exclude(reply_form=form).update(reply_form=form)
