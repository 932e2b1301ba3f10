"""What was found out about endpoints by asking them, kept with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from jobs.models import Endpoint


def remember(forms: Mapping[int, str], fakes: Collection[int] = ()) -> None:
    """Keep which form of structured output endpoints take, by their ids, and where a fake model answers."""
    Endpoint.objects.filter(pk__in=fakes, fake_model=False).update(fake_model=True)
    for endpoint, form in forms.items():
        Endpoint.objects.filter(pk=endpoint).exclude(reply_form=form).update(reply_form=form)
