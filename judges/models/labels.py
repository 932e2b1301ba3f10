"""Which label came from which call."""

from __future__ import annotations

from django.db import models


class CallLabel(models.Model):
    """Which call a label came from; a label comes from one call at most."""

    call = models.ForeignKey("jobs.Call", on_delete=models.CASCADE, related_name="made")
    label = models.OneToOneField("annotation.Label", on_delete=models.CASCADE, related_name="made_by")

    def __str__(self) -> str:
        return f"label {self.label_id} from call {self.call_id}"
